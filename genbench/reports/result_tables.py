"""The tables of results: scores, statuses, changes between two runs, signs of defects, and published scores.

Tasks of one benchmark group have a row together, and tables of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from markupsafe import Markup

from genbench.analysis.comparison.compared_task import ComparedTask, PartDifference
from genbench.analysis.reading import ReadCounts, joined
from genbench.analysis.records import Bounded, ExcludedSamples
from genbench.analysis.results.means import GroupRecord
from genbench.analysis.results.record import ReportedRecord, TaskResults
from genbench.analysis.results.table import is_never_scored
from genbench.reports.figures import (
    agreement_words,
    judged_lines,
    likelihood_lines,
    loops_text,
    read_words,
    reviewed_words,
    rollout_lines,
)
from genbench.reports.numbers import interval, p_text, points, signed
from genbench.reports.record import (
    Report,
    ReportedRun,
    ReportedScore,
    SuspiciousReference,
    TaskHealthRecord,
)
from genbench.reports.table import DETAILS, EVERYWHERE, MARKDOWN, PAGE, TERMINAL, Column, Table, markdown_text
from genbench.safetext.printable import printable
from genbench.stats.comparison.causes import CauseRecord, status_words
from genbench.stats.estimates import EstimateRecord
from genbench.stats.macro import MeanRecord
from genbench.stats.strata import StratumDifference
from genbench.store.stopping import Ending

COLOURS = 6
"""Colours of runs on a page. A seventh run has the first colour again."""
_MISSING = Markup('<span class="bad">missing</span>')


def counted(tasks: Collection[str]) -> str:
    """Return `20 tasks`."""
    return f"{len(tasks)} task" + ("" if len(tasks) == 1 else "s")


def task_groups(report: Report) -> dict[str, tuple[str, ...]]:
    """Return the tasks of each group that a run names. A report folds them into one row."""
    return {name: group.tasks for run in report.runs for name, group in run.results.groups.items()}


def own_tasks(report: Report) -> list[str]:
    """Return the tasks without a group."""
    grouped = {task for tasks in task_groups(report).values() for task in tasks}
    return [task for task in report.tasks if task not in grouped]


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """A score of a run: that of a task, or a mean of a group. `place` is the number of the run."""

    run: str
    place: int
    name: str
    metric: str
    score: TaskResults | MeanRecord | None
    tasks: tuple[str, ...] = ()
    is_ragged: bool = False
    read_by: ReadCounts | None = None

    @property
    def task(self) -> TaskResults | None:
        """The results of the task, or None for a group."""
        return self.score if isinstance(self.score, TaskResults) else None


def task_score(run: str, place: int, name: str, task: TaskResults, *, is_ragged: bool = False) -> ScoreRow:
    """Return the row of a task.

    Args:
        is_ragged: whether its problems have unequal numbers of samples.
    """
    return ScoreRow(run, place, name, task.metric, task, is_ragged=is_ragged, read_by=task.read_by)


def group_scores(
    run: str, place: int, name: str, group: GroupRecord, tasks: Mapping[str, TaskResults]
) -> list[ScoreRow]:
    """Return the rows of a group: the mean over its tasks, and over its problems.

    Args:
        tasks: all tasks of the run.
    """
    means = ("macro", group.macro), ("micro", group.micro)
    read_by = joined(tasks[task].read_by for task in group.tasks if task in tasks)
    return [ScoreRow(run, place, name, kind, mean, group.tasks, read_by=read_by) for kind, mean in means]


def report_scores(report: Report, names: Collection[str]) -> list[ScoreRow]:
    """Return the rows of some tasks, with the runs of a task next to each other."""
    return [task_score(run.name, place, name, task) for name, place, run, task in report_tasks(report, names)]


def report_means(report: Report) -> list[ScoreRow]:
    """Return the rows of the groups."""
    return [
        row
        for name in task_groups(report)
        for place, run in enumerate(report.runs)
        if (group := run.results.groups.get(name))
        for row in group_scores(run.name, place, name, group, run.results.tasks)
    ]


def report_readings(report: Report) -> list[ScoreRow]:
    """Return one row for each group, and for each task without one, that says how its answers were read."""
    return read_rows([*report_means(report), *report_scores(report, own_tasks(report))])


def report_tasks(
    report: Report, names: Collection[str]
) -> Iterator[tuple[str, int, ReportedRun, TaskResults]]:
    """Yield (task, number of the run, run, results of the task)."""
    for name in names:
        for place, run in enumerate(report.runs):
            if task := run.results.tasks.get(name):
                yield name, place, run, task


TaskLines = tuple[str, str, list[str]]


def judge_lines(report: Report) -> list[TaskLines]:
    """Return (task, run, lines) of every task with an LLM judge, or with labels of people."""
    found = list[TaskLines]()
    for name, _, run, task in report_tasks(report, report.tasks):
        lines = judged_lines(task.judge) if task.judge else []
        if own := run.reviewed.get(name):
            lines += [reviewed_words(own), *agreement_words(own)]
        if lines:
            found.append((name, run.name, lines))
    return found


def agent_lines(report: Report) -> list[TaskLines]:
    """Return (task, run, lines) of every task whose samples are rollouts of a harness."""
    found = report_tasks(report, report.tasks)
    return [(name, run.name, rollout_lines(task.rollouts)) for name, _, run, task in found if task.rollouts]


def scored_lines(report: Report) -> list[TaskLines]:
    """Return (task, run, lines) of every task whose texts were scored."""
    found = report_tasks(report, report.tasks)
    return [
        (name, run.name, likelihood_lines(task.likelihood)) for name, _, run, task in found if task.likelihood
    ]


def _value(score: EstimateRecord | MeanRecord | Bounded | None) -> str:
    if is_never_scored(score):
        return "not scored"
    return "missing" if score is None or score.value is None else points(score.value)


def _value_on_page(score: TaskResults | EstimateRecord | MeanRecord | None) -> str:
    is_missing = score is not None and score.value is None and not is_never_scored(score)
    return _MISSING if is_missing else _value(score)


def _rerun(row: ScoreRow) -> str:
    bounds = row.task.rerun_ci if row.task else None
    return f"±{points((bounds[1] - bounds[0]) / 2)}" if bounds else "-"


def _size(row: ScoreRow) -> str:
    if row.score is None or row.task is None:
        return "-" if row.score is None else str(row.score.n)
    k = f"{row.task.samples / max(row.task.n, 1):.2g}" if row.is_ragged else row.task.k
    return f"{row.task.n} x {k}"


def _counts(row: ScoreRow) -> str:
    if row.task is None:
        return f"mean of {len(row.tasks)} tasks" if row.metric == "macro" else "all problems"
    return ", ".join(f"{status} {count}" for status, count in row.task.status_counts.items())


def _statuses(row: ScoreRow) -> str:
    return _counts(row).replace("_", " ") if row.task else ""


def read_rows(rows: Sequence[ScoreRow]) -> list[ScoreRow]:
    """Return one row for each task or group of a run that says how its answers were read."""
    told = {(row.place, row.run, row.name): row for row in rows if row.read_by is not None}
    return list(told.values())


def read_lines(rows: Sequence[ScoreRow]) -> list[str]:
    """Return how the answers of each row were read, a line each. Rows that do not say it have none."""
    told = [(f"{row.run}/{row.name}", read_words(row.read_by)) for row in read_rows(rows)]
    width = max((len(name) for name, _ in told), default=0)
    return [f"{name:{width}}  {words}" for name, words in told]


def _of_group(row: ScoreRow) -> str:
    return f"{row.name} ({counted(row.tasks)})" if row.tasks else row.name


def _with_dot(row: ScoreRow) -> Markup:
    return Markup('<i class="dot m{}"></i>{}').format(row.place % COLOURS, printable(row.run))


SCORES = Table[ScoreRow](
    Column("model", lambda row: row.run, shown=TERMINAL),
    Column("task", lambda row: row.name, shown=TERMINAL),
    Column("task", _of_group, shown=MARKDOWN | PAGE | DETAILS),
    Column("run", lambda row: row.run, right=MARKDOWN, shown=MARKDOWN | PAGE | DETAILS, page=_with_dot),
    Column("metric", lambda row: row.metric, right=MARKDOWN, shown=EVERYWHERE | DETAILS),
    Column(
        "value", lambda row: _value(row.score), right=EVERYWHERE, page=lambda row: _value_on_page(row.score)
    ),
    Column("95% CI", lambda row: interval(row.score.ci if row.score else None), right=PAGE, plain=True),
    Column("re-run", _rerun, right=TERMINAL | PAGE, shown=TERMINAL | DETAILS),
    Column(
        "n x k",
        _size,
        right=TERMINAL | PAGE,
        page=lambda row: _size(row).replace("x", "×"),
        page_head="n × k",
    ),
    Column("status counts", _counts, shown=TERMINAL),
    Column("samples", _statuses, shown=MARKDOWN),
    below=("status counts",),
)
READ_BY = Table[ScoreRow](
    Column("task", _of_group),
    Column("run", lambda row: row.run, page=_with_dot),
    Column("read by", lambda row: read_words(row.read_by), style="wrap"),
)


def _status_marks(row: ScoreRow) -> Markup:
    mark = Markup('<span class="status s-{}">{} {}</span> ')
    counts = row.task.status_counts if row.task else {}
    return Markup("").join(
        mark.format(status, status.replace("_", " "), count) for status, count in counts.items()
    )


def _cut_off(row: ScoreRow) -> str:
    share = row.task.truncated_share if row.task else None
    return "-" if share is None else f"{points(share)}%"


def _ending(ending: Ending) -> Callable[[ScoreRow], str]:
    """Return the cells of a column with the share of samples that end so."""

    def share(row: ScoreRow) -> str:
        found = row.task.stopping if row.task else None
        return "-" if found is None else f"{points(found.share(ending))}%"

    return share


def _reply_tokens(row: ScoreRow) -> str:
    found = row.task.stopping if row.task else None
    return "-" if found is None or found.tokens is None else f"{found.tokens:,.0f}"


def _repeated(row: ScoreRow) -> str:
    found = row.task.stopping if row.task else None
    return "" if found is None or not found.loops else loops_text(found)


def _excluded(row: ScoreRow) -> str:
    assert row.task is not None
    bounds = f" ({interval(row.task.bounds)})" if row.task.bounds and row.task.excluded else ""
    return f"{row.task.excluded}{bounds}"


STATUS_COUNTS = Table[ScoreRow](
    Column("task", lambda row: row.name),
    Column("run", lambda row: row.run),
    Column("samples by status", _status_marks, style="wrap"),
    Column("cut off", _cut_off, right=PAGE),
    Column("excluded", _excluded, right=PAGE),
)
ENDINGS = Table[ScoreRow](
    Column("task", _of_group),
    Column("run", lambda row: row.run, page=_with_dot),
    Column("loops", _ending("loops"), right=PAGE),
    Column("empty", _ending("empty"), right=PAGE),
    Column("tokens", _reply_tokens, right=PAGE),
    Column("what repeats", _repeated, style="wrap"),
)
"""How replies end, next to the share that is cut off."""


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric of a task of a run, or the mean over the values of a stratum."""

    task: str
    run: str
    metric: str
    score: EstimateRecord | MeanRecord | ReportedRecord | Bounded
    method: str


