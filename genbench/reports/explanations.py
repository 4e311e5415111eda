"""Sentences that explain results: the headline of a report, and what changed in each compared task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import fsum

from genbench.analysis.comparison.compare import Comparison
from genbench.analysis.comparison.compared_task import ComparedTask
from genbench.analysis.comparison.decisions import NONE_DECLARED
from genbench.analysis.side_by_side import ChangedTexts
from genbench.reports.figures import measure_change
from genbench.reports.numbers import interval, points, signed
from genbench.reports.record import Report, ReportedComparison, ReportedRun
from genbench.stats.comparison.causes import CauseRecord

_FEWER = {
    "partial": "partial credit",
    "wrong": "wrong answers",
    "no_answer": "samples without an answer",
    "truncated": "truncated samples",
    "unclosed_trace": "unclosed traces",
    "format_error": "format errors",
    "timeout": "time-outs",
    "runtime_error": "run-time errors",
    "memory": "memory overruns",
    "output_limit": "output overruns",
    "no_code": "answers without code",
    "unrated": "answers that nothing scores",
    "unscored": "samples without a verdict",
    "verifier_error": "verifier errors",
    "engine_error": "engine errors",
    "unavailable": "samples that cannot be verified here",
}
_SMOOTH = ("bits_per_byte", "bpb_gold")
"""The smooth measure of documents, and that of choices."""
_NOTHING = 5e-4
"""Parts below 0.05 points would be printed as 0.0."""


def sentence(task: ComparedTask) -> str:
    """Return the sentence about a task, which begins `61.0 -> 84.2 (+23.2, 95% CI [19.0, 27.4])`."""
    if task.base is None or task.tuned is None or task.difference is None:
        return f"no difference can be given: {task.missing}"
    change = f"{signed(task.difference)}, 95% CI {interval(task.ci)}"
    scores = f"{points(task.base)} -> {points(task.tuned)} ({change})"
    # No answer was drawn if texts were scored: their tokens and statuses explain nothing.
    reasons = (
        _smooth(task) if task.likelihood else [_main_cause(task, task.difference), _form(task), _tokens(task)]
    )
    return "; ".join(part for part in (scores, *reasons) if part)


def changed_words(found: ChangedTexts) -> str:
    """Return how many answers of a task that nothing scores differ."""
    return f"not scored; {found.changed} of {found.samples} answers changed"


def status_words(status: str, part: float) -> str:
    """Return `fewer format errors` if the part is a gain, `more format errors` if it is a loss."""
    if status == "partial":
        return f"{'more' if part > 0 else 'less'} partial credit"
    return f"{'fewer' if part > 0 else 'more'} {_FEWER.get(status, status)}"


def _smooth(task: ComparedTask) -> list[str]:
    """Return the change of bits per byte, of documents or of right choices, which moves before accuracy."""
    measures = task.likelihood or {}
    return [measure_change(name, measures[name]) for name in _SMOOTH if name in measures][:1]


def _main_cause(task: ComparedTask, difference: float) -> str:
    """Return the leading cause, with the largest opposite one if it explains more than the difference."""
    causes = task.causes
    if not causes or not causes.leading:
        return ""
    lead = next(part for part in causes.parts if part.status == causes.leading)
    if abs(lead.part) < _NOTHING:
        return ""
    against = [part for part in causes.parts if part.part * lead.part < 0 and abs(part.part) >= _NOTHING]
    if abs(lead.part) <= abs(difference) + _NOTHING or not against:
        return f"{points(abs(lead.part))} points of it from {_words(lead)}"
    other = max(against, key=lambda part: abs(part.part))
    return f"{signed(lead.part)} points from {_words(lead)}, {signed(other.part)} from {_words(other)}"


def _form(task: ComparedTask) -> str:
    """Return how many of the lost answers are right but for their form, with one of them."""
    form = task.other_form
    if form is None:
        return ""
    among = f"{form.read} of the {form.lost}" if form.read < form.lost else f"{form.lost}"
    return (
        f"same content in another form: {form.same} of {among} lost answers ({100 * form.share:.0f} %) give "
        f"the reference, such as {form.problem_id}: {form.example!r}"
    )


def _words(cause: CauseRecord) -> str:
    """Return a cause in words."""
    return status_words(cause.status, cause.part)


def _tokens(task: ComparedTask) -> str:
    """Return the tokens per correct answer of both sides, or an empty text if they were not counted."""
    tokens = task.tokens
    if tokens is None:
        return ""
    base, tuned = _count(tokens.base.per_correct), _count(tokens.tuned.per_correct)
    times = f" (x{tokens.per_correct_ratio:.2f})" if tokens.per_correct_ratio else ""
    return f"tokens per correct answer {base} -> {tuned}{times}"


def _count(value: float | None) -> str:
    """Return a number of tokens. None means that nothing was correct."""
    return "none correct" if value is None else f"{value:,.0f}"


_MOST = 6
_DISCOVERED = 0.05
"""False discovery rate up to which a slice is in the sentence."""


def report_headline(report: Report) -> str:
    """Return one sentence: the verdict of the comparison, or the scores if there is no comparison."""
    failed = [line for run in report.runs for line in run.results.failed]
    if failed:
        return f"These numbers must not be used: {failed[0]}."
    compared = [item for item in report.comparisons if item.record]
    if compared:
        return " ".join(
            verdict_sentence(item.base, item.tuned, item.record) for item in compared if item.record
        )
    if report.comparisons:
        names = " and ".join(run.name for run in report.runs)
        return f"{names} cannot be compared: they differ in what must be equal (see below)."
    return " ".join(_scores(run) for run in report.runs)


def task_sentences(comparison: ReportedComparison) -> dict[str, str]:
    """Return the cause of each task's change, one sentence per task."""
    tasks = comparison.record.tasks if comparison.record else {}
    return {name: f"{name}: {sentence(task)}" for name, task in tasks.items()}


