"""The one sentence that says what happened on a track."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from genbench.analysis.records import Interval
from genbench.errors import InputError
from genbench.nights.trend.record import AnchorRecord, BestCheckpoint, MeanToBase, TrendChange, TrendTask
from genbench.nights.trend.rules import series_words

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


def night_words(position: int) -> str:
    """Return a night in words: its weekday and its date, since the newest run may be of last month."""
    return f"{EPOCH + timedelta(days=position):%A %Y-%m-%d}"


def sentence(
    *,
    kind: str,
    since: str,
    fresh: int,
    changes: Sequence[TrendChange],
    tasks: Sequence[TrendTask],
    mean: MeanToBase | None,
    off_base: Mapping[str, tuple[float, Interval]],
    anchor: AnchorRecord,
    missing: int,
    best: Sequence[BestCheckpoint] = (),
    endings: Sequence[str] = (),
) -> str:
    """Return what happened, in one line.

    Args:
        kind: "night" or "step".
        since: in words, when the time begins that is spoken of.
        fresh: runs since then.
        changes: open changes, and those that closed since then.
        mean: the newest run against the base, on average.
        off_base: the tasks that the newest run is shown to differ from the base in, see `off_base`.
        missing: nights without a run since then.
        endings: tasks whose replies end otherwise than those of the base, in words.
    """
    noun = "night" if kind == "night" else "checkpoint"
    clauses = [
        *_mean_clause(mean),
        *_change_clauses(changes),
        *_first(endings),
        *_off_clauses(off_base, mean, changes),
        *_held(tasks, changes),
        *_watch(changes),
        *_house(kind, anchor),
    ]
    if tasks and not any(task.gating and task.tested for task in tasks):
        clauses.append("no gating task has 20 problems, so nothing can raise an alarm")
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


def _first(endings: Sequence[str]) -> list[str]:
    """Return the first few of the tasks whose replies end otherwise, and how many more there are."""
    more = len(endings) - _NAMED
    return [*endings[:_NAMED], *([f"the same of {_counted(more, 'more task')}"] if more > 0 else [])]


def _mean_clause(mean: MeanToBase | None) -> list[str]:
    """Return how much better or worse than the base the newest run is on average, and how sure that is."""
    if mean is None:
        return []
    low, high = mean.ci
    word = (
        "better than the base" if low > 0 else "worse than the base" if high < 0 else "not told from the base"
    )
    average = " on average" if len(mean.tasks) > 1 else ""
    return [f"{word}{average}: {signed_points(mean.difference)} points {_bounds(mean.ci)}"]


def _off_clauses(
    off_base: Mapping[str, tuple[float, Interval]], mean: MeanToBase | None, changes: Sequence[TrendChange]
) -> list[str]:
    """Return the tasks that differ from the base without an open change, the worst first.

    The mean of one task says it already.
    """
    told = {change.task for change in changes if change.state == "open"}
    told |= set(mean.tasks) if mean is not None and len(mean.tasks) == 1 else set()
    others = sorted((size, name, ci) for name, (size, ci) in off_base.items() if name not in told)
    named = [
        f"{name} is {100 * abs(size):.1f} points {'below' if size < 0 else 'above'} the base {_bounds(ci)}"
        for size, name, ci in others[:_NAMED]
    ]
    more = len(others) - len(named)
    return named + ([f"{_counted(more, 'more task')} differ from the base"] if more else [])


def _held(tasks: Sequence[TrendTask], changes: Sequence[TrendChange]) -> list[str]:
    """Return how many tasks held: a change could be found and is not open, and the base is not excluded.

    A task whose interval to the base lies on one side of 0 may have moved before its track began.
    """
    moved = {change.task for change in changes if change.state == "open"}
    tested = [task for task in tasks if task.tested]
    searched = [task for task in tested if task.searched]
    held = sum(task.task not in moved and not _is_off(task) for task in searched)
    early = [] if len(searched) == len(tested) else [_early(len(tested) - len(searched), len(tested))]
    if not held:
        return early
    if held == len(tasks) > 1:
        return ["both tasks held" if held == 2 else f"all {held} tasks held"]
    return [f"{held} of {_counted(len(tasks), 'task')} held" if len(tasks) > 1 else "1 task held", *early]


def _early(few: int, tested: int) -> str:
    who = "" if few == tested else f" in {_counted(few, 'task')}"
    return f"changes are looked for{who} from the eighth run on"


def _is_off(task: TrendTask) -> bool:
    """Return whether the 95 % interval of the newest score to the base lies on one side of 0."""
    low, high = task.points.difference_low[-1:], task.points.difference_high[-1:]
    return bool(low and high and low[0] is not None and high[0] is not None and low[0] * high[0] > 0)


def signed_points(value: float) -> str:
    """Return a fraction of 1 in points with its sign. What rounds to 0 has none."""
    text = f"{100 * value:+.1f}"
    return text if float(text) else "0.0"


def _bounds(ci: Interval) -> str:
    return f"[{100 * ci[0]:.1f}, {100 * ci[1]:.1f}]"


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
    """Return the tasks on which the newest checkpoint is shown to be worse than the best, the worst first."""
    behind = [
        (item.difference_to_best, item.best_ci, item)
        for item in best
        if item.difference_to_best is not None and item.best_ci is not None and item.best_ci[1] < 0
    ]
    behind.sort(key=lambda found: found[0])
    named = [
        f"{100 * -size:.1f} points below {item.best.label} on {item.task} "
        f"[{-100 * ci[1]:.1f}, {-100 * ci[0]:.1f}]"
        for size, ci, item in behind[:_NAMED]
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