def metric_rows(report: Report) -> list[MetricRow]:
    """Return all metrics of all tasks, and then the means over strata."""
    found = list(report_tasks(report, report.tasks))
    metrics = [
        MetricRow(name, run.name, metric, item, str(item.missing or item.ci_method))
        for name, _, run, task in found
        for metric, item in task.metrics.items()
    ]
    means = [
        MetricRow(
            name,
            run.name,
            f"{task.macro.name} {task.macro.by}",
            task.macro,
            f"{task.macro.parts} values of {task.macro.by} count alike",
        )
        for name, _, run, task in found
        if task.macro
    ]
    reported = [
        MetricRow(name, run.name, task.reported.name, task.reported, f"{task.reported.better} is better")
        for name, _, run, task in found
        if task.reported
    ]
    parts = [
        MetricRow(name, run.name, part, item, "named part of the score")
        for name, _, run, task in found
        for part, item in (task.parts or {}).items()
    ]
    return metrics + parts + means + reported


def _metric_value(row: MetricRow) -> str:
    if isinstance(row.score, ReportedRecord):
        return "missing" if row.score.value is None else f"{row.score.value:.1f}"
    return _value(row.score)


def _metric_interval(row: MetricRow) -> str:
    if isinstance(row.score, ReportedRecord):
        return "-" if row.score.ci is None else f"[{row.score.ci[0]:.1f}, {row.score.ci[1]:.1f}]"
    return interval(row.score.ci)


