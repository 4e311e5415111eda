"""The one sentence that says what happened on a track."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

from genbench.errors import InputError
from genbench.trend.record import AnchorRecord, BestCheckpoint, TrendChange, TrendTask
from genbench.trend.rules import series_words

EPOCH = date(1970, 1, 1)
_FRIDAY = 4
_NAMED = 2
"""At most so many changes are named. More are counted."""


def since_position(kind: str, newest: int, asked: int | None, previous: int | None) -> int:
    """Return the first position that the sentence speaks of.

    It is `asked` if given. For nights it is otherwise the night of the last Friday before the newest night.
    For steps it is the previous checkpoint, or the newest if there is none.
    """
    if asked is not None:
        return asked
    if kind != "night":
        return newest if previous is None else previous
    night = EPOCH + timedelta(days=newest)
    back = (night.weekday() - _FRIDAY) % 7 or 7
    return newest - back


def parse_since(kind: str, text: str) -> int:
    """Return the position of a night (YYYY-MM-DD) or step that a user wrote.

    Raises:
        InputError: it is neither.
    """
    try:
        return (date.fromisoformat(text) - EPOCH).days if kind == "night" else int(text)
    except ValueError:
        wanted = "a night as YYYY-MM-DD" if kind == "night" else "a step as a number"
        raise InputError(f"--since {text}: wanted {wanted}") from None


def night_words(position: int, newest: int) -> str:
    """Return a night in words: its weekday in the week before the newest night, otherwise its date."""
    night = EPOCH + timedelta(days=position)
    return f"{night:%A}" if 0 <= newest - position < 7 else night.isoformat()


def sentence(
    *,
    kind: str,
    since: str,
    fresh: int,
    changes: Sequence[TrendChange],
    tasks: Sequence[TrendTask],
    anchor: AnchorRecord,
    missing: int,
    best: Sequence[BestCheckpoint] = (),
) -> str:
    """Return what happened, in one line.

    Args:
        kind: "night" or "step".
        since: in words, when the time begins that is spoken of.
        fresh: runs since then.
        changes: open changes, and those that closed since then.
        missing: nights without a run since then.
    """
    noun = "night" if kind == "night" else "checkpoint"
    clauses = [*_change_clauses(changes), *_held(tasks, changes), *_watch(changes), *_house(kind, anchor)]
    if tasks and not any(task.gating and task.tested for task in tasks):
        clauses.append("no task gates, so nothing can raise an alarm")
    if missing:
        clauses.append(f"{_counted(missing, 'night')} {'is' if missing == 1 else 'are'} missing")
    clauses += [*_behind_best(best), *(_best_clause(item) for item in best[:1])]
    head = f"{_counted(fresh, noun)} since {since}"
    return f"{head}: {'; '.join(clauses)}." if clauses else f"{head}."


def change_words(change: TrendChange) -> str:
    """Return one change: what moved, how far, since when, and what has become of it."""
    what = series_words(change.task)
    verb = "fell" if change.direction == "drop" else "rose"
    low, high = sorted(100 * abs(bound) for bound in change.ci)
    signed = f"[{low:.1f}, {high:.1f}]" if change.ci[0] * change.ci[1] > 0 else f"[-{low:.1f}, {high:.1f}]"
    size = f"{100 * abs(change.size):.1f} points {signed}"
    text = f"{what} {verb} {size} with {change.first.model} ({change.first.label})"
    if change.house:
        return f"{text}, and so did the base's model: the house moved"
    if change.state == "open":
        return f"{text}, not recovered" if change.direction == "drop" else text
    when = f" on {change.closed.label}" if change.closed else ""
    closing = "mended" if change.direction == "drop" else "lost again"
    return f"{text}, {closing if change.state == 'recovered' else change.state}{when}"


def state_words(change: TrendChange) -> str:
    """Return the state of a change in words. A drop recovers, and a rise ends."""
    return "ended" if change.state == "recovered" and change.direction == "rise" else change.state


def _change_clauses(changes: Sequence[TrendChange]) -> list[str]:
    ours = [change for change in changes if change.gating]
    drops = [change for change in ours if change.direction == "drop"]
    ordered = drops + [change for change in ours if change.direction == "rise"]
    named = [change_words(change) for change in ordered[:_NAMED]]
    more = len(ordered) - len(named)
    return named + ([f"{_counted(more, 'more change')}"] if more else [])


def _held(tasks: Sequence[TrendTask], changes: Sequence[TrendChange]) -> list[str]:
    moved = {change.task for change in changes if change.state == "open"}
    held = sum(task.tested and task.task not in moved for task in tasks)
    if not held:
        return []
    if not moved and not changes and held > 1:
        return ["both tasks held" if held == 2 else f"all {held} tasks held"]
    return [f"{_counted(held, 'task')} held"]


def _watch(changes: Sequence[TrendChange]) -> list[str]:
    names = sorted({change.task or "" for change in changes if not change.gating and change.state == "open"})
    if not names:
        return []
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return [f"on the watch list: {shown}"]


def _house(kind: str, anchor: AnchorRecord) -> list[str]:
    if kind != "night":
        return []
    if anchor.state == "not drawn":
        return ["the house was not measured"] if anchor.due else []
    return ["the house did not move" if anchor.state == "held" else "the house moved"]


def _behind_best(best: Sequence[BestCheckpoint]) -> list[str]:
    """Return the tasks on which the newest checkpoint is shown to be worse than the best, the worst first.

    The best one was chosen for its score, so a difference that this luck explains is left out.
    """
    behind = [
        (item.difference_to_best, item)
        for item in best
        if item.difference_to_best is not None
        and item.best_ci is not None
        and item.best_ci[1] < 0
        and -item.difference_to_best > item.luck
    ]
    behind.sort(key=lambda pair: pair[0])
    named = [
        f"{100 * -difference:.1f} points below {item.best.label} on {item.task} "
        f"[{-100 * item.best_ci[1]:.1f}, {-100 * item.best_ci[0]:.1f}]"
        for difference, item in behind[:_NAMED]
        if item.best_ci is not None
    ]
    more = f" and below the best on {len(behind) - _NAMED} more" if len(behind) > _NAMED else ""
    return [f"the newest is {', '.join(named)}{more}"] if named else []


def _best_clause(best: BestCheckpoint) -> str:
    return (
        f"best on {best.task}: {best.best.label} with {100 * best.value:.1f}, "
        f"{100 * best.shrunk:.1f} without the luck of the best of {best.checkpoints}"
    )


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")
