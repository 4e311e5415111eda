"""What `genbench compare --judges` prints: one task a block, scores of the same texts by two judges."""

from __future__ import annotations

from collections.abc import Iterator

from genbench.analysis.comparison.judge_change import JudgeChange, JudgeChanges
from genbench.reports.numbers import interval, points, signed
from genbench.safetext.printable import printable


def judge_changes_text(record: JudgeChanges) -> str:
    """Return both scores of each task, their difference, and how far the judges agree."""
    lines = ["two judges on the same texts of one model; this says nothing about models"]
    for name, task in record.tasks.items():
        lines += _task(name, task, same=name in record.same)
    return printable("\n".join(lines))


def _task(name: str, task: JudgeChange, *, same: bool) -> Iterator[str]:
    who = "the same judge in both, so this is its own noise" if same else ""
    yield f"{name}: {task.samples} texts of {task.n} problems" + (f" ({who})" if who else "")
    for place, judge, score in (
        ("first ", task.first, task.score_first),
        ("second", task.second, task.score_second),
    ):
        yield f"  {place} {points(score):>6}  {judge.name} {judge.digest}, {judge.model}"
    if task.missing is not None:
        yield f"  no difference: {task.missing}"
        return
    moved = f"{task.higher} texts higher, {task.lower} lower"
    yield f"  change {signed(task.difference):>6}  {interval(task.ci)}; {moved}"
    kappa = "not defined"
    if task.kappa is not None:
        low, high = task.kappa_ci or (task.kappa, task.kappa)
        kappa = f"{task.kappa:.2f} [{low:.2f}, {high:.2f}]"
    yield f"  agree  {points(task.agreement):>6}  % of texts have the same score; kappa {kappa}"
    if any(task.unscored):
        yield f"  unscored by the first {task.unscored[0]}, by the second {task.unscored[1]}; left out"
