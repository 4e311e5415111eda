"""What rules are built of: typed kwargs, and the words of faults."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from genbench.verifiers.instructions.rule import (
    Count,
    Kwargs,
    Ordinal,
    Pattern,
    Trimmed,
    compared,
    equal,
    quoted,
)


@pytest.mark.parametrize(("found", "fault"), [(2, None), (3, "3 words, fewer than 3 wanted")])
def test_less_than_is_strict(found: int, fault: str | None) -> None:
    assert compared(found, "less than", 3, "words") == fault


@pytest.mark.parametrize(("found", "fault"), [(3, None), (2, "2 words, at least 3 wanted")])
def test_at_least_includes_the_bound(found: int, fault: str | None) -> None:
    assert compared(found, "at least", 3, "words") == fault


def test_an_exact_count_is_broken_on_both_sides() -> None:
    assert [equal(found, 2, "bullets") is None for found in (1, 2, 3)] == [False, True, False]


def test_a_quoted_text_is_cut_to_its_width() -> None:
    assert quoted("a" * 60) == repr("a" * 60)
    assert quoted("a" * 61) == repr("a" * 59 + "…")
    assert quoted("it's\n") == repr("it's\n")


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [(Count, 0, -1), (Ordinal, 1, 0), (Trimmed, " a ", "  "), (Pattern, "a+", "a(")],
)
def test_kwargs_have_their_ranges(kind: Any, right: object, wrong: object) -> None:
    adapter: TypeAdapter[object] = TypeAdapter(kind)
    assert adapter.validate_python(right) in (0, 1, "a", "a+")
    with pytest.raises(ValidationError):
        adapter.validate_python(wrong)


def test_a_pattern_that_does_not_compile_says_what_to_do() -> None:
    adapter: TypeAdapter[str] = TypeAdapter(Pattern)
    with pytest.raises(ValidationError, match="escape it with backslashes, or use mode 'fixed'"):
        adapter.validate_python("a(")


def test_unknown_kwargs_are_refused() -> None:
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        Kwargs.model_validate({"n": 1})
