"""Circumstances of all attempts that drew samples, compared between two sides."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from genbench.analysis.comparison.comparability import circumstance_differences
from genbench.analysis.sides.side import Side
from genbench.store.manifest import AttemptRecord
from tests.analysis.score_sides import score_side, side_task
from tests.manifests import manifest


def drawn_with(*torch: str | None, drawn: int = 4) -> Side:
    """A run with one attempt for each version of torch. None is an attempt that drew nothing."""
    attempts = [
        AttemptRecord(
            attempt=number + 1,
            started="now",
            ended="then",
            drawn=drawn if version else 0,
            circumstances=circumstances(version or "none"),
        )
        for number, version in enumerate(torch)
    ]
    return replace(score_side(t=side_task([[1.0]])), manifest=manifest(attempts=attempts))


def circumstances(torch: str) -> dict[str, Any]:
    return {"packages": {"torch": torch}, "machine": {"host": f"host-{torch}", "gpu": "H100"}}


def lines(base: Side, tuned: Side) -> list[str]:
    return [str(item) for item in circumstance_differences(base, tuned)]


def test_equal_circumstances_on_another_host_do_not_differ() -> None:
    base, tuned = drawn_with("2.7"), drawn_with("2.7")
    assert base.manifest is not None
    assert lines(base, tuned) == []


def test_another_package_is_named_with_its_key() -> None:
    assert lines(drawn_with("2.7"), drawn_with("2.8")) == ['circumstances.packages.torch: "2.7" -> "2.8"']


def test_a_run_that_was_drawn_half_elsewhere_does_not_compare_clean() -> None:
    assert lines(drawn_with("2.7"), drawn_with("2.8", "2.7")) == [
        'circumstances.packages.torch: "2.7" -> "2.8" and "2.7"'
    ]


def test_the_same_mixture_in_both_is_named_too() -> None:
    mixed = drawn_with("2.7", "2.8")
    assert lines(mixed, mixed) == ['circumstances.packages.torch: "2.7" and "2.8" -> "2.7" and "2.8"']


def test_attempts_that_drew_nothing_do_not_count() -> None:
    assert lines(drawn_with("2.7", None), drawn_with("2.7")) == []


def test_a_run_that_drew_nothing_is_described_by_its_last_attempt() -> None:
    assert lines(drawn_with(None, None), drawn_with("none")) == []


def test_score_files_have_no_circumstances() -> None:
    assert lines(drawn_with("2.7"), score_side(t=side_task([[1.0]]))) == []
