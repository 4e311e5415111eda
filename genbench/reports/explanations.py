"""Sentences that explain results: the headline of a report, and what changed in each compared task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from genbench.analysis.comparison.compare import Comparison
from genbench.analysis.comparison.compared_task import ComparedTask
from genbench.analysis.side_by_side import ChangedTexts
from genbench.reports.figures import measure_change
from genbench.reports.numbers import interval, p_text, points, signed
from genbench.reports.record import Report, ReportedComparison, ReportedRun
from genbench.reports.variant import variant_sentence
from genbench.stats.comparison.causes import CauseRecord, status_words
from genbench.stats.comparison.gate import MIN_PROBLEMS, SHOWABLE_LOSSES
from genbench.suite.block import headlines

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
    return "; ".join(part for part in (scores, *reasons, _slices(task)) if part)


def changed_words(found: ChangedTexts) -> str:
    """Return how many answers of a task that nothing scores differ."""
    return f"not scored; {found.changed} of {found.samples} answers changed"


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
_NAMED = 3
_DISCOVERED = 0.05
"""False discovery rate up to which a slice is in the sentence of its task."""


def report_headline(report: Report) -> str:
    """Return one sentence: the verdict of the comparison, or the scores if there is no comparison.

    Of several comparisons each has the mean and whether the release rule is met. The reasons of five filled a
    screen: they are with the changes of each.
    """
    failed = [line for run in report.runs for line in run.results.failed]
    if failed:
        return f"These numbers must not be used: {failed[0]}."
    compared = [item for item in report.comparisons if item.record]
    if compared:
        told = verdict_sentence if len(compared) == 1 else _short_verdict
        return " ".join(told(item.base, item.tuned, item.record) for item in compared if item.record)
    if report.comparisons:
        names = " and ".join(run.name for run in report.runs)
        return f"{names} cannot be compared: they differ in what must be equal, as `genbench compare` lists."
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
    """Return what the data say about the mean, then what the release rule decides and what is open of it.

    The direction is that of the mean's interval, whatever the verdict: a rule that asks for more than the
    mean must not be told as ignorance of it. Each clause has a known error, see docs/decide.md.
    """
    if record.variant is not None:
        return variant_sentence(record, record.variant)
    if not record.tasks and record.texts:
        changed = ", ".join(f"{name}: {changed_words(found)}" for name, found in record.texts.items())
        return f"Nothing here is scored, so there is no verdict. {changed}."
    parts = (_mean(base, tuned, record), _stopping(tuned, record), _release(record), _not_gating(record))
    return " ".join(f"{part}." for part in parts if part)


def _short_verdict(base: str, tuned: str, record: Comparison) -> str:
    """Return the verdict without the reasons of the release rule."""
    if record.variant is not None or not record.tasks:
        return verdict_sentence(base, tuned, record)
    released = _release(record).partition(":")[0].lower()
    parts = (f"{_mean(base, tuned, record)}, {released}", _stopping(tuned, record))
    return " ".join(f"{part}." for part in parts if part)


def _mean(base: str, tuned: str, record: Comparison) -> str:
    """Return the mean of the tasks in the table with its interval, and which side of 0 the interval is on."""
    suite = record.suite
    mean, ci = suite.plain_difference, suite.plain_ci
    if mean is None:
        return f"No difference of {base} and {tuned} can be given"
    known = [name for name, task in headlines(record.tasks).items() if task.difference is not None]
    where = f"on {known[0]}" if len(known) == 1 else f"on average over {len(known)} tasks"
    if ci is not None and ci[0] > 0:
        words = f"{tuned} is better than {base} {where}"
    elif ci is not None and ci[1] < 0:
        words = f"{tuned} is worse than {base} {where}"
    elif suite.verdict in ("REGRESSED", "IMPROVED"):
        words = f"{tuned} against {base} {where}"
    else:
        words = f"No clear difference between {base} and {tuned} {where}"
    return f"{words}: {signed(mean)}" + (f" {interval(ci)}" if ci else "")


def _stopping(tuned: str, record: Comparison) -> str:
    """Return that replies are proven to end otherwise, with the task in which that changed most."""
    moved = {
        name: task.stopping.cut_off
        for name, task in record.tasks.items()
        if task.stopping is not None and task.stopping.cut_off.is_shown
    }
    if not moved:
        return ""
    first = max(moved, key=lambda name: moved[name].difference)
    cut = moved[first]
    fewer = "no longer ends its replies" if cut.tuned >= 0.5 else "ends fewer of its replies"
    words = fewer if cut.difference > 0 else "ends more of its replies"
    more = f" and {_more_tasks(len(moved) - 1)}" if len(moved) > 1 else ""
    return f"{tuned} {words}: {100 * cut.base:.0f} -> {100 * cut.tuned:.0f} % cut off in {first}{more}"


def _more_tasks(count: int) -> str:
    return f"{count} more task{'' if count == 1 else 's'}"


def _release(record: Comparison) -> str:
    """Return whether the release rule is met, and by what, or which condition of it is open."""
    suite = record.suite
    if suite.verdict == "REGRESSED":
        return f"Not released: {_moved(record, 'regressed')}"
    if suite.verdict == "IMPROVED":
        return f"Released: {_moved(record, 'improved')}, and no loss beyond the margins is left open"
    if suite.verdict == "NON_INFERIOR":
        return f"Released: {_excluded_loss(record)}{_may_have_lost(record)}"
    if suite.undecided:
        return f"Not released: no decision on {_few(suite.undecided)}"
    return f"Not released: {_open_condition(record)}"


def _moved(record: Comparison, word: str) -> str:
    """Return the gating tasks that have the suite's verdict, or the pool if none of them has."""
    suite = record.suite
    moved = [name for name, task in record.tasks.items() if task.gating and task.verdict == suite.verdict]
    if not moved:
        pool = signed(suite.pooled_difference or 0.0)
        bounds = f" {interval(suite.ci)}" if suite.ci else ""
        return f"the tasks together {word} (weighted pool {pool}{bounds})"
    if len(record.tasks) == 1:
        return f"{moved[0]} {word}{_one_sided(record.tasks[moved[0]])}"
    moved.sort(key=lambda name: -abs(record.tasks[name].difference or 0.0))
    named = [
        f"{name} {signed(task.difference)} {interval(task.ci)}{_one_sided(task)}"
        for name in moved[:_NAMED]
        if (task := record.tasks[name])
    ]
    more = f" and {_more_tasks(len(moved) - _NAMED)}" if len(moved) > _NAMED else ""
    return f"{', '.join(named)}{more} {word}"


