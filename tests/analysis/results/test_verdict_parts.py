"""Means of further measures of a verifier."""

from __future__ import annotations

import pytest

from genbench.analysis.results.build import measure_records, part_records
from genbench.analysis.results.table import VerdictTable
from genbench.types import Problem, SampleId, Status, Verdict


def verdict(problem: str, index: int, cells: float | None, status: Status = "wrong") -> Verdict:
    score = None if status == "unscored" else float(cells == 1.0)
    parts = {} if cells is None else {"cells": cells}
    sample = SampleId("t", problem, index)
    return Verdict(sample, score, status, None, {}, parts, "v", "absent", truncated=False)


def table(
    verdicts: list[Verdict], problems: int = 3, k: int = 2, groups: list[str] | None = None
) -> VerdictTable:
    made = [Problem("t", f"p{n}", {}, group=None if groups is None else groups[n]) for n in range(problems)]
    found = VerdictTable(made, k)
    for item in verdicts:
        assert found.add(item)
    return found


CELLS = [(0, 0, 1.0), (0, 1, 0.5), (1, 0, 0.0), (1, 1, 0.2), (2, 0, 1.0), (2, 1, 1.0)]


def test_the_mean_is_over_problems_and_has_an_interval() -> None:
    found = measure_records(table([verdict(f"p{p}", i, value) for p, i, value in CELLS]), seed=1)
    assert found["cells"].value == pytest.approx((0.75 + 0.1 + 1.0) / 3)
    assert found["cells"].ci is not None
    low, high = found["cells"].ci
    assert 0 <= low < (0.75 + 0.1 + 1.0) / 3 < high <= 1


def test_a_scored_sample_without_parts_counts_as_nothing_and_an_excluded_one_not_at_all() -> None:
    rows = [verdict(f"p{p}", i, value) for p, i, value in CELLS[:4]]
    unclosed = table([*rows, verdict("p2", 0, 1.0), verdict("p2", 1, None, "unclosed_trace")])
    assert measure_records(unclosed, seed=1)["cells"].value == pytest.approx((0.75 + 0.1 + 0.5) / 3)
    excluded = table([*rows, verdict("p2", 0, 1.0), verdict("p2", 1, None, "unscored")])
    assert measure_records(excluded, seed=1)["cells"].value == pytest.approx((0.75 + 0.1 + 1.0) / 3)


def test_clusters_are_resampled_as_a_whole() -> None:
    rows = [verdict(f"p{p}", i, value) for p, i, value in CELLS]
    one = measure_records(table(rows, groups=["g", "g", "g"]), seed=1)["cells"]
    assert one.ci == (0.0, 1.0)


def test_there_are_none_without_parts_while_samples_lack_or_if_parts_are_single_items() -> None:
    assert measure_records(table([verdict(f"p{p}", i, None) for p, i, _ in CELLS]), seed=1) == {}
    assert measure_records(table([verdict("p0", 0, 1.0)]), seed=1) == {}
    many = {f"item {number}": 1.0 for number in range(9)}
    rows = [
        Verdict(SampleId("t", f"p{p}", i), 1.0, "correct", None, {}, many, "v", "absent", truncated=False)
        for p, i, _ in CELLS
    ]
    assert measure_records(table(rows), seed=1) == {}


def test_the_parts_of_a_judge_are_no_measures_and_those_of_instructions_have_their_own_table() -> None:
    cells = table([verdict(f"p{p}", i, value) for p, i, value in CELLS])
    assert set(part_records(cells, 1, "grid 1", judged=False)) == {"parts"}
    assert part_records(cells, 1, "judge x", judged=True) == {}
    parts = {"strict/0/0/punctuation:no_comma": 1.0, "loose/0/0/punctuation:no_comma": 1.0}
    rows = [
        Verdict(SampleId("t", f"p{p}", i), 1.0, "correct", None, {}, parts, "v", "absent", truncated=False)
        for p, i, _ in CELLS
    ]
    assert set(part_records(table(rows), 1, "ifeval (official)", judged=False)) == {"instructions"}
