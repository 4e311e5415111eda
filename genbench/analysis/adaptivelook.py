"""What a look of an adaptive run compares, and the record of what it saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from genbench.analysis.sides import SideTask
from genbench.stats.night import NightLook
from genbench.stats.paired import Paired, paired
from genbench.store.manifest import ConfirmationRecord, NightLookRecord, PooledLookRecord, TaskLookRecord

Scores = Mapping[str, Sequence[float | None]]
"""The scores of tuned by problem."""


def paired_at(base: SideTask, scores: Scores) -> Paired:
    """Return the difference of tuned to base over the problems of `scores`, in the order of base."""
    own = base.take([problem for problem in base.problem_ids if problem in scores])
    tuned = [list(scores[problem]) for problem in own.problem_ids]
    return paired([list(row) for row in own.scores], tuned, metric="avg@k", groups=own.groups)


def night_record(look: NightLook, samples: Mapping[str, int]) -> NightLookRecord:
    """Return the record of a look.

    Args:
        samples: the samples of each task at this look.
    """
    return NightLookRecord(
        number=look.number,
        tasks={
            name: TaskLookRecord(samples=samples[name], **asdict(found)) for name, found in look.tasks.items()
        },
        pooled=None if look.pooled is None else PooledLookRecord(**asdict(look.pooled)),
        draws=look.draws,
        verdict=look.verdict,
    )


def confirmation(base: SideTask, scores: Scores) -> ConfirmationRecord:
    """Return the test of a drop in fresh samples only."""
    found = paired_at(base, scores)
    return ConfirmationRecord(
        samples=sum(map(len, scores.values())),
        difference=found.difference,
        p=1.0 if found.p_regression is None else found.p_regression,
    )


def look_words(look: NightLookRecord) -> list[str]:
    """Return a look in one or two lines: what was decided, and who draws on."""
    decided = [f"{name} {task.decision}" for name, task in look.tasks.items() if task.decision]
    lines = [f"look {look.number}: {', '.join(decided) or 'no task is decided'}"]
    if look.draws:
        lines[0] += f"; draws on: {', '.join(look.draws)}"
    if look.verdict is not None:
        lines.append(f"the suite is {look.verdict} after {look.number} look{'s' if look.number > 1 else ''}")
    return lines