METRICS = Table[MetricRow](
    Column("task", lambda row: row.task),
    Column("run", lambda row: row.run),
    Column("metric", lambda row: row.metric),
    Column(
        "value",
        _metric_value,
        right=PAGE,
        page=lambda row: _MISSING if _metric_value(row) == "missing" else _metric_value(row),
    ),
    Column("95% CI", _metric_interval, right=PAGE),
    Column("method", lambda row: row.method, style="wrap"),
)
STRATUM = "stratum"
"""The head of the first column of tables of strata, which is replaced by the name of the stratum."""
STRATUM_SCORES = Table[tuple[str, EstimateRecord]](
    Column(STRATUM, lambda row: row[0]),
    Column("n", lambda row: row[1].n, right=EVERYWHERE),
    Column("value", lambda row: _value(row[1]), right=EVERYWHERE, page=lambda row: _value_on_page(row[1])),
    Column("95% CI", lambda row: interval(row[1].ci), right=PAGE),
)


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """A compared task, or the tasks of a group: the means over them, and the lowest and highest change."""

    name: str
    base: str
    tuned: str
    change: str
    verdicts: str
    task: ComparedTask | None = None

    @property
    def known(self) -> ComparedTask | None:
        """The task, if it has a difference."""
        return self.task if self.task is not None and self.task.difference is not None else None