def headline(record: Comparison) -> str:
    """Return the verdict of a comparison. Sides with the same name are called base and tuned."""
    names = record.base.name, record.tuned.name
    base, tuned = names if len(set(names)) == 2 else ("base", "tuned")
    return verdict_sentence(base, tuned, record)


def verdict_sentence(base: str, tuned: str, record: Comparison) -> str:
    """Return the verdict in words, the mean of the tasks, and what the verdict comes from."""
    suite = record.suite
    mean = suite.plain_difference
    if not record.tasks and record.texts:
        changed = ", ".join(f"{name}: {changed_words(found)}" for name, found in record.texts.items())
        return f"Nothing here is scored, so there is no verdict. {changed}."
    words = {
        "IMPROVED": f"{tuned} is better than {base}",
        "REGRESSED": f"{tuned} is worse than {base}",
        "NON_INFERIOR": f"{tuned} is not worse than {base} by more than the margins",
        "INCONCLUSIVE": f"Whether {tuned} is better or worse than {base} cannot be told from these samples",
    }[suite.verdict]
    if mean is None:
        return f"{words}."
    sign = {"IMPROVED": "+", "REGRESSED": "-"}.get(suite.verdict)
    if sign is not None and not signed(mean).startswith(sign):
        # One task or the pool decides against the mean. "Worse: +0.8" would contradict itself.
        words = f"{tuned} against {base}"
    parts = (
        _mean(record, mean),
        _because(record),
        _may_have_lost(record),
        _not_gating(record),
        _forms(record),
        _slices(record),
        _undeclared(record),
    )
    return f"{words}: {''.join(parts)}."


def _mean(record: Comparison, mean: float) -> str:
    """Return the mean of the tasks in the table, and that of the gating ones if others are in the table."""
    known = {name: task for name, task in record.tasks.items() if task.difference is not None}
    bounds = f", 95% CI {interval(record.suite.plain_ci)}" if record.suite.plain_ci else ""
    if len(known) == 1:
        return f"{signed(mean)} points on {next(iter(known))}{bounds}"
    gating = [task.difference for task in known.values() if task.gating and task.difference is not None]
    part = ""
    if 0 < len(gating) < len(known):
        what = f"the {len(gating)} gating tasks" if len(gating) > 1 else "the gating task"
        part = f" ({what}: {signed(fsum(gating) / len(gating))})"
    return f"mean {signed(mean)} points over {len(known)} tasks{bounds}{part}"


def _because(record: Comparison) -> str:
    """Return the gating tasks that have the suite's verdict, or the pool if none of them has."""
    suite = record.suite
    if suite.verdict not in ("REGRESSED", "IMPROVED") or len(record.tasks) == 1:
        return ""
    moved = [name for name, task in record.tasks.items() if task.gating and task.verdict == suite.verdict]
    if moved:
        return f"; {suite.verdict} because of {_named(record, moved)}"
    pool = signed(suite.pooled_difference or 0.0)
    return f"; {suite.verdict} because of the weighted pool of the tasks ({pool})"