def _one_sided(task: ComparedTask) -> str:
    """Return what decided if the two-sided interval contains 0: the one-sided test, and its bound."""
    if task.ci is None or not task.ci[0] <= 0 <= task.ci[1]:
        return ""
    drop = task.verdict == "REGRESSED"
    p = task.p_regression_adjusted if drop else task.p_improvement_adjusted
    shown = task.upper is not None and task.upper < 0 and drop
    bound = f", one-sided 95% bound {signed(task.upper)}" if shown else ""
    return f" (one-sided p {p_text(p)} of at most {task.alpha:g}{bound})"


def _excluded_loss(record: Comparison) -> str:
    """Return which loss the data exclude of a suite that is not inferior."""
    suite = record.suite
    if suite.lower is not None and suite.lower > -suite.margin:
        where = "" if len(record.tasks) == 1 else " on average"
        return f"a loss of {_margin(suite.margin)} points{where} is excluded"
    return "no gating task lost as much as its margin"


def _open_condition(record: Comparison) -> str:
    """Return the condition of the release rule that is open, and what would close it."""
    suite = record.suite
    if suite.lower is not None and suite.mean_difference is not None and suite.lower <= -suite.margin:
        where = "" if len(suite.tasks) == 1 else " on average"
        distance = suite.mean_difference - suite.lower
        times = float(f"{(distance / suite.margin) ** 2:.2g}")  # two digits: 1,900 and not 1.9e+03
        close = (
            f"; {times:,.7g} times as many problems could" if times > 1.05 else ""
        )  # of an unchanged model
        return (
            f"a loss of {_margin(suite.margin)} points{where} is not excluded (lower bound "
            f"{signed(suite.lower)}){close}"
        )
    names = suite.doubtful or suite.inconclusive
    tasks = [record.tasks[name] for name in names if name in record.tasks]
    if not tasks:
        return "no difference of all gating tasks is known"
    counts = sorted({task.n for task in tasks})
    problems = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    margins = sorted({_allowed(task, doubtful=bool(suite.doubtful)) for task in tasks})
    loss = f"{_margin(margins[0])}" + (f" to {_margin(margins[-1])}" if len(margins) > 1 else "")
    close = "" if suite.doubtful else f"; it takes at least {MIN_PROBLEMS} in all tasks together"
    return f"{problems} problems cannot exclude a loss of {loss} points in {_few(names)}{close}"


