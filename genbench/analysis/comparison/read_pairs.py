"""How the answers of two compared runs were read, and the tasks in which one side has more guesses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import Field

from genbench.analysis.reading import GUESSED, ReadCounts, read_counts
from genbench.analysis.sides.side import SideTask
from genbench.json_record import DifferenceInterval, JsonRecord, Share, SignedShare
from genbench.stats.comparison.paired import paired
from genbench.stats.multiple_testing import holm

LEAST_CHANGE = 0.02
"""A smaller difference of the shares of guesses is not named. If all those answers were read wrongly on one
side only, the score would move by as much."""
_LEVEL = 0.05


class ReadPair(JsonRecord):
    """How the answers of both sides of a task were read, and the difference of the shares of guesses."""

    base: ReadCounts | None = Field(description="samples of base; null if its verdicts do not say it")
    tuned: ReadCounts | None = Field(description="samples of tuned; null if its verdicts do not say it")
    guesses_base: Share | None = Field(
        description="share of the samples of base whose answer was guessed or not found, mean over problems"
    )
    guesses_tuned: Share | None = Field(description="the same of tuned")
    difference: SignedShare | None = Field(description="tuned - base; null unless both sides say it")
    ci: DifferenceInterval | None = Field(description="95% interval of `difference` for new questions")
    p_two_sided: Share | None = Field(
        description="p value of no difference, paired by cluster of problems; null if the difference is "
        f"below {LEAST_CHANGE:g}, which is never tested"
    )
    p_adjusted: Share | None = Field(description="the same after Holm over the compared tasks")

    @property
    def differs(self) -> bool:
        """Whether the sides differ in their guesses by more than noise, and by enough to matter."""
        return self.p_adjusted is not None and self.p_adjusted < _LEVEL


def read_pairs(sides: Mapping[str, tuple[SideTask, SideTask]]) -> dict[str, ReadPair]:
    """Return how the answers of compared tasks were read. Tasks of which neither side says it have none."""
    found = {name: pair for name, own in sides.items() if (pair := _read_pair(*own)) is not None}
    both = [name for name, pair in found.items() if pair.difference is not None]
    tested = holm([_p_value(found[name]) for name in both])
    for name, p in zip(both, tested, strict=True):
        if found[name].p_two_sided is not None:
            found[name] = found[name].model_copy(update={"p_adjusted": p})
    return found


def _p_value(pair: ReadPair) -> float:
    return 1.0 if pair.p_two_sided is None else pair.p_two_sided


def _read_pair(base: SideTask, tuned: SideTask) -> ReadPair | None:
    counts = {"base": _counts(base), "tuned": _counts(tuned)}
    if counts["base"] is None and counts["tuned"] is None:
        return None
    unknown = ("guesses_base", "guesses_tuned", "difference", "ci", "p_two_sided", "p_adjusted")
    return ReadPair(**counts, **(dict.fromkeys(unknown) | _difference(base, tuned)))


def _difference(base: SideTask, tuned: SideTask) -> dict[str, Any]:
    """Return the fields of the paired difference of the shares of guesses, as far as they are known."""
    sides = [list(_guesses(task)) for task in (base, tuned)]
    if not all(any(value is not None for row in rows for value in row) for rows in sides):
        return {}
    found = paired(*sides, metric="avg@k", groups=base.groups or tuned.groups)
    known = {"guesses_base": found.base, "guesses_tuned": found.tuned, "difference": found.difference}
    if found.difference is None or abs(found.difference) < LEAST_CHANGE:
        return known | {"ci": found.ci}
    return known | {"ci": found.ci, "p_two_sided": found.p_two_sided}


def _counts(task: SideTask) -> ReadCounts | None:
    rows = task.readings or ()
    return read_counts(reading for row in rows for reading in row)


def _guesses(task: SideTask) -> Iterator[list[float | None]]:
    """Yield for each problem whether each answer was guessed or not found. None: it is not known."""
    for row in task.readings or ():
        yield [None if own in (None, "not recorded") else float(own in GUESSED) for own in row]


def reading_warnings(pairs: Mapping[str, ReadPair]) -> Iterator[str]:
    """Yield a line for each task whose answers are guessed much more often on one side."""
    for name, pair in pairs.items():
        if pair.differs and pair.guesses_base is not None and pair.guesses_tuned is not None:
            yield (
                f"{name}: {pair.guesses_base:.1%} of the answers of base were guessed or not found, "
                f"{pair.guesses_tuned:.1%} of tuned (p {pair.p_adjusted:.2g}): a part of the difference may "
                "be the form of the answers; verifier: {guess: off} counts no guess, {guess: judge} asks a "
                "judge"
            )
