"""Why a series moved: its scores before and after a change, and the status that moved most of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from genbench.analysis.results.record import Results, read_results
from genbench.errors import GenbenchError
from genbench.json_record import Count, JsonRecord, Share
from genbench.stats.comparison.causes import status_words
from genbench.store.folder import RunFolder
from genbench.types import OURS, Status

if TYPE_CHECKING:  # a page without a ledger needs no SQLAlchemy
    from genbench.nights.ledger.history import Night, TrackHistory

RUNS = 5
"""So many runs on each side of a change are read."""
_LEAST = 5e-4
"""Parts below 0.05 points would be printed as 0.0."""


class ChangeCause(JsonRecord):
    """The scores on both sides of a change, and what moved most of it. Shares are of the scored samples."""

    tasks: tuple[str, ...] = Field(description="the tasks, of which everything here is the mean")
    before: float = Field(description="mean score of the runs before the change")
    after: float = Field(description="mean score of the runs from the change on")
    runs_before: Count = Field(description="runs before the change that were read, at most 5")
    runs_after: Count = Field(description="runs from the change on that were read, at most 5")
    status: Status | None = Field(description="the status that moved most; null if none explains a part")
    part: float = Field(description="what the score gained by it, a fraction of 1; negative for a loss")
    share_before: Share = Field(description="share of the samples with this status before")
    share_after: Share = Field(description="the same after")

    @property
    def words(self) -> str:
        """`98.0 -> 78.1 (5 runs before, 2 after); 18.3 points of it from more format errors (…)`."""
        runs = f"{self.runs_before} run{'' if self.runs_before == 1 else 's'} before, {self.runs_after} after"
        text = f"{100 * self.before:.1f} -> {100 * self.after:.1f} ({runs})"
        if self.status is None:
            return text
        return (
            f"{text}; {100 * abs(self.part):.1f} points of it from {status_words(self.status, self.part)} "
            f"({100 * self.share_before:.1f} -> {100 * self.share_after:.1f} % of the samples)"
        )


def change_cause(history: TrackHistory, task: str | None, first_uid: str, size: float) -> ChangeCause | None:
    """Return why a series moved at a run, None if the folders of the runs on one side are not there.

    Args:
        history: with the series of its tasks.
        task: None means all gating tasks together.
        first_uid: the first run after the change.
        size: of the change. Its sign says in which direction a status must have moved the score.
    """
    uids = [night.uid for night in history.points]
    named = [name for name, own in history.series.items() if (own.gating if task is None else name == task)]
    if first_uid not in uids or not named:
        return None
    at = uids.index(first_uid)
    scored = set.intersection(*(set(history.series[name].uids) for name in named))
    sides = [
        _read([night for night in nights if night.uid in scored])
        for nights in (history.points[max(0, at - RUNS) : at], history.points[at : at + RUNS])
    ]
    tasks = [name for name in named if all(name in run.tasks for side in sides for _, run in side)]
    if not tasks or not all(sides):
        return None
    scores = [_score(history, tasks, [uid for uid, _ in side]) for side in sides]
    if np.isnan(scores).any():
        return None
    before, after = (_shares([run for _, run in side], tasks) for side in sides)
    parts = {status: before[status] - after[status] for status in (before | after)}
    same = {status: part for status, part in parts.items() if part * size > 0 and abs(part) >= _LEAST}
    lead = max(same, key=lambda status: abs(same[status]), default=None)
    return ChangeCause(
        tasks=tuple(tasks),
        before=scores[0],
        after=scores[1],
        runs_before=len(sides[0]),
        runs_after=len(sides[1]),
        status=lead,
        part=0.0 if lead is None else parts[lead],
        share_before=0.0 if lead is None else before[lead],
        share_after=0.0 if lead is None else after[lead],
    )


def _read(nights: Sequence[Night]) -> list[tuple[str, Results]]:
    """Return the results of the runs whose folders are there and whole, with their uids."""
    return [(night.uid, results) for night in nights for results in _results(night)]


def _results(night: Night) -> Iterator[Results]:
    if night.path is None or not Path(night.path).is_dir():
        return
    try:
        found = read_results(RunFolder(Path(night.path)))
    except GenbenchError:  # what is wrong with a folder is said by `genbench ledger check`
        return
    if found is not None:
        yield found


def _score(history: TrackHistory, tasks: Sequence[str], uids: Sequence[str]) -> float:
    """Return the mean score of some runs over tasks, NaN if one is not known."""
    own = [history.series[name] for name in tasks]
    return float(np.mean([np.mean(series.value[np.isin(series.uids, uids)]) for series in own]))


def _shares(runs: Sequence[Results], tasks: Sequence[str]) -> Counter[Status]:
    """Return the share of the scored samples with each status that costs the score, the mean over tasks."""
    found: Counter[Status] = Counter()
    for name in tasks:
        counts: Counter[Status] = Counter()
        for run in runs:
            counts.update(run.tasks[name].status_counts)
        scored = sum(count for status, count in counts.items() if status not in OURS)
        for status, count in counts.items():
            if status not in OURS and status not in {"correct", "partial"} and scored:
                found[status] += count / scored / len(tasks)  # type: ignore[assignment]
    return found
