"""When an answer is the expected one, and that a hostile answer is only ever wrong."""

from __future__ import annotations

import cmath
import json
import time
from collections import Counter, OrderedDict
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genbench.sandbox.compare import decoded, same_json, same_literal, same_text, shown
from genbench.sandbox.inside.calls import tagged
from tests.table import each_row

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
KEYS = st.integers() | st.text() | st.tuples(st.integers(), st.text()) | st.booleans()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(KEYS, inner) | st.sets(KEYS),
    max_leaves=20,
)


@each_row(
    "actual, expected, same",
    [
        ("1 2\n3", "1 2\n3\n", True),
        ("  1 2  \n 3 \n\n", "1 2\n3", True),
        ("1\r\n2\r\n", "1\n2", True),
        ("1   2", "1 2", True),
        ("a  b", "a b", False),
        ("1.0 2.50 1e3", "1 2.5 1000", True),
        ("+007", "7", True),
        ("1_000", "1000", True),
        ("inf", "Infinity", True),
        ("nan", "NaN", False),
        ("NaN", "NaN", True),
        ("sNaN", "1", False),
        ("0.1", "0.10000000000000001", False),
        ("yes", "Yes", False),
        ("1\n\n2", "1\n2", False),
        ("1 2", "1 2 3", False),
        ("", "\n", True),
        ("1e999999999999999999999", "1", False),
    ],
)
def test_printed_text(actual: str, expected: str, same: bool) -> None:
    assert same_text(actual.encode(), expected) is same


def test_bytes_that_are_no_text_are_only_wrong() -> None:
    assert not same_text(b"\xff\xfe", "1")


@pytest.mark.parametrize(
    "bomb", [b"7" * 3_000_000, b"1 " * 1_000_000, b"\n" * 8_000_000 + b"1", b"1e9" * 99999]
)
def test_a_bomb_of_digits_is_compared_in_no_time(bomb: bytes) -> None:
    began = time.process_time()
    assert not same_text(bomb, "5")
    assert time.process_time() - began < 1


@pytest.mark.slow
@given(VALUES)
def test_what_is_encoded_equals_itself_again(value: Any) -> None:
    assert same_literal(json.dumps(tagged(value)).encode(), repr(value), None)


@pytest.mark.slow
@given(VALUES, VALUES)
def test_encoded_values_are_equal_just_where_python_says_so(one: Any, other: Any) -> None:
    assert same_literal(json.dumps(tagged(one)).encode(), repr(other), None) == (one == other)


@each_row(
    "value, expected, same",
    [
        ((1, 2), "[1, 2]", True),
        ([(1, 2)], "[[1, 2]]", False),
        (True, "1", True),
        (2.0, "2", True),
        (Counter("aab"), '{"a": 2, "b": 1}', True),
        (OrderedDict(a=1), '{"a": 1}', True),
        ({1: 2}, '{"1": 2}', False),
        ({1, 2}, "[1, 2]", False),
        (10**30, str(10**30), True),
        (0.1 + 0.2, "0.3", False),
        (float("nan"), "NaN", False),
        ([float("nan")], "[NaN]", False),
        (Fraction(7), "7", True),
        (Fraction(3, 2), "1.5", True),
        (Fraction(1, 10), "0.1", False),
        (Decimal("7.00"), "7", True),
        (Decimal("1e400"), "1" + "0" * 400, True),
        (Decimal("0.1"), "0.1", False),
        (Decimal("Infinity"), "1e999", True),
        (Decimal("NaN"), "NaN", False),
        (7 + 0j, "7", True),
        (7j, "7", False),
        ([Fraction(7), Decimal(8)], "[7, 8]", True),
        (None, "null", True),
        (object(), "null", False),
        ("1", "1", False),
    ],
)
def test_called_functions_are_compared_as_json(value: Any, expected: str, same: bool) -> None:
    assert same_json(json.dumps(tagged(value)).encode(), expected) is same


@pytest.mark.slow
@given(
    st.fractions() | st.decimals(allow_nan=False, places=2) | st.complex_numbers(allow_nan=False),
    st.integers(-3, 3) | st.floats(allow_nan=False) | st.complex_numbers(max_magnitude=3),
)
def test_numbers_of_other_types_are_equal_just_where_python_says_so(one: Any, other: Any) -> None:
    for wanted in {other, one if isinstance(one, complex) else complex(float(one))}:
        if cmath.isinf(wanted):
            continue  # no literal
        value = wanted if isinstance(wanted, int | float) or wanted.imag else wanted.real
        for found, literal in ((one, value), ([one], [value]), ({one}, {value}), ({one: 1}, {value: 1})):
            same = same_literal(json.dumps(tagged(found)).encode(), repr(literal), None)
            assert same == (found == literal)


