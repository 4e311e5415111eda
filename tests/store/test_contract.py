"""Digests of terms, and the lines that say what differs between two runs."""

from __future__ import annotations

import hashlib

import pytest

from genbench.store.contract import differences, digest


def test_the_digest_does_not_depend_on_the_order_of_keys() -> None:
    assert digest({"a": 1, "b": [2, 3]}) == digest({"b": [2, 3], "a": 1})


def test_the_digest_is_the_sha256_of_compact_json() -> None:
    assert digest({"b": 1, "a": "é"}) == hashlib.sha256(b'{"a":"\\u00e9","b":1}').hexdigest()


@pytest.mark.parametrize(("left", "right"), [(0.6, 0.60001), ([1, 2], [2, 1]), (None, 0), ("1", 1), (1, [1])])
def test_different_values_have_different_digests(left: object, right: object) -> None:
    assert digest({"x": left}) != digest({"x": right})


def test_a_value_that_is_no_number_has_no_digest() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        digest({"x": float("nan")})


def test_equal_records_have_no_difference() -> None:
    assert differences({"a": {"b": [1]}}, {"a": {"b": [1]}}) == []


def test_a_difference_is_named_by_its_dotted_key() -> None:
    left = {"decoding": {"temperature": 0.6, "top_p": 0.95}}
    right = {"decoding": {"temperature": 0.7, "top_p": 0.95}}
    assert differences(left, right) == ["decoding.temperature: 0.6 -> 0.7"]
    assert differences(left, right, "terms") == ["terms.decoding.temperature: 0.6 -> 0.7"]


def test_a_key_of_one_side_only_is_absent_on_the_other() -> None:
    assert differences({}, {"k": 1}) == ['k: "(absent)" -> 1']


def test_a_record_against_a_value_is_one_difference() -> None:
    assert differences({"engine": {"name": "x"}}, {"engine": None}) == ['engine: {"name": "x"} -> null']


def test_a_long_value_is_cut() -> None:
    (line,) = differences({"template": "x" * 500}, {"template": "y"})
    assert len(line) < 160 and "..." in line