def change_rows(compared: Mapping[str, ComparedTask], names: Collection[str]) -> list[ChangeRow]:
    """Return the rows of those tasks that were compared, in the order of `names`."""
    return [task_change(name, compared[name]) for name in names if name in compared]


def task_change(name: str, task: ComparedTask) -> ChangeRow:
    """Return the row of a task."""
    verdict = task.verdict if task.gating else f"{task.verdict} (not gating)"
    if task.base is None or task.tuned is None or task.difference is None:
        return ChangeRow(name, "-", "-", "-", verdict, task)
    return ChangeRow(name, points(task.base), points(task.tuned), signed(task.difference), verdict, task)


def group_change(name: str, tasks: Collection[str], compared: Mapping[str, ComparedTask]) -> ChangeRow | None:
    """Return the row of a group, or None if none of its tasks was compared."""
    own = [compared[task] for task in tasks if task in compared]
    if not own:
        return None
    changes = sorted(item.difference for item in own if item.difference is not None)
    verdicts = Counter(_lower(item.verdict) for item in own)
    return ChangeRow(
        f"{name} ({counted(tasks)})",
        _mean([item.base for item in own]),
        _mean([item.tuned for item in own]),
        _span([signed(change) for change in changes]),
        ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()),
    )


def report_changes(report: Report, compared: Mapping[str, ComparedTask]) -> list[ChangeRow]:
    """Return the rows of the groups, and of the tasks without one."""
    groups = (group_change(name, tasks, compared) for name, tasks in task_groups(report).items())
    return [*(row for row in groups if row), *change_rows(compared, own_tasks(report))]


def _mean(values: Sequence[float | None]) -> str:
    """Return the mean of all values in points of 100, or a dash if one is missing."""
    known = [value for value in values if value is not None]
    return points(sum(known) / len(known)) if len(known) == len(values) else "-"


def _span(ordered: Sequence[str]) -> str:
    """Return the first and the last of some values, or a dash if there is none."""
    if not ordered:
        return "-"
    return ordered[0] if ordered[0] == ordered[-1] else f"{ordered[0]} to {ordered[-1]}"


def _lower(verdict: str) -> str:
    return verdict.replace("_", " ").lower()


def _paired_size(row: ChangeRow) -> str:
    task = row.task
    if task is None:
        return "-"
    return f"{task.n} x {task.k_tuned if task.k_base == task.k_tuned else f'{task.k_base}/{task.k_tuned}'}"


