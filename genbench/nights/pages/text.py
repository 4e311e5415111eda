"""A track for the terminal: its sentence, its changes, and a line for each task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from genbench.nights.trend.record import (
    AlarmBudget,
    BestCheckpoint,
    Trend,
    TrendChange,
    TrendColumns,
    TrendTask,
)
from genbench.nights.trend.sentence import change_words, state_words
from genbench.reports.numbers import interval, is_shown, points, signed
from genbench.reports.table import DETAILS, EVERYWHERE, MARKDOWN, PAGE, TERMINAL, Column, Table
from genbench.safetext.printable import printable

_BLOCKS = "▁▂▃▄▅▆▇█"
_GAP = "·"
_BREAK = "│"


def sparkline(values: Sequence[float | None], breaks: Sequence[bool] = (), width: int = 40) -> str:
    """Return one block for each of the newest `width` values, between the smallest and the largest of them.

    A value that is None becomes a dot. A line that never moves stays in the middle.

    Args:
        breaks: whether a new epoch begins at each value. A bar is put before it.
    """
    shown, marks = values[-width:], [*breaks, *[False] * (len(values) - len(breaks))][-width:]
    known = [value for value in shown if value is not None]
    if not known:
        return _GAP * len(shown)
    low, high = min(known), max(known)
    cells: list[str] = []
    for value, mark in zip(shown, marks, strict=True):
        cells.append(_BREAK if mark and cells else "")
        cells.append(_GAP if value is None else _block(value, low, high))
    return "".join(cells)


def _block(value: float, low: float, high: float) -> str:
    if high - low < 1e-9:
        return _BLOCKS[3]
    return _BLOCKS[min(len(_BLOCKS) - 1, int((value - low) / (high - low) * len(_BLOCKS)))]


def trend_text(trend: Trend) -> str:
    """Return the record as text. Scores and differences are in points of 100."""
    lines = [trend.sentence, ""]
    if trend.newest is not None:
        lines += [*_tasks(trend), "", *_changes(trend), *_best(trend), *_footer(trend)]
    lines += [f"not used: {line}" for line in trend.unused]
    lines += [f"edited: {line}" for line in trend.edited]
    return printable("\n".join(lines).rstrip())


def epoch_starts(columns: TrendColumns) -> list[bool]:
    """Return whether each point is the first of a new epoch."""
    pairs = zip((columns.epoch[:1] + columns.epoch)[: len(columns.epoch)], columns.epoch, strict=True)
    return [before != now for before, now in pairs]


def is_shown_by_difference(columns: TrendColumns) -> bool:
    """Return whether a task is drawn as its difference to the base. Otherwise its score is drawn."""
    known = [value for value in columns.value if value is not None]
    return sum(value is not None for value in columns.difference) * 2 >= len(known) > 0


def _tasks(trend: Trend) -> Iterator[str]:
    yield TASKS.text(trend.tasks)
    base = "no base is pinned" if trend.base is None else f"base: {trend.base.model} ({trend.base.label})"
    yield f"{base}. Trend: difference to the base; │ new terms, data or verifier, · no score."
    yield from epoch_words(trend)
    if noise := night_noise_words(trend):
        yield noise
    yield from (f"{task.task}: {part_words(task)}" for task in trend.tasks if task.parts)
    for task in trend.tasks:
        if task.moved_here_only and task.since_last is not None:
            yield (
                f"{task.task} moved {signed(task.since_last)} points since the last run on these questions. "
                "That it holds on others is not shown."
            )


_EPOCHS = 3
"""Starts of epochs that are named, the newest ones."""
_PARTS = {
    "verifier": "verifier",
    "judge": "judge",
    "version": "version of the task",
    "data": "data",
    "questions": "questions",
    "reasoning": "trace format",
}
"""Parts of a task's key in words. The others are decoding terms."""