def _allowed(task: ComparedTask, *, doubtful: bool) -> float:
    """Return the loss that a task must exclude: its margin, or twice that next to a mean without a loss."""
    return max(2 * task.margin, SHOWABLE_LOSSES / task.n) if doubtful else task.margin


def _margin(value: float) -> str:
    return f"{100 * value:.3g}"


def _few(names: Sequence[str]) -> str:
    """Return `a, b and c`, or the first names and how many more there are."""
    if len(names) == 1:
        return names[0]
    if len(names) <= _MOST:
        return f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{', '.join(names[:_MOST])} and {len(names) - _MOST} more"


def _may_have_lost(record: Comparison) -> str:
    """Return the gating task that may have lost most beyond its margin, if the suite lost none together.

    A suite in which one task lost exactly its margin is often NON_INFERIOR by the mean of its tasks.
    """
    beyond = sorted(
        (task.lower + task.margin, name)
        for name, task in record.tasks.items()
        if task.gating and task.lower is not None and task.lower < -task.margin
    )
    if not beyond:
        return ""
    worst = record.tasks[beyond[0][1]]
    more = f", and {_more_tasks(len(beyond) - 1)}" if len(beyond) > 1 else ""
    return (
        f"; by itself {beyond[0][1]} may have lost up to {points(-(worst.lower or 0.0))} points "
        f"(margin {points(worst.margin)}){more}"
    )


def _not_gating(record: Comparison) -> str:
    """Return the tasks that regressed and have no say in the verdict.

    Their p values are adjusted for one another, but not in an adaptive run.
    """
    down = [name for name, task in record.tasks.items() if not task.gating and task.verdict == "REGRESSED"]
    return "" if record.adaptive or not down else f"Not gating, regressed: {_named(record, down)}"


@dataclass(frozen=True, slots=True)
class _Slices:
    """The significant rows of one exploratory table that moved in opposite directions."""

    column: str
    rows: tuple[tuple[str, float], ...]

    @property
    def spread(self) -> float:
        """Return the distance of the two farthest rows."""
        sizes = [size for _, size in self.rows]
        return max(sizes) - min(sizes)


def _slices(task: ComparedTask) -> str:
    """Return the slices that moved in opposite directions, of the table in which they are farthest apart."""
    found = sorted(_opposite(task), key=lambda table: -table.spread)
    if not found:
        return ""
    first = found[0]
    shown = sorted(first.rows, key=lambda row: -abs(row[1]))[:_MOST]
    against = [row for row in first.rows if row[1] * shown[0][1] < 0]
    if against and not any(row in shown for row in against):
        shown[-1] = max(against, key=lambda row: abs(row[1]))
    more = f", and in {len(found) - 1} more table{'s' if len(found) > 2 else ''}" if len(found) > 1 else ""
    words = ", ".join(f"{name} {signed(size)}" for name, size in shown)
    return f"opposite slices ({first.column}): {words}{more}"


def _opposite(task: ComparedTask) -> Iterator[_Slices]:
    """Yield the tables with slices that moved against each other or against their task.

    Each of the slices has a small false discovery rate.
    """
    kinds = {"kind of instruction": task.instructions.kinds} if task.instructions else {}
    for column, rows in {**task.strata, **kinds}.items():
        sure = tuple(
            (row.name, row.difference)
            for row in rows
            if row.difference is not None and row.q_value is not None and row.q_value <= _DISCOVERED
        )
        sizes = [size for _, size in sure]
        if sizes and min(*sizes, task.difference or 0.0) < 0 < max(*sizes, task.difference or 0.0):
            yield _Slices(column, sure)


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
