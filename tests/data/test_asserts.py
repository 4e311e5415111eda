"""Which asserts are split into a call and a value, and that the rest is said to be left."""

from __future__ import annotations

import pytest

from genbench.data.asserts import Lifted, split
from tests.table import each_row


@each_row(
    "source, lifted",
    [
        ("assert f(1) == 2", Lifted("f(1)", "2")),
        ("assert 2 == f(1)", Lifted("f(1)", "2")),
        ("assert f([1], k={2: 3}) == (1, 'x'), 'message'", Lifted("f([1], k={2: 3})", "(1, 'x')")),
        ("assert f(1) == 2.0 / 3.0", Lifted("f(1)", repr(2 / 3))),
        ("assert f(1) == (3 + 5, 3 * 5)", Lifted("f(1)", "(8, 15)")),
        ("assert tuple(f(1)) == tuple([1, -2])", Lifted("tuple(f(1))", "(1, -2)")),
        ("assert set(f(1)) == set([1])", Lifted("set(f(1))", "{1}")),
        ("assert abs(f(1) - 0.5) < 1e-6", Lifted("f(1)", "0.5", 1e-6)),
        ("assert f(1)", Lifted("bool(f(1))", "True")),
        ("assert not f(1)", Lifted("not f(1)", "True")),
        ("assert f(1) is None", Lifted("(lambda v: (type(v).__name__, v))(f(1))", "('NoneType', None)")),
        ("assert f(1) is True", Lifted("(lambda v: (type(v).__name__, v))(f(1))", "('bool', True)")),
    ],
)
def test_an_assert_of_a_call_is_split(source: str, lifted: Lifted) -> None:
    found = split(source)
    assert found.lifted == (lifted,)
    assert found.complete


@each_row(
    "source",
    [
        "assert f(1) == g(2)",
        "assert f(1) != 2",
        "assert f(1) > 2",
        "assert f(1) == x",
        "for i in range(3):\n    assert f(i) == i",
        "x = 3\nassert f(x) == 3",
        "import math\nassert math.isclose(f(1), 2)",
        "assert f(1) == 2 == g(1)",
        "assert f(1) == 2 and g(1)",
        "assert not f(1) == 2",
        "f(1)",
    ],
)
def test_what_cannot_be_split_is_left_and_said_to_be(source: str) -> None:
    found = split(source)
    assert found.lifted == () and not found.complete


def test_asserts_that_say_nothing_are_passed_over() -> None:
    assert split("assert True, 'a remark'\nassert f(1) == 2").complete


def test_a_partly_split_source_keeps_what_could_be() -> None:
    found = split(
        "def check(c):\n    assert c(1) == 2\n    for i in range(3): assert c(i)\n", function="check"
    )
    assert (found.lifted, found.complete) == ((Lifted("c(1)", "2"),), False)


def test_a_loop_over_lists_of_inputs_and_results_is_unrolled() -> None:
    source = (
        "def assertion(out, exp, atol):\n    assert out == exp\n"
        "def check(candidate):\n"
        "    inputs = [[[1], 2], [[], 0]]\n    results = [0.5, None]\n"
        "    for i, (inp, exp) in enumerate(zip(inputs, results)):\n"
        "        assertion(candidate(*inp), exp, 0)\n"
    )
    found = split(source, function="check")
    assert found.complete
    assert found.lifted[1] == Lifted("candidate(*[[], 0])", "None")
    assert found.lifted[0].tolerance == pytest.approx(1e-6, rel=0.1)


def test_a_function_that_is_not_there_has_nothing_and_is_not_complete() -> None:
    assert split("x = 1", function="check") == split("", function="check")
    assert not split("x = 1", function="check").complete
