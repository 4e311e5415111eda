"""A report as Markdown, fit for a comment on a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from genbench.reports.figures import interval, points
from genbench.reports.judged_text import judged_lines
from genbench.reports.lead import task_sentences
from genbench.reports.safe import one_line
from genbench.reports.why import signed

Record = Mapping[str, Any]
_SPECIAL = re.compile(r"[\\`*_\[\]<>|~#$&]|:(?=//)|(?<=www)\.")
_MENTION = re.compile(r"(?<!\w)@")


def markdown(report: Record) -> str:
    """The answer first, then a table, then what must be said; details folded."""
    lines = [f"### {escaped(report['lead'])}", "", *_notices(report)]
    compared = [item for item in report["comparisons"] if item["record"]]
    for item in compared:
        lines += [*_comparison_table(item), ""]
        lines += _folded("Why", [f"- {escaped(line)}" for line in task_sentences(item)])
    lines += _folded("Scores", _score_table(report)) if compared else [*_score_table(report), ""]
    judged = _judge_lines(report)
    lines += _folded("Judges", judged) if judged else []
    if report["published"]:
        lines += _folded("What others report", _published_table(report))
    lines += _folded("Health of the data", _health_table(report))
    paths = ", ".join(f"`{one_line(run['path'], 200).replace('`', '')}`" for run in report["runs"])
    return "\n".join([*lines, f"Points of 100; intervals of 95%. Runs: {paths}", ""])


def escaped(text: str) -> str:
    """Text that Markdown shows as it is: no markup, no mention, no link, no HTML, on one line."""
    plain = _SPECIAL.sub(lambda found: f"&#{ord(found.group())};", one_line(text, 600))
    return _MENTION.sub("@<!-- -->", plain)


def _notices(report: Record) -> list[str]:
    said = [f"{run['name']}: {line}" for run in report["runs"] for line in run["results"]["failed"]]
    said += [f"{run['name']}: {line}" for run in report["runs"] for line in run["results"]["warnings"]]
    for item in report["comparisons"]:
        said += item["record"].warnings if item["record"] else []
        said += (item["refused"] or "").splitlines()
    return [*(f"> {escaped(line)}" for line in said), ""] if said else []


def _comparison_table(item: Record) -> list[str]:
    head = ("task", escaped(item["base"]), escaped(item["tuned"]), "change", "95% CI", "verdict")
    rows = [
        (
            escaped(name),
            *(
                ("-", "-", "-", "-")
                if task.missing
                else (
                    points(task.base),
                    points(task.tuned),
                    signed(task.difference),
                    interval(task.ci),
                )
            ),
            task.verdict.replace("_", " ").lower() + ("" if task.gating else " (not gating)"),
        )
        for name, task in item["record"].tasks.items()
    ]
    return list(_table(head, rows, 4))


def _score_table(report: Record) -> list[str]:
    rows = [
        (
            escaped(name),
            escaped(run["name"]),
            escaped(task["metric"]),
            "missing" if task["value"] is None else points(task["value"]),
            interval(task["ci"]),
            f"{task['n']} x {task['k']}",
            ", ".join(f"{status.replace('_', ' ')} {n}" for status, n in task["status_counts"].items()),
        )
        for name in report["tasks"]
        for run in report["runs"]
        if (task := run["results"]["tasks"].get(name))
    ]
    return list(_table(("task", "run", "metric", "value", "95% CI", "n x k", "samples"), rows, 3))


def _judge_lines(report: Record) -> list[str]:
    return [
        "- " + escaped(f"{name}, {run['name']}: {line}")
        for name in report["tasks"]
        for run in report["runs"]
        if "judge" in (task := run["results"]["tasks"].get(name, {}))
        for line in judged_lines(task["judge"])
    ]


def _published_table(report: Record) -> list[str]:
    rows = [
        (
            escaped(item["task"]),
            points(item["value"]),
            escaped(f"{item['model']} ({item['of']})"),
            escaped(f"{item['decoding']}; {item['source']}"),
        )
        for item in report["published"]
    ]
    return list(_table(("task", "value", "model", "decoding and source"), rows, 1))


def _health_table(report: Record) -> list[str]:
    head = ("task", "run", "always right", "never right", "nothing extracted", "doubtful references")
    rows = [
        (
            escaped(name),
            escaped(run["name"]),
            str(item["always_right"]),
            str(item["never_right"]),
            "-" if item["extraction_failure_rate"] is None else f"{points(item['extraction_failure_rate'])}%",
            ", ".join(escaped(row["problem_id"]) for row in item["suspicious_references"][:10]) or "none",
        )
        for run in report["runs"]
        for name, item in run["health"].items()
    ]
    return list(_table(head, rows, 0))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: int) -> Iterator[str]:
    """A pipe table; the columns after the first ones hold numbers where `numbers` says so many do."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'|'.join('---' if not 0 < i <= numbers else '---:' for i in range(len(head)))}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _folded(title: str, lines: Sequence[str]) -> list[str]:
    return [f"<details><summary>{title}</summary>", "", *lines, "", "</details>", ""]
