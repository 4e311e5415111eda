"""What needs attention in the results of a run, ranked by how much it can change a conclusion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from genbench.analysis.results.record import Results, TaskResults
from genbench.types import Status

LOST_SHARE = 0.2
"""Share of samples without an extracted answer above which the prompt or the verifier is doubtful."""
CUT_SHARE = 0.1
"""Share of samples that were cut off above which the limit decides the score."""
CHANGED_SHARE = 0.2
"""Difference of the lost shares of two models above which their answer formats differ."""
LOW_KAPPA = 0.2
"""Agreement with calibration labels, beyond chance, below which a judge's verdicts say little."""
_FEW_LABELS = 20
"""With fewer labels than this, one verdict moves kappa by tenths. Then the share must be low as well."""
_MOST_AGREE = 0.75
_LOST: tuple[Status, ...] = ("no_answer", "format_error", "no_code")

_BELOW_CHANCE = (
    "the score {0:.1%} is below blind guessing ({1:.1%}): the answers are read wrongly, or the options are"
)
_JUDGE = (
    "the judge hardly agrees with people: kappa {0:.2f} on {1} calibration labels; look at its mistakes with "
    "`genbench judge check`"
)
_LOST_TEXT = "nothing was extracted from {0:.0%} of the samples; look at some with show"
_CUT = (
    "{0:.0%} of the samples were cut off by max_tokens or a content filter; raise max_tokens, or read the "
    "score so"
)
_EXCLUDED = "{0:,} of {1:,} samples are excluded (defects of ours)"
_CHANGED = (
    "the answer format changed: nothing is extracted from {0:.0%} of the samples, and from {1:.0%} of those "
    "of {2}"
)
_FAILED = "FAILED: {0}"


@dataclass(frozen=True, slots=True)
class Alarm:
    """One thing that needs attention.

    `weight` is about the share of the score that it can explain, from 0 to 1, and above 1 if the score must
    not be used. `task` is None if it is about the whole run. `form` is the text with places for `values`.
    """

    weight: float
    model: str
    task: str | None
    form: str
    values: tuple[float | str, ...]

    @property
    def where(self) -> str:
        """Model and task."""
        return self.model if self.task is None else f"{self.model}/{self.task}"

    @property
    def text(self) -> str:
        """What needs attention."""
        return self.form.format(*self.values)

    def __str__(self) -> str:
        return f"{self.where}: {self.text}"


def alarms(results: Mapping[str, Results]) -> list[Alarm]:
    """Return what needs attention in the results of each model, the worst first."""
    found = [
        alarm
        for model, result in results.items()
        for name, task in result.tasks.items()
        for alarm in _of_task(model, name, task)
    ]
    found += _changed_formats(results)
    found += [
        Alarm(3, model, None, _FAILED, (line,)) for model, result in results.items() for line in result.failed
    ]
    return sorted(found, key=lambda alarm: -alarm.weight)


def lost_share(task: TaskResults) -> float:
    """Return the share of samples that ended and in which no answer was found."""
    return sum(task.status_counts.get(status, 0) for status in _LOST) / task.samples if task.samples else 0.0


def _of_task(model: str, name: str, task: TaskResults) -> Iterator[Alarm]:
    if task.value is not None and task.ci is not None and task.chance and task.ci[1] < task.chance:
        yield Alarm(2, model, name, _BELOW_CHANCE, (task.value, task.chance))
    yield from _of_judge(model, name, task)
    lost = lost_share(task)
    if lost > LOST_SHARE:
        yield Alarm(1 + lost, model, name, _LOST_TEXT, (lost,))
    cut = task.truncated_share or 0.0
    if cut > CUT_SHARE:
        yield Alarm(cut, model, name, _CUT, (cut,))
    excluded = task.excluded - (task.unanswered or 0)
    if excluded and task.samples:
        yield Alarm(excluded / task.samples, model, name, _EXCLUDED, (excluded, task.samples))


def _of_judge(model: str, name: str, task: TaskResults) -> Iterator[Alarm]:
    """Yield an alarm if the task's judge hardly agrees with the labels that people gave."""
    canary = task.judge.canary if task.judge else None
    if canary is None or canary.kappa is None or canary.kappa >= LOW_KAPPA or not canary.verdicts:
        return
    if canary.verdicts < _FEW_LABELS and (canary.accuracy or 0.0) >= _MOST_AGREE:
        return
    yield Alarm(2 - max(canary.kappa, 0.0), model, name, _JUDGE, (canary.kappa, canary.verdicts))


def _changed_formats(results: Mapping[str, Results]) -> Iterator[Alarm]:
    """Yield the tasks in which a model's answers are found much more or less often than the first model's."""
    models = list(results.items())
    for model, result in models[1:]:
        base, first = models[0]
        for name in [name for name in result.tasks if name in first.tasks]:
            before, after = lost_share(first.tasks[name]), lost_share(result.tasks[name])
            if abs(after - before) > CHANGED_SHARE:
                yield Alarm(1 + abs(after - before), model, name, _CHANGED, (after, before, base))


@dataclass(frozen=True, slots=True)
class JoinedAlarm:
    """One kind of alarm of a task, or of several tasks of a group. `parts` are its alarms, the worst first.

    `of` is the number of tasks of the group, or None if there is one alarm.
    """

    where: str
    parts: tuple[Alarm, ...]
    of: int | None = None

    @property
    def weight(self) -> float:
        """The weight of the worst part."""
        return self.parts[0].weight

    @property
    def text(self) -> str:
        """What needs attention, with the lowest and the highest value of the tasks."""
        if self.of is None:
            return self.parts[0].text
        values = zip(*(part.values for part in self.parts), strict=True)
        said = self.parts[0].form.format(*(_Span(column) for column in values))
        return f"{len(self.parts)} of {self.of} tasks, the worst {self.parts[0].task}: {said}"

    def __str__(self) -> str:
        return f"{self.where}: {self.text}"


class _Span:
    """The lowest and the highest of some values. It is formatted as one value if both look the same."""

    def __init__(self, values: Sequence[float | str]) -> None:
        numbers = [value for value in values if not isinstance(value, str)]
        self._ends = (min(numbers), max(numbers)) if numbers else (values[0], values[0])

    def __format__(self, spec: str) -> str:
        low, high = (format(end, spec) for end in self._ends)
        return low if low == high else f"{low} to {high}"


def joined_alarms(results: Mapping[str, Results]) -> list[JoinedAlarm]:
    """Return what needs attention, the worst first. Alarms of one kind in a group of tasks are joined."""
    found: dict[tuple[object, ...], list[Alarm]] = {}
    grouped = {
        (model, task): name
        for model, result in results.items()
        for name, group in result.groups.items()
        for task in group.tasks
    }
    for number, alarm in enumerate(alarms(results)):
        group = grouped.get((alarm.model, alarm.task or ""))
        key = (number,) if group is None else (alarm.model, group, alarm.form)
        found.setdefault(key, []).append(alarm)
    return [
        JoinedAlarm(
            f"{parts[0].model}/{key[1]}", tuple(parts), len(results[parts[0].model].groups[str(key[1])].tasks)
        )
        if len(parts) > 1
        else JoinedAlarm(parts[0].where, tuple(parts))
        for key, parts in found.items()
    ]