def _p_drop(row: ChangeRow) -> str:
    task = row.known
    return "-" if task is None else p_text(task.p_regression_adjusted)


def _finds(row: ChangeRow) -> str:
    return "-" if row.known is None or row.known.findable is None else points(row.known.findable)


def _verdict_style(row: ChangeRow) -> str:
    if row.task is None:
        return "wrap"
    return {"REGRESSED": "bad", "IMPROVED": "good"}.get(row.task.verdict, "")


CHANGES = Table[ChangeRow](
    Column("task", lambda row: row.name, shown=EVERYWHERE | DETAILS),
    Column("metric", lambda row: row.task.metric if row.task else "", shown=TERMINAL | DETAILS),
    Column("n x k", _paired_size, right=TERMINAL | PAGE, shown=TERMINAL | DETAILS),
    Column("base", lambda row: row.base, right=EVERYWHERE),
    Column("tuned", lambda row: row.tuned, right=EVERYWHERE),
    Column("change", lambda row: row.change, right=EVERYWHERE),
    Column(
        "95% CI", lambda row: interval(row.known.ci if row.known else None), right=MARKDOWN | PAGE, plain=True
    ),
    Column(
        "p",
        lambda row: p_text(row.known.p_two_sided if row.known else None),
        right=TERMINAL | PAGE,
        shown=TERMINAL | DETAILS,
    ),
    Column("p drop", _p_drop, right=TERMINAL | PAGE, shown=TERMINAL | DETAILS),
    Column("finds", _finds, right=TERMINAL | PAGE, shown=TERMINAL | DETAILS),
    Column("verdict", lambda row: row.verdicts, shown=TERMINAL),
    Column("verdict", lambda row: _lower(row.verdicts), shown=MARKDOWN | PAGE, style=_verdict_style),
    below=("p", "p drop", "finds"),
    gap=lambda row: row.task.missing if row.task else None,
)
PART_CHANGES = Table[tuple[str, PartDifference]](
    Column("part", lambda row: row[0]),
    Column("base", lambda row: points(row[1].base), right=EVERYWHERE),
    Column("tuned", lambda row: points(row[1].tuned), right=EVERYWHERE),
    Column("change", lambda row: signed(row[1].difference), right=EVERYWHERE),
    Column("95% CI", lambda row: interval(row[1].ci), right=PAGE),
)


def part_lines(tasks: Mapping[str, ComparedTask]) -> list[str]:
    """Return how the named parts of each task's score changed, a line each."""
    return [
        f"{name}: {part} {points(own.base)} -> {points(own.tuned)} "
        f"({signed(own.difference)} {interval(own.ci)})"
        for name, task in tasks.items()
        for part, own in (task.parts or {}).items()
    ]


STRATUM_CHANGES = Table[StratumDifference](
    Column(STRATUM, lambda row: row.name),
    Column("n", lambda row: row.n, right=EVERYWHERE),
    Column("base", lambda row: points(row.base or 0.0), right=EVERYWHERE),
    Column("tuned", lambda row: points(row.tuned or 0.0), right=EVERYWHERE),
    Column("change", lambda row: signed(row.difference or 0.0), right=EVERYWHERE),
    Column("95% CI", lambda row: interval(row.ci), right=PAGE),
    Column("q", lambda row: p_text(row.q_value), right=EVERYWHERE),
)
CAUSES = Table[CauseRecord](
    Column("cause", lambda row: status_words(row.status, row.part)),
    Column("points", lambda row: signed(row.part), right=PAGE),
    Column("95% CI", lambda row: interval(row.ci), right=PAGE),
    Column("share, base", lambda row: f"{points(row.base_share)}%", right=PAGE),
    Column("share, tuned", lambda row: f"{points(row.tuned_share)}%", right=PAGE),
)


@dataclass(frozen=True, slots=True)
class HealthRow:
    """The signs of defects of a task, or their sums over a group. Rates of tasks have a range, not a mean."""

    name: str
    run: str
    problems: int
    always_right: int
    never_right: int
    lost: str
    doubtful: tuple[SuspiciousReference, ...]
    duplicates: int
    copies: int


