"""Samples that passed tests which a hostile program could fake: counted, and shown in table and report."""

from __future__ import annotations

from genbench.analysis.results.table import VerdictTable
from genbench.reports.warnings import forgeable_warning
from genbench.types import Problem, SampleId, Verdict


def verdict(index: int, score: float | None, **detail: object) -> Verdict:
    return Verdict(
        sample=SampleId("t", "p", index),
        score=score,
        status="correct" if score else "wrong",
        extracted=None,
        detail=detail,
        parts={},
        verifier="v",
        trace_status="absent",
        truncated=False,
    )


def test_only_passed_samples_with_such_tests_are_counted() -> None:
    table = VerdictTable([Problem("t", "p", {})], k=5)
    cases: list[tuple[float, dict[str, object]]] = [
        (1.0, {"forgeable": True}),
        (0.0, {"forgeable": True}),
        (1.0, {}),
        (1.0, {"forgeable": "yes"}),
    ]
    for index, (score, detail) in enumerate(cases):
        assert table.add(verdict(index, score, **detail))
    assert table.forgeable == 1


def test_second_verdict_of_a_sample_is_not_counted_again() -> None:
    table = VerdictTable([Problem("t", "p", {})], k=1)
    assert table.add(verdict(0, 1.0, forgeable=True)) and not table.add(verdict(0, 1.0, forgeable=True))
    assert table.forgeable == 1


def test_notice_says_how_many() -> None:
    assert forgeable_warning(3).startswith("3 samples passed tests that a hostile program could fake")
