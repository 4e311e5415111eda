"""Sums of each problem from a table of verdicts."""

from __future__ import annotations

from pathlib import Path

from genbench.analysis.results.build import problem_sums
from genbench.analysis.results.table import VerdictTable
from genbench.store.folder import RunFolder
from genbench.store.stored_run import StoredTask
from genbench.store.sums import TaskSums
from genbench.types import Problem, SampleId, Status, Verdict
from tests.store.stored import problem_line

IDS = ("a", "b", "c")


def sums(tmp_path: Path, scores: dict[tuple[str, int], float | None], group: str | None = None) -> TaskSums:
    problems = [Problem("t", name, {}, group=group) for name in IDS]
    table = VerdictTable(problems, 2)
    for (name, index), score in scores.items():
        status: Status = "verifier_error" if score is None else "correct" if score == 1 else "partial"
        table.add(Verdict(SampleId("t", name, index), score, status, None, {}, {}, "v", "absent", False))
    with RunFolder.writer(tmp_path / "run") as folder:
        folder.write_problems("t", [problem_line(name) for name in IDS])
    return problem_sums(table, StoredTask(RunFolder(tmp_path / "run"), "t", list(IDS), 2, 16))


def test_excluded_samples_do_not_count(tmp_path: Path) -> None:
    found = sums(tmp_path, {("a", 0): 1.0, ("a", 1): 1.0, ("b", 0): 1.0, ("b", 1): None})
    assert found.sums == (2.0, 1.0, 0.0) and found.counts == (2, 1, 0)
    assert found.squares is None and found.groups is None


def test_fractions_have_squares(tmp_path: Path) -> None:
    assert sums(tmp_path, {("a", 0): 0.5, ("a", 1): 1.0}).squares == (1.25, 0.0, 0.0)


def test_clusters_are_kept(tmp_path: Path) -> None:
    assert sums(tmp_path, {("a", 0): 1.0}, group="g").groups == ("g", "g", "g")