def health_row(name: str, run: str, own: Sequence[TaskHealthRecord]) -> HealthRow:
    """Return the row of one task, or of several together."""
    rates = sorted(item.extraction_failure_rate for item in own if item.extraction_failure_rate is not None)
    return HealthRow(
        name=name,
        run=run,
        problems=sum(item.problems for item in own),
        always_right=sum(item.always_right for item in own),
        never_right=sum(item.never_right for item in own),
        lost=_span([f"{points(rate)}%" for rate in rates]),
        doubtful=tuple(row for item in own for row in item.suspicious_references),
        duplicates=sum(len(item.duplicates) for item in own),
        copies=sum(item.prompt_copies for item in own),
    )


def health_rows(report: Report, names: Collection[str]) -> list[HealthRow]:
    """Return the rows of some tasks, with the runs of a task next to each other."""
    return [
        health_row(name, run.name, [run.health[name]])
        for name in names
        for run in report.runs
        if name in run.health
    ]


def group_health(report: Report) -> list[HealthRow]:
    """Return the rows of the groups."""
    return [
        health_row(f"{name} ({counted(tasks)})", run.name, own)
        for name, tasks in task_groups(report).items()
        for run in report.runs
        if (own := [run.health[task] for task in tasks if task in run.health])
    ]


def _share(count: int, of: int) -> str:
    return f"{count} ({points(count / of)}%)" if of else str(count)


def _doubtful(row: HealthRow) -> str:
    return ", ".join(markdown_text(item.problem_id) for item in row.doubtful[:10]) or "none"


HEALTH = Table[HealthRow](
    Column("task", lambda row: row.name),
    Column("run", lambda row: row.run),
    Column("problems", lambda row: row.problems, right=PAGE, shown=PAGE),
    Column(
        "always right",
        lambda row: row.always_right,
        right=PAGE,
        page=lambda row: _share(row.always_right, row.problems),
    ),
    Column(
        "never right",
        lambda row: row.never_right,
        right=PAGE,
        page=lambda row: _share(row.never_right, row.problems),
    ),
    Column("nothing extracted", lambda row: row.lost, right=PAGE),
    Column("doubtful references", _doubtful, right=PAGE, page=lambda row: len(row.doubtful), plain=True),
    Column("duplicates", lambda row: row.duplicates, right=PAGE, shown=PAGE),
    Column("prompt copied", lambda row: row.copies, right=PAGE, shown=PAGE),
)


def sample_link(task: str, problem_id: str, sample_index: int = 0) -> str:
    """Return the stable address of a sample in the page, `#task/problem/sample`."""
    return f"#{quote(task, safe='')}/{quote(problem_id, safe='', errors='replace')}/{sample_index}"


def excluded_rows(task: str, health: TaskHealthRecord) -> list[tuple[str, ExcludedSamples]]:
    """Return why samples of a task were excluded, with the name of the task."""
    return [(task, row) for row in health.excluded]


def _first_sample(row: tuple[str, ExcludedSamples]) -> Markup:
    task, (problem_id, sample_index) = row[0], row[1].first
    link = Markup('<a href="{}">{}/{}</a>')
    return link.format(sample_link(task, problem_id, sample_index), printable(problem_id), sample_index)


EXCLUDED = Table[tuple[str, ExcludedSamples]](
    Column("status", lambda row: row[1].status.replace("_", " ")),
    Column("samples", lambda row: row[1].samples, right=PAGE),
    Column("why", lambda row: row[1].why, style="wrap"),
    Column("the first", _first_sample),
)
PUBLISHED = Table[ReportedScore](
    Column("task", lambda row: row.label),
    Column("value", lambda row: points(row.value), right=MARKDOWN, shown=MARKDOWN),
    Column("model", lambda row: f"{row.model} ({row.of})", shown=MARKDOWN),
    Column("model", lambda row: row.model, shown=PAGE),
    Column("value", lambda row: points(row.value), right=PAGE, shown=PAGE),
    Column("is of", lambda row: row.of, shown=PAGE),
    Column("decoding", lambda row: row.decoding, shown=PAGE, style="wrap"),
    Column("source", lambda row: row.source, shown=PAGE, style="wrap"),
    Column("decoding and source", lambda row: f"{row.decoding}; {row.source}", shown=MARKDOWN),
)
