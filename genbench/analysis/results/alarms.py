"""What needs attention in the results of a run, ranked by how much it can change a conclusion."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from genbench.analysis.results.record import Results, TaskResults
from genbench.store.degenerate import UNANSWERED
from genbench.types import OURS, Status

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
_LABELS: tuple[Status, ...] = ("correct", "wrong", "partial")
_LOST: tuple[Status, ...] = ("no_answer", "format_error", "no_code")
_READ: tuple[Status, ...] = ("correct", "partial", "wrong")

_BELOW_CHANCE = (
    "the score {0:.1%} is below blind guessing ({1:.1%}), and {2:.1%} of the {3:.0%} of samples whose answer "
    "was read are right: {4}"
)
_LACKING = "the samples without an answer cost the score"
_WORSE_THAN_GUESSES = (
    "answers or options are read wrongly, or the model picks what is wrong; look at some with "
    "`genbench show RUN TASK`"
)
_JUDGE = (
    "the judge hardly agrees with people: kappa {0:.2f} on {1} calibration labels; look at its mistakes with "
    "`genbench judge check`"
)
_SAME_LABEL = (
    "the judge called each of the {0:,} answers that it graded {1}: give it answers that are known to be "
    "right and wrong, with `genbench judge check`"
)
_UNTRIED = (
    "nothing tells how far the judge agrees with people: it has no calibration set; write answers with "
    "labels (`calibration:` of the judge file), and run `genbench judge check`"
)
_OWN_JUDGE = "the judge is the model under test: it grades its own answers; name another judge"
_LOST_TEXT = "nothing was extracted from {0:.0%} of the samples; look at some with `genbench show RUN TASK`"
_MALFORMED = (
    "{0:.0%} of the answers do not have the form that the task asks for (format error), which is what it "
    "measures; look at some with `genbench show RUN TASK --status format_error`"
)
_INSTEAD = (
    "no function call was read in {0:.0%} of the samples: {1:,} of {2:,} are {3}; look at some with "
    "`genbench show RUN TASK`, and with `genbench prompts` at what the prompt asks for"
)
_CUT = (
    "{0:.0%} of the samples were cut off by max_tokens or a content filter{1}; raise max_tokens, or read the "
    "score so"
)
_SOME_LOOP = ", {0:.0%} of them in a loop, which more tokens do not end"
_OPEN: Mapping[str, str] = {
    "stop": "{0:.0%} of the replies end within their trace, and none was cut off: a stop text ({1}) is in "
    "the trace and ends the reply there; take it out of decoding.stop",
    "parser": "{0:.0%} of the replies are reasoning without content, and none was cut off: the server's "
    "reasoning parser takes the whole reply for the trace; start the server with the parser of this model, "
    "or without one",
    "model": "{0:.0%} of the replies end within their trace, and none was cut off: the model ends its turn "
    "there, or writes other tags than `reasoning` says; look at some with "
    "`genbench show RUN TASK --status unclosed_trace`",
}
_LOOPS = (
    "{0:.0%} of the samples repeat themselves until they are cut off ({1:.0%} of those that are cut off; the "
    "unit has {2:.0f} characters): a larger max_tokens only repeats more; look at chat template, end tokens "
    "and temperature, and set stop_on_loop: true to save the tokens"
)
_EMPTY = (
    "{0:.0%} of the replies are empty: the model ends its turn at once; look at its prompts with "
    "`genbench prompts SUITE`"
)
_EXCLUDED = "{0:,} of {1:,} samples are excluded{2}"
_REFUSED = "{0:,} of {1:,} samples have no answer, since {2}{3}"
_REFUSERS = {"content_filter": "a content filter", "context": "the context"}
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
        for alarm in _of_task(model, name, task, is_failed=any(map(_says_why(name), result.failed)))
    ]
    found += _changed_formats(results)
    found += [
        Alarm(3, model, None, _FAILED, (line,)) for model, result in results.items() for line in result.failed
    ]
    return sorted(found, key=lambda alarm: -alarm.weight)


def _says_why(task: str) -> Callable[[str], bool]:
    """Return whether a line of a failed run says why samples of a task were excluded."""
    return lambda line: line.startswith(f"{task}: ") and " are excluded, " in line


def lost_share(task: TaskResults) -> float:
    """Return the share of samples that ended and in which no answer was found."""
    return sum(task.status_counts.get(status, 0) for status in _LOST) / task.samples if task.samples else 0.0


def _of_task(model: str, name: str, task: TaskResults, *, is_failed: bool) -> Iterator[Alarm]:
    """Yield what needs attention in one task.

    Args:
        is_failed: whether the run failed by it, which says what was excluded, and why.
    """
    if task.value is not None and task.ci is not None and task.chance and task.ci[1] < task.chance:
        yield _below_chance(model, name, task, task.value, task.chance)
    yield from _of_judge(model, name, task)
    lost = lost_share(task)
    if lost > LOST_SHARE:
        yield _of_lost(model, name, task, lost)
    yield from _of_endings(model, name, task)
    opened = task.open_traces
    if opened is not None and opened.samples > CUT_SHARE * task.samples:
        share = opened.samples / task.samples
        yield Alarm(1 + share, model, name, _OPEN[opened.cause], (share, ", ".join(map(repr, opened.stop))))
    refused = sum((task.refused or {}).values())
    excluded = 0 if is_failed else task.excluded - (task.unanswered or 0)
    if excluded and task.samples:
        why = reason_words(task, OURS) or " (defects of ours)"
        yield Alarm(excluded / task.samples, model, name, _EXCLUDED, (excluded, task.samples, why))
    if refused:
        values = (refused, task.samples, _refusal_words(task), reason_words(task, UNANSWERED))
        yield Alarm(refused / task.samples, model, name, _REFUSED, values)


def _below_chance(model: str, name: str, task: TaskResults, value: float, chance: float) -> Alarm:
    """Return the alarm about a score below guessing, which looks at how many answers were read first."""
    scored = task.samples - task.excluded
    read = sum(task.status_counts.get(status, 0) for status in _READ) / scored if scored else 0.0
    of_read = min(1.0, value / read) if read else 0.0
    why = _LACKING if not read or of_read >= chance else _WORSE_THAN_GUESSES
    return Alarm(2, model, name, _BELOW_CHANCE, (value, chance, of_read, read, why))


def _refusal_words(task: TaskResults) -> str:
    """Return what stopped the answers of the refused samples, and what they count as."""
    who = " and ".join(f"{_REFUSERS.get(kind, kind)} {count}" for kind, count in (task.refused or {}).items())
    rule = "they are wrong; `refused: excluded` leaves them out" if task.unanswered is None else "left out"
    return f"the server refused them ({who}; {rule})"


def reason_words(task: TaskResults, statuses: Collection[Status]) -> str:
    """Return the most frequent reasons of samples with one of the statuses, and the first of each."""
    return "".join(
        f"; {found.samples:,} {found.status}: {found.why} (first: {found.first[0]}, sample {found.first[1]})"
        for found in task.reasons or ()
        if found.status in statuses
    )


def _of_lost(model: str, name: str, task: TaskResults, lost: float) -> Alarm:
    """Return the alarm about answers that were not found, with what most replies are instead, if known.

    Answers of a wrong form are a finding, and no sign that a verifier reads wrongly.
    """
    if not task.replies and 2 * task.status_counts.get("format_error", 0) > lost * task.samples:
        return Alarm(min(lost, 0.99), model, name, _MALFORMED, (lost,))
    if not task.replies:
        return Alarm(1 + lost, model, name, _LOST_TEXT, (lost,))
    most, count = max(task.replies.items(), key=lambda item: item[1])
    return Alarm(1 + lost, model, name, _INSTEAD, (lost, count, sum(task.replies.values()), most))


def _of_endings(model: str, name: str, task: TaskResults) -> Iterator[Alarm]:
    """Yield alarms about replies that did not end, or were empty. Loops are not mended by more tokens."""
    refused = sum((task.refused or {}).values())
    cut = (task.truncated_share or 0.0) - (refused / task.samples if refused else 0.0)
    found = task.stopping
    loops = 0.0 if found is None else found.share("loops")
    if found is not None and loops > CUT_SHARE and 2 * found.loops >= found.cut_off:
        values = (loops, found.loops / found.cut_off, float(found.period or 0))
        yield Alarm(cut, model, name, _LOOPS, values)
    elif cut > CUT_SHARE:
        some = "" if found is None or not found.loops else _SOME_LOOP.format(found.loops / found.cut_off)
        yield Alarm(cut, model, name, _CUT, (cut, some))
    if found is not None and found.share("empty") > CUT_SHARE:
        yield Alarm(found.share("empty"), model, name, _EMPTY, (found.share("empty"),))


def _of_judge(model: str, name: str, task: TaskResults) -> Iterator[Alarm]:
    """Yield alarms about a task's judge: it grades itself, says one thing, or hardly agrees with people."""
    if task.judge is None:
        return
    if task.judge.bias is not None and task.judge.bias.is_judged_model:
        yield Alarm(1.5, model, name, _OWN_JUDGE, ())
    counts = {status: task.status_counts.get(status, 0) for status in _LABELS}
    said = [status for status, count in counts.items() if count]
    if len(said) == 1 and said[0] != "partial" and counts[said[0]] >= _FEW_LABELS:
        yield Alarm(0.9, model, name, _SAME_LABEL, (counts[said[0]], said[0]))
    canary = task.judge.canary
    if canary is None and not task.judge.reads and any(counts.values()):
        yield Alarm(0.5, model, name, _UNTRIED, ())
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
