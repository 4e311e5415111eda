"""A run for the terminal: its progress, its problems and its samples, also in columns with a second run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from genbench.analysis.budgets import BudgetDifference, BudgetPoint, Budgets
from genbench.analysis.corrected import reviews_next_to
from genbench.analysis.results.record import Results
from genbench.reports.browse import ProblemRow, SampleRow
from genbench.reports.figures import reviewed_words
from genbench.reports.numbers import interval, p_text, points, signed
from genbench.reports.table import TERMINAL, Column, Table
from genbench.runs.stored.status import RunProgress, RunsStatus, TaskProgress
from genbench.safetext.printable import one_line, printable
from genbench.store.stored_run import StoredRun

_TEXT_LIMIT = 4000
_FACT_LIMIT = 300
WIDE = 120
"""Columns of a terminal that is wide enough for two samples of 58 characters each."""
_GAP = 3


def task_text(rows: Sequence[ProblemRow]) -> Iterator[str]:
    """Yield one line for each problem, the hardest last."""
    width = max((len(one_line(row.problem_id)) for row in rows), default=0)
    for row in sorted(rows, key=lambda row: -(row.score if row.score is not None else -1)):
        answers = ", ".join(
            one_line(str(text), 20) if text is not None else "∅" for text in row.extracted[:8]
        )
        name = one_line(row.problem_id)
        yield f"{name:{width}}  {_score(row):>5}  {_counts(row)}  [{answers}]"


def task_pairs_text(pairs: Sequence[tuple[ProblemRow, ProblemRow | None]]) -> Iterator[str]:
    """Yield one line for each problem, with the results of both runs."""
    for first, second in pairs:
        counts = " | ".join(_counts(record) for record in (first, second) if record)
        yield f"{one_line(first.problem_id)}  {_score(first)} -> {_score(second)}  {counts}"


def samples_text(records: Iterable[SampleRow]) -> Iterator[str]:
    """Yield the parts of each sample: the verdict, then prompt and trace cut short, then the answer."""
    for record in records:
        yield from filter(None, _parts(record))


def sample_pairs_text(
    pairs: Sequence[tuple[SampleRow, SampleRow | None]], names: tuple[str, str], width: int
) -> Iterator[str]:
    """Yield each sample of two runs, in columns if `width` is enough and else one after the other."""
    for pair in pairs:
        parts = [_parts(record) if record else ["(not drawn)"] for record in pair]
        heads = [f"══ {one_line(name)}" for name in names]
        if width >= WIDE:
            yield _columns([heads, *zip_longest(*parts, fillvalue="")], width)
        else:
            for head, own in zip(heads, parts, strict=True):
                yield head
                yield from filter(None, own)


def _columns(rows: Sequence[Sequence[str]], width: int) -> str:
    """Return texts in columns. Texts of one row begin on one line. They are not read as markup."""
    half = (width - _GAP) // 2
    table = RichTable.grid(padding=(0, _GAP, 0, 0), pad_edge=False)
    for _ in range(2):
        table.add_column(width=half, overflow="fold")
    for row in rows:
        if any(row):
            table.add_row(*(Text(text, overflow="fold") for text in row))
    console = Console(width=width, no_color=True, highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def _parts(record: SampleRow) -> list[str]:
    """Return head, facts, prompt, trace and answer.

    A missing part is "", so that two samples stay aligned.
    """
    follows = record.turn and record.sent is not None and not record.begins_anew
    prompt = _cut("sent", record.sent) if follows else _cut("prompt", record.prompt)
    trace = _cut("trace", record.trace)
    return [_head(record), _facts(record), prompt, trace, _answer(record)]


def _head(record: SampleRow) -> str:
    score = "-" if record.score is None else f"{record.score:g}"
    turn = f", turn {record.turn + 1}" if record.turn else ""
    turn = ", ending" if record.is_ending else turn
    tokens = "" if record.completion_tokens is None else f", {record.completion_tokens} tokens"
    seconds = "" if record.seconds is None else f", {record.seconds:.1f} s"
    touched = ", touched history or network" if record.touched else ""
    return (
        f"── sample {record.sample_index}{turn}: {record.status or 'not verified'} (score {score}), "
        f"finish {record.finish_reason}{tokens}{seconds}, "
        f"trace {record.trace_status}{touched}"
    )


def _facts(record: SampleRow) -> str:
    facts: dict[str, Any] = {
        "extracted": record.extracted,
        "reference": record.reference,
        **(record.detail or {}),
    }
    failed = [f"{name} ({part:g})" for name, part in (record.parts or {}).items() if part < 1]
    if failed:
        facts["not met"] = ", ".join(failed)
    return "\n".join(
        f"{one_line(name)}: {one_line(_plain(value), _FACT_LIMIT)}"
        for name, value in facts.items()
        if value not in (None, "", [], {})
    )


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _cut(name: str, text: str | None) -> str:
    return f"{name} ({len(text):,} characters): {one_line(text, 400)}" if text else ""


def _answer(record: SampleRow) -> str:
    return f"answer:\n{printable(record.answer, _TEXT_LIMIT) or '(empty)'}"


def _score(record: ProblemRow | None) -> str:
    return points(record.score if record else None)


def _counts(record: ProblemRow) -> str:
    counts = {status: record.statuses.count(status) for status in dict.fromkeys(record.statuses)}
    return " ".join(f"{status} {count}" for status, count in counts.items())


def status_text(status: RunsStatus) -> str:
    """Return one block per run.

    It shows the process that writes it, its progress, and each task's samples and statuses.
    """
    return "\n\n".join(_run_text(run) for run in status.runs)


def _run_text(run: RunProgress) -> str:
    """Return the lines of one run."""
    return "\n".join([_progress_head(run), _rates(run), _PROGRESS.text(run.tasks.items(), indent="  ")])


def _progress_head(run: RunProgress) -> str:
    """Return the run's folder, model, state and writer."""
    shard = f", shard {run.shard}" if run.shard else ""
    why = f" by {run.stopped_by}" if run.state == "stopped" else ""
    state = f"{run.state}{why}, attempt {run.attempt}{_writer(run)}"
    return f"{run.path} ({run.model}{shard}): {state}"