def epoch_words(trend: Trend) -> Iterator[str]:
    """Yield what changed at the newest starts of epochs, and how to make earlier verdicts comparable."""
    for epoch in trend.epochs[:_EPOCHS]:
        what = ", ".join(dict.fromkeys(_PARTS.get(name, "decoding terms") for name in epoch.changed))
        edits = f" ({'; '.join(epoch.edits)})" if epoch.edits else ""
        yield f"{epoch.label}: other {what} than before: {_few(epoch.tasks)}{edits}"
    if any("verifier" in epoch.changed for epoch in trend.epochs[:_EPOCHS]):
        yield f"Verify the earlier answers by the present verifiers: genbench ledger rescore {trend.track}"


def _few(tasks: Sequence[str]) -> str:
    more = f" and {len(tasks) - _NOISY} more" if len(tasks) > _NOISY else ""
    return ", ".join(tasks[:_NOISY]) + more


_NOISY = 5
"""Tasks whose nights are named."""


def night_noise_words(trend: Trend) -> str | None:
    """Return how far the nights or checkpoints of each task move by themselves, None if none does."""
    noisy = [(task.night_noise, task.task) for task in trend.tasks if is_shown(task.night_noise)]
    if not noisy:
        return None
    shown = ", ".join(f"{name} ±{points(size)}" for size, name in noisy[:_NOISY])
    more = f" and {len(noisy) - _NOISY} more tasks" if len(noisy) > _NOISY else ""
    what = "Nights" if trend.kind == "night" else "Checkpoints"
    return f"{what} move by themselves, beyond their samples: {shown}{more} (points, standard deviation)."


def part_words(task: TrendTask) -> str:
    """Return the newest value of each named part of a task's score, with its course, or an empty text."""
    return ", ".join(f"{name} {_course(values)}" for name, values in task.parts.items())


def _noise(task: TrendTask) -> str:
    return "-" if task.night_noise is None else f"±{points(task.night_noise)}"


