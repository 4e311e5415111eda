"""Asserts that a hostile program could fake are told from those that are compared outside."""

from __future__ import annotations

import pytest

from genbench.sandbox.programs import Check
from genbench.verifiers.code import is_forgeable, read_tests
from tests.table import each_row


@each_row(
    "tests, forgeable",
    [
        (["assert is_ok(1)"], True),
        (["assert not is_ok(1)"], True),
        (["assert f(1) == 2", "assert is_ok(1)"], True),
        (["assert f(1) == 2 and f(2) == 3"], True),
        (["x = 1\nassert f(x) == 2"], True),
        (["assert (f(2) == 4) == True"], True),
        (["assert isinstance(f(2), int) == True"], True),
        (["assert all([f(2) == 4]) == True"], True),
        (["assert math.isclose(f(2), 4.0) == True"], True),
        (["assert (1 if f(2) == 4 else 0) == 1"], True),
        (["assert [f(1) == 1, f(2) == 4] == [True, True]"], True),
        (["assert sum(f(i) == i * i for i in range(3)) == 3"], True),
        (["assert (not f(3)) == False"], True),
        (["assert f(1) == 2"], False),
        (["assert Solution().is_ok(1) == True"], False),
        (["assert f(1 if True else 2) == False"], False),
        (["assert sorted(f(3), key=lambda v: v > 1) == [1, 2]"], False),
        (["assert len(f(3)) == 3", "assert set(f(3)) == {1, 2}"], False),
        (["assert f(1) == True"], False),
        (["assert abs(f(1) - 2.5) < 1e-6"], False),
    ],
)
def test_tests_whose_value_a_program_knows_are_forgeable(tests: list[str], forgeable: bool) -> None:
    assert is_forgeable("assert", tuple(read_tests(tests))) is forgeable


@pytest.mark.parametrize(
    "text", ["f(", "f(\0)", "f(" + "(" * 500 + ")" * 500 + ")", "f(1)" + " + f(1)" * 3_000]
)
def test_what_cannot_be_parsed_is_not_forgeable(text: str) -> None:
    assert not is_forgeable("assert", (Check(text, "True"),))


def test_only_asserts_are_forgeable() -> None:
    assert not is_forgeable("stdio", (Check("1", "True"),))
    assert not is_forgeable("functional", (Check("1", "true"),))