def _writer(run: RunProgress) -> str:
    """Return the process that writes the run, and whether it is alive."""
    writer = run.writer
    if writer is None:
        return ""
    words = {True: "alive", False: "dead", None: "cannot be seen from here"}
    return f", pid {writer.pid} on {writer.host} since {writer.started} ({words[writer.alive]})"


def _rates(run: RunProgress) -> str:
    """Return how many samples are done, how fast, and how long the rest takes."""
    parts = [f"{run.done:,} of {run.total:,} samples drawn, {run.verified:,} verified"]
    if run.tokens_per_s:
        parts.append(f"{run.tokens_per_s:,.0f} tokens/s")
    if run.left_s is not None:
        parts.append(f"{_hours(run.left_s)} left")
    if run.updated:
        parts.append(f"as of {run.updated}")
    return ", ".join(parts)


def _hours(seconds: float) -> str:
    """Return a time as `H:MM h`, or as seconds if it is under an hour."""
    minutes = round(seconds / 60)
    return f"{minutes // 60}:{minutes % 60:02} h" if minutes >= 60 else f"{round(seconds)} s"


def _status_counts(statuses: Mapping[str, int]) -> str:
    return ", ".join(f"{status} {count}" for status, count in statuses.items())


_PROGRESS = Table[tuple[str, TaskProgress]](
    Column("task", lambda row: row[0]),
    Column("drawn", lambda row: f"{row[1].done}/{row[1].total}", right=TERMINAL),
    Column("statuses so far", lambda row: _status_counts(row[1].status_counts)),
)


_AT = Table[BudgetPoint](
    Column("budget", lambda item: f"{item.budget:,}", right=TERMINAL),
    Column("score", lambda item: _band(item.low, item.high), right=TERMINAL),
    Column("95% CI", lambda item: interval(item.ci)),
    Column("tokens", lambda item: f"{item.tokens:,.0f}", right=TERMINAL),
    Column("right per 1,000 tokens", lambda item: f"{item.right_per_thousand:.3f}", right=TERMINAL),
    Column("GPU s a right one", lambda item: _seconds(item.gpu_seconds), right=TERMINAL),
)
_TO_BASE = Table[BudgetDifference](
    Column("budget", lambda item: f"{item.budget:,}", right=TERMINAL),
    Column("to base", lambda item: signed(item.difference), right=TERMINAL),
    Column("95% CI", lambda item: interval(item.ci)),
    Column("p", lambda item: p_text(item.p), right=TERMINAL),
    Column("tokens to base", lambda item: f"{item.tokens:+,.0f}", right=TERMINAL),
    Column("front", lambda item: "-" if item.front == "none" else item.front),
    Column("between", lambda item: f"{signed(item.bounds[0])} and {signed(item.bounds[1])}"),
)


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _band(low: float, high: float) -> str:
    """Return a score, or both bounds if they are a point or more apart."""
    return points(low) if high - low < 0.01 else f"{points(low)} to {points(high)}"


def budgets_text(record: Budgets) -> str:
    """Return the scores by token budget as text, task by task."""
    parts: list[str] = []
    for name, task in record.tasks.items():
        if task.unknown:
            parts += [f"{name}: no budgets: {task.unknown}", ""]
            continue
        parts += [f"{name}:", _AT.text(task.points, indent="  ")]
        if task.residual is not None:
            parts.append(
                f"  GPU seconds: a model of the run's own times, off by {points(task.residual)} % a sample"
            )
        if task.differences:
            parts += [f"  {_headline(task.differences)}", _TO_BASE.text(task.differences, indent="  ")]
        parts.append("")
    parts += [
        "Score: points of 100 if replies had ended at the budget. Two numbers: answers that had begun count",
        "as wrong, or as they are at the end. Tokens: of a sample, cut at the budget. p: after Holm.",
        "Front: one side is better and cheaper, both beyond their intervals.",
    ]
    return printable("\n".join(parts))


def _headline(found: Sequence[BudgetDifference]) -> str:
    """Return the difference at the smallest and at the largest budget in words."""
    first, last = found[0], found[-1]
    middle = next((item for item in found if (item.difference < 0) != (last.difference < 0)), first)
    return f"at {middle.budget:,} tokens {_words(middle)}, at {last.budget:,} {_words(last)}"


def _words(item: BudgetDifference) -> str:
    side = "below" if item.difference < 0 else "above"
    low, high = sorted(abs(bound) for bound in item.ci)
    crosses = item.ci[0] < 0 < item.ci[1]
    bounds = interval(item.ci) if crosses else f"[{points(low)}, {points(high)}]"
    return f"{points(abs(item.difference))} {bounds} {side} base"


def reviewed_lines(run: Path, results: Results) -> Iterator[str]:
    """Yield a line for each task whose score labels of people correct, and for reviews that are damaged."""
    reviews = reviews_next_to(run)
    if reviews is None:
        return
    yield from reviews.damaged(run)
    for name, task in reviews.tasks(StoredRun(run), results).items():
        yield f"{name}: {reviewed_words(task)}"