def _pair(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else interval((low, high))


def _half(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"±{points((high - low) / 2)}"


def _role(task: TrendTask) -> str:
    return "gating" if task.gating and task.tested else "watched" if task.tested else "too few problems"


def _named(task: TrendTask) -> str:
    return task.task + {"gating": "", "watched": " (watched)"}.get(_role(task), " (not tested)")


def _spark(task: TrendTask) -> str:
    columns = task.points
    line = columns.difference if is_shown_by_difference(columns) else columns.value
    return sparkline(line, epoch_starts(columns))


def _newest_ci(task: TrendTask) -> str:
    return _pair(task.points.ci_low[-1], task.points.ci_high[-1])


def _newest_rerun(task: TrendTask) -> str:
    return _half(task.points.rerun_low[-1], task.points.rerun_high[-1])


def _difference_ci(task: TrendTask) -> str:
    return _pair(task.points.difference_low[-1], task.points.difference_high[-1])


_COURSE = 12
"""Points of a course that are drawn in a cell."""


def _course(values: Sequence[float | None], *, share: bool = True) -> str:
    """Return the newest value with the course before it, if it moved, or a dash if none is known."""
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    newest = "-" if values[-1] is None else f"{points(values[-1])}%" if share else f"{values[-1]:,.0f}"
    moved = max(known) - min(known) > (0.005 if share else 0.5)
    return f"{sparkline(values, width=_COURSE)} {newest}" if moved else newest


TASKS = Table[TrendTask](
    Column("task", _named, shown=EVERYWHERE | DETAILS, page=lambda task: task.task),
    Column("trend", _spark, shown=TERMINAL),
    Column("now", lambda task: points(task.points.value[-1]), right=EVERYWHERE),
    Column("95% CI", _newest_ci, right=PAGE, shown=PAGE),
    Column("re-run", _newest_rerun, right=EVERYWHERE, shown=TERMINAL | MARKDOWN | DETAILS),
    Column("to base", lambda task: signed(task.points.difference[-1]), right=EVERYWHERE),
    Column("95% CI", _difference_ci, right=EVERYWHERE, label="95% CI to base"),
    Column(
        "since last",
        lambda task: signed(task.since_last),
        right=EVERYWHERE,
        page=lambda task: signed(task.since_last) + (" *" if task.moved_here_only else ""),
    ),
    Column("cut off", lambda task: _course(task.points.truncated_share), shown=PAGE),
    Column("loops", lambda task: _course(task.points.loops), shown=PAGE),
    Column("tokens", lambda task: _course(task.points.tokens, share=False), shown=PAGE),
    Column("own noise", _noise, right=PAGE, shown=DETAILS),
    Column("problems", lambda task: task.n, right=PAGE, shown=DETAILS),
    Column("alarms", _role, shown=PAGE),
)


def _changes(trend: Trend) -> Iterator[str]:
    for change in trend.changes[:10]:
        yield f"{state_words(change):<10} {change_words(change)}{_note(change)}"
        if change.state == "open":
            yield f"           {evidence_words(change)}"
            if change.cause is not None:
                yield f"           why: {change.cause.words}"
            yield f"           genbench trend {trend.track} --explain {change.id} --note WHY   (or --dismiss)"
    if len(trend.changes) > 10:
        yield f"and {len(trend.changes) - 10} older changes (--json has all)"
    if trend.changes:
        yield ""


def evidence_words(change: TrendChange) -> str:
    """Return how sure a change is, and where it may have begun."""
    began = ", ".join(run.label for run in change.suspects[:5]) or change.first.label
    more = f" and {len(change.suspects) - 5} more" if len(change.suspects) > 5 else ""
    return (
        f"z {change.z:.1f} (needed {change.threshold:.1f}), found on {change.found.label}; began on "
        f"{began}{more}. Size after search: somewhat too large on average."
    )


def _note(change: TrendChange) -> str:
    return f' ("{change.note}", {change.by})' if change.note else ""


def best_words(best: BestCheckpoint) -> str:
    """Return the best checkpoint of one task, and the newest against it and the one before."""
    text = (
        f"{best.task}: best {best.best.label} with {points(best.value)}; without the luck of the best of "
        f"{best.checkpoints}, {points(best.shrunk)} (luck of equal checkpoints: {points(best.luck)}). "
        f"{best.not_worse} {'other is' if best.not_worse == 1 else 'others are'} not shown to be worse."
    )
    for name, difference, bounds in (
        ("previous", best.difference_to_previous, best.previous_ci),
        ("best", best.difference_to_best, best.best_ci),
    ):
        if difference is not None:
            text += f" Newest minus {name}: {signed(difference)} {interval(bounds)}."
    return text


def _best(trend: Trend) -> Iterator[str]:
    yield from (best_words(best) for best in trend.best)
    if trend.best:
        yield ""


def budget_words(budget: AlarmBudget) -> str:
    """Return what the thresholds promise."""
    if budget.threshold is None:
        return "No gating task has the 20 problems that alarms need."
    count = f"{budget.alarms_per_year:g} false alarm{'' if budget.alarms_per_year == 1 else 's'} a year"
    text = f"Budget: {count} in {budget.series} gating series (z {budget.threshold:.2f})"
    if budget.watch_threshold is not None:
        text += f", as many in {budget.watched} watched ones (z {budget.watch_threshold:.2f})"
    return f"{text}."


def house_words(trend: Trend) -> str | None:
    """Return whether machine and engine moved, or None for a track that has no anchor."""
    anchor = trend.anchor
    due = f" Draw the base's model again: {anchor.due}." if anchor.due else ""
    if anchor.state == "not drawn" or anchor.run is None or anchor.difference is None:
        return due.strip() or None
    size = f"{signed(anchor.difference)} points, z {anchor.z:.1f}"
    return f"House: the base's model, drawn again on {anchor.run.label}, {anchor.state} ({size}).{due}"


def _footer(trend: Trend) -> Iterator[str]:
    yield budget_words(trend.budget)
    house = house_words(trend)
    if house:
        yield house
    if trend.missing:
        more = f" and {len(trend.missing) - 7} earlier ones" if len(trend.missing) > 7 else ""
        yield f"missing nights: {', '.join(trend.missing[-7:])}{more}"
    for note in trend.notes[-5:]:
        yield f"{note.label} {note.kind}: {note.text} ({note.by})"
