"""A report as Markdown, suitable for a comment on a pull request."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from genbench.analysis.comparison.compared_task import ComparedTask
from genbench.reports.adaptive_looks import HEAD, adaptive_text, look_rows
from genbench.reports.benchmark_groups import counted, group_changes, task_groups
from genbench.reports.explanations import signed, task_sentences
from genbench.reports.judge import judged_lines
from genbench.reports.likelihood import likelihood_lines
from genbench.reports.notices import brief_notices
from genbench.reports.numbers import interval, points
from genbench.reports.record import Report, ReportedComparison, ReportedRun
from genbench.safetext.printable import one_line
from genbench.stats.macro import MeanRecord

_SPECIAL = re.compile(r"[\\`*_\[\]<>|~#$&]|:(?=//)|(?<=www)\.")
_MENTION = re.compile(r"(?<!\w)@")


def markdown(report: Report) -> str:
    """Return the report: the result first, then tables, with the details and the tasks of groups folded."""
    lines = [f"### {escaped(report.lead)}", "", *_notices(report)]
    compared = [item for item in report.comparisons if item.record]
    for item in compared:
        lines += [*_comparison_table(item, report), ""]
        lines += _folded("Why", [f"- {escaped(line)}" for line in task_sentences(item).values()])
    scores = _score_tables(report)
    lines += _folded("Scores", scores) if compared else scores
    for run in report.runs:
        lines += _looks(run) if run.results.adaptive else []
    scored = _likelihood_lines(report)
    lines += _folded("Likelihood", scored) if scored else []
    judged = _judge_lines(report)
    lines += _folded("Judges", judged) if judged else []
    if report.published:
        lines += _folded("What others report", _published_table(report))
    lines += _folded("Health of the data", _health_table(report))
    paths = ", ".join(f"`{one_line(run.path, 200).replace('`', '')}`" for run in report.runs)
    return "\n".join([*lines, f"Points of 100; intervals of 95%. Runs: {paths}", ""])


def escaped(text: str) -> str:
    """Return text that Markdown shows unchanged: no markup, mention, link or HTML, on one line."""
    plain = _SPECIAL.sub(lambda found: f"&#{ord(found.group())};", one_line(text, 600))
    return _MENTION.sub("@<!-- -->", plain)


def _notices(report: Report) -> list[str]:
    lines = brief_notices(report)
    return [*(f"> {escaped(line)}" for line in lines), ""] if lines else []


def _comparison_table(item: ReportedComparison, report: Report) -> list[str]:
    """Return the table of the tasks without a group and of the groups, then the tasks of each, folded."""
    compared = item.record.tasks if item.record else {}
    head = ("task", escaped(item.base), escaped(item.tuned), "change", "95% CI", "verdict")
    groups = task_groups(report)
    means = [
        (escaped(f"{name} ({counted(tasks)})"), row.base, row.tuned, row.change, "-", row.verdicts)
        for name, tasks in groups.items()
        if (row := group_changes(tasks, compared))
    ]
    lines = list(_table(head, [*means, *_compared_rows(compared, _own_tasks(report))], 4))
    for name, tasks in groups.items():
        rows = _compared_rows(compared, tasks)
        lines += (
            ["", *_folded(f"The changes of {escaped(name)}", list(_table(head, rows, 4)))] if rows else []
        )
    return lines


def _own_tasks(report: Report) -> list[str]:
    """Return the tasks without a group."""
    grouped = {task for tasks in task_groups(report).values() for task in tasks}
    return [task for task in report.tasks if task not in grouped]


def _compared_rows(compared: Mapping[str, ComparedTask], names: Collection[str]) -> list[tuple[str, ...]]:
    return [
        (
            escaped(name),
            *_change(task),
            task.verdict.replace("_", " ").lower() + ("" if task.gating else " (not gating)"),
        )
        for name, task in compared.items()
        if name in names
    ]


def _change(task: ComparedTask) -> tuple[str, ...]:
    """Return both scores, their difference and its interval, or dashes if there is no difference."""
    if task.base is None or task.tuned is None or task.difference is None:
        return ("-", "-", "-", "-")
    return points(task.base), points(task.tuned), signed(task.difference), interval(task.ci)


def _score_tables(report: Report) -> list[str]:
    """Return the table of the groups and of the tasks without one, then the tasks of each group, folded."""
    head = ("task", "run", "metric", "value", "95% CI", "n x k", "samples")
    means = [
        (escaped(f"{name} ({counted(group.tasks)})"), escaped(run.name), kind, *_mean(mean), "")
        for name in task_groups(report)
        for run in report.runs
        if (group := run.results.groups.get(name))
        for kind, mean in (("macro", group.macro), ("micro", group.micro))
    ]
    lines = [*_table(head, [*means, *_score_rows(report, _own_tasks(report))], 3), ""]
    for name, tasks in task_groups(report).items():
        table = list(_table(head, _score_rows(report, tasks), 3))
        lines += _folded(f"The scores of {escaped(name)}", table)
    return lines


def _mean(mean: MeanRecord | None) -> tuple[str, str, str]:
    """Return value, interval and problems of a mean."""
    return ("missing", "-", "-") if mean is None else (points(mean.value), interval(mean.ci), str(mean.n))


def _score_rows(report: Report, names: Collection[str]) -> list[tuple[str, ...]]:
    return [
        (
            escaped(name),
            escaped(run.name),
            escaped(task.metric),
            "missing" if task.value is None else points(task.value),
            interval(task.ci),
            f"{task.n} x {task.k}",
            ", ".join(f"{status.replace('_', ' ')} {n}" for status, n in task.status_counts.items()),
        )
        for name in names
        for run in report.runs
        if (task := run.results.tasks.get(name))
    ]


def _looks(run: ReportedRun) -> list[str]:
    """Return the looks of an adaptive run, folded."""
    record = run.results.adaptive
    if record is None:
        return []
    text = adaptive_text(record)
    rows = [[escaped(cell) for cell in row] for row in look_rows(record)]
    others = [f"- {escaped(line)}" for part in text for line in part.splitlines() if ":" in line]
    return _folded(f"Looks of {escaped(run.name)}", [*_table(HEAD, rows, 0), "", *others])


def _likelihood_lines(report: Report) -> list[str]:
    return [
        "- " + escaped(f"{name}, {run.name}: {line}")
        for name in report.tasks
        for run in report.runs
        if (task := run.results.tasks.get(name)) and task.likelihood
        for line in likelihood_lines(task.likelihood)
    ]


def _judge_lines(report: Report) -> list[str]:
    return [
        "- " + escaped(f"{name}, {run.name}: {line}")
        for name in report.tasks
        for run in report.runs
        if (task := run.results.tasks.get(name)) and task.judge
        for line in judged_lines(task.judge)
    ]


def _published_table(report: Report) -> list[str]:
    rows = [
        (
            escaped(item.label),
            points(item.value),
            escaped(f"{item.model} ({item.of})"),
            escaped(f"{item.decoding}; {item.source}"),
        )
        for item in report.published
    ]
    return list(_table(("task", "value", "model", "decoding and source"), rows, 1))


def _health_table(report: Report) -> list[str]:
    head = ("task", "run", "always right", "never right", "nothing extracted", "doubtful references")
    rows = [
        (
            escaped(name),
            escaped(run.name),
            str(item.always_right),
            str(item.never_right),
            "-" if item.extraction_failure_rate is None else f"{points(item.extraction_failure_rate)}%",
            ", ".join(escaped(row.problem_id) for row in item.suspicious_references[:10]) or "none",
        )
        for run in report.runs
        for name, item in run.health.items()
    ]
    return list(_table(head, rows, 0))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: int) -> Iterator[str]:
    """Yield the lines of a pipe table. The `numbers` columns after the first contain numbers."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'|'.join('---' if not 0 < i <= numbers else '---:' for i in range(len(head)))}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _folded(title: str, lines: Sequence[str]) -> list[str]:
    return [f"<details><summary>{title}</summary>", "", *lines, "", "</details>", ""]