def _may_have_lost(record: Comparison) -> str:
    """Return the gating task that may have lost most beyond its margin, if the suite lost none together.

    A suite in which one task lost exactly its margin is often NON_INFERIOR by the mean of its tasks.
    """
    if record.suite.verdict != "NON_INFERIOR":
        return ""
    beyond = sorted(
        (task.lower + task.margin, name)
        for name, task in record.tasks.items()
        if task.gating and task.lower is not None and task.lower < -task.margin
    )
    if not beyond:
        return ""
    worst = record.tasks[beyond[0][1]]
    more = f", and {len(beyond) - 1} more task{'s' if len(beyond) > 2 else ''}" if len(beyond) > 1 else ""
    return (
        f"; by itself {beyond[0][1]} may have lost up to {points(-(worst.lower or 0.0))} points "
        f"(margin {points(worst.margin)}){more}"
    )


def _not_gating(record: Comparison) -> str:
    """Return the tasks that regressed and have no say in the verdict."""
    down = [name for name, task in record.tasks.items() if not task.gating and task.verdict == "REGRESSED"]
    return f"; regressed, but not gating: {_named(record, down)}" if down else ""


def _forms(record: Comparison) -> str:
    """Return the tasks whose lost answers are right but for their form, with the share of these."""
    found = {name: task.other_form for name, task in record.tasks.items() if task.other_form is not None}
    if not found:
        return ""
    ordered = sorted(found, key=lambda name: record.tasks[name].difference or 0.0)
    shown = ", ".join(
        f"{100 * found[name].share:.0f} % of the lost answers"
        + (f" of {name}" if len(record.tasks) > 1 else "")
        for name in ordered[:_MOST]
    )
    more = f" and {len(found) - _MOST} more tasks" if len(found) > _MOST else ""
    return f"; same content in another form: {shown}{more}"


@dataclass(frozen=True, slots=True)
class _Slices:
    """The significant rows of one exploratory table that moved in opposite directions."""

    task: str
    column: str
    rows: tuple[tuple[str, float], ...]

    @property
    def spread(self) -> float:
        """Return the distance of the two farthest rows."""
        sizes = [size for _, size in self.rows]
        return max(sizes) - min(sizes)


def _slices(record: Comparison) -> str:
    """Return the slices that moved in opposite directions, of the table in which they are farthest apart."""
    found = sorted(_opposite(record), key=lambda table: -table.spread)
    if not found:
        return ""
    first = found[0]
    shown = sorted(first.rows, key=lambda row: -abs(row[1]))[:_MOST]
    against = [row for row in first.rows if row[1] * shown[0][1] < 0]
    if against and not any(row in shown for row in against):
        shown[-1] = max(against, key=lambda row: abs(row[1]))
    whose = f"{first.task} by {first.column}" if len(record.tasks) > 1 else first.column
    more = f", and in {len(found) - 1} more table{'s' if len(found) > 2 else ''}" if len(found) > 1 else ""
    words = ", ".join(f"{name} {signed(size)}" for name, size in shown)
    return f"; opposite slices ({whose}): {words}{more}"


def _opposite(record: Comparison) -> Iterator[_Slices]:
    """Yield the tables with slices that moved against each other or against their task.

    Each of the slices has a small false discovery rate.
    """
    for name, task in record.tasks.items():
        kinds = {"kind of instruction": task.instructions.kinds} if task.instructions else {}
        for column, rows in {**task.strata, **kinds}.items():
            sure = tuple(
                (row.name, row.difference)
                for row in rows
                if row.difference is not None and row.q_value is not None and row.q_value <= _DISCOVERED
            )
            sizes = [size for _, size in sure]
            if sizes and min(*sizes, task.difference or 0.0) < 0 < max(*sizes, task.difference or 0.0):
                yield _Slices(name, column, sure)


def _undeclared(record: Comparison) -> str:
    """Return that every task decides because the suite declares none, if so."""
    return "; no task is declared gating, so all decide" if NONE_DECLARED in record.notes else ""


def _named(record: Comparison, names: Sequence[str]) -> str:
    """Return tasks with their differences, the largest first."""
    moved = sorted(names, key=lambda name: -abs(record.tasks[name].difference or 0.0))
    shown = ", ".join(f"{name} {signed(record.tasks[name].difference or 0.0)}" for name in moved[:_MOST])
    return shown + (f" and {len(moved) - _MOST} more" if len(moved) > _MOST else "")


def _scores(run: ReportedRun) -> str:
    """Return the macro means of the groups and the scores of the tasks without a group, the first six."""
    results = run.results
    grouped = {task for group in results.groups.values() for task in group.tasks}
    means = {name: group.macro for name, group in results.groups.items()}
    shown = means | {name: task for name, task in results.tasks.items() if name not in grouped}
    words = [
        f"{name} {points(item.value)} {interval(item.ci)}"
        if item and item.value is not None
        else f"{name} missing"
        for name, item in list(shown.items())[:_MOST]
    ]
    more = f" and {len(shown) - _MOST} more" if len(shown) > _MOST else ""
    return f"{run.name} scores {', '.join(words)}{more}."