def test_views_of_a_dict_are_sets() -> None:
    assert same_literal(json.dumps(tagged({1: 2}.keys())).encode(), "{1}", None)
    assert same_literal(json.dumps(tagged({1: 2}.items())).encode(), "{(1, 2)}", None)
    assert not same_literal(json.dumps(tagged({1: 2}.values())).encode(), "[2]", None)


@each_row(
    "answer",
    [
        b'{"q": ["0x' + b"f" * 4_000_000 + b'", "0x' + b"e" * 4_000_000 + b'"]}',
        b'{"q": ["7", "0"]}',
        b'{"q": ["7"]}',
        b'{"q": [7, 1]}',
        b'{"q": {"7": "1"}}',
        b'{"c": ["9' + b"9" * 500 + b'j"]}',
        b'{"c": [1' + b"0" * 400 + b", 0]}",
        b'{"c": [1, 2, 3]}',
        b'{"c": [NaN, NaN]}',
        b'{"s": [{"q": ["' + b"f" * 3000 + b'", "1"]}, {"c": [[], 0]}]}',
    ],
)
def test_forged_numbers_are_only_wrong_and_cost_little(answer: bytes) -> None:
    began = time.process_time()
    assert not same_json(answer, "7")
    assert not same_literal(answer, "7", 1e-6)
    assert shown(answer)
    assert time.process_time() - began < 1


@each_row(
    "value, expected, same",
    [
        (0.3 + 1e-7, "0.3", True),
        (0.31, "0.3", False),
        ([1.0, 2.0], "(1, 2)", True),
        ("x", "0.3", False),
        (Fraction(3, 10), "0.3", True),
        (Fraction(10**400), "0.3", False),
        (0.3 + 1e-7j, "0.3", True),
        (0.3 + 1j, "0.3", False),
        (complex(1e308, 1e308), f"{10**400}", False),
    ],
)
def test_a_tolerance_is_for_numbers_place_by_place(value: Any, expected: str, same: bool) -> None:
    assert same_literal(json.dumps(tagged(value)).encode(), expected, 1e-6) is same


@each_row(
    "answer",
    [
        b"",
        b"{",
        b'{"t": 5}',
        b'{"t": [1], "d": []}',
        b'{"i": "zz"}',
        b'{"d": [[1]]}',
        b'{"b": "x"}',
        b"[" * 100_000,
        b"9" * 10_000,
        b'{"o": "L"}',
        b"\xff",
    ],
)
def test_a_forged_answer_equals_nothing(answer: bytes) -> None:
    assert not same_json(answer, "[]")
    assert decoded(answer) != decoded(answer)
    assert shown(answer).startswith("<")


@pytest.mark.slow
def test_keys_that_collide_cost_no_more_than_others() -> None:
    modulus = 2**61 - 1
    pairs = [[i * modulus, 0] for i in range(50_000)]
    answer = json.dumps({"d": [[{"i": hex(key)}, value] for key, value in pairs]}).encode()
    began = time.process_time()
    decoded(answer)
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("opening", "closing", "levels"),
    [
        ('{"d":[[', ",1]]}", 60),
        ('{"d":[[[', "],1]]}", 60),
        ('{"s":[', "]}", 80),
        ('{"t":[{"s":[', "]}]}", 80),
        ('{"d":[[{"t":["\\\\\\"",', "]},1]]}", 60),
        ('{"s":["\\\\\\"",', "]}", 80),
    ],
)
def test_keys_within_keys_cost_no_more_than_others(opening: str, closing: str, levels: int) -> None:
    # Written as Python does, each level doubled the backslashes of the one within.
    answer = (opening * levels + "1" + closing * levels).encode()
    began = time.process_time()
    decoded(answer)
    same_json(answer, "1")
    assert time.process_time() - began < 2


def test_long_keys_are_told_apart() -> None:
    long = "k" * 5_000
    answer = json.dumps(tagged({long + "a": 1, (long, 2): {3}})).encode()
    assert same_literal(answer, repr({long + "a": 1, (long, 2): {3}}), None)
    assert not same_literal(answer, repr({long + "b": 1, (long, 2): {3}}), None)
    assert not same_literal(answer, repr({long + "a": 1, (long, 3): {3}}), None)


def test_an_answer_in_another_encoding_is_no_value() -> None:
    assert same_json(b"9", "9")
    assert not same_json("9".encode("utf-16-le"), "9")


def test_a_subclass_is_read_by_its_base_type_whatever_it_says() -> None:
    class Liar(list[int]):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None

        def __iter__(self) -> Any:
            return iter([9])

    assert tagged(Liar([1])) == [1]
