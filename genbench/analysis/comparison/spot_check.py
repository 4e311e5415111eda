"""Stored answers that were verified again: their record, and what a comparison says of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, Protocol

from pydantic import Field

from genbench.analysis.comparison.comparability import Difference, settle
from genbench.analysis.sides.side import Side
from genbench.json_record import Count, JsonRecord


class RecheckedTask(JsonRecord):
    """A sample of one task's stored answers, verified again by today's verifier."""

    side: Literal["base", "tuned"] = Field(description="the side of the comparison")
    task: str = Field(description="the name of the task")
    verified: Count = Field(description="answers that were verified again")
    chosen: Count = Field(description="answers that were chosen; more than `verified` if time ran out")
    differing: Count = Field(description="answers whose stored verdict is not the one of today")
    examples: tuple[str, ...] = Field(description="the first differing verdicts, in words")
    unsettled: Count = Field(
        description="answers whose verdict depends on the machine (timeout, memory, a defect); not compared"
    )
    skipped: str | None = Field(description="why the task was not verified again; null if it was")


class Recheck(Protocol):
    """A function that verifies a sample of the stored answers of both sides again."""

    @property
    def samples(self) -> int:
        """The largest number of answers of one task and side."""
        ...

    def __call__(self, base: Side, tuned: Side) -> Sequence[RecheckedTask]:
        """Return what was found, task by task."""
        ...


def settle_recheck(found: Sequence[RecheckedTask], allow: Sequence[str], what: str) -> list[Difference]:
    """Return the tasks with differing verdicts that `allow` lets through.

    Args:
        found: the tasks that were verified again.
        allow: names of differences, or their first parts.
        what: the first line of the error.

    Raises:
        NotComparableError: verdicts of other tasks differ.
    """
    return settle(list(_differences(found)), allow, what)


def _differences(found: Sequence[RecheckedTask]) -> Iterator[Difference]:
    """Yield a difference for each task whose stored verdicts are not those that its verifier gives today."""
    for item in found:
        if item.differing:
            yield Difference(
                f"verdicts.{item.task}",
                f"{item.side}: {item.differing} of {item.verified} stored verdicts are not those that the "
                f"verifier gives today: {'; '.join(item.examples)}; to make all of them again, run: "
                "genbench score --again",
            )


def recheck_notes(found: Sequence[RecheckedTask]) -> Iterator[str]:
    """Yield how many answers of each side were verified again, and why tasks were left out."""
    for side in ("base", "tuned"):
        items = [item for item in found if item.side == side]
        done = [f"{item.task} {_count(item)}" for item in items if item.skipped is None]
        if done:
            yield f"stored answers verified again, {side}: {', '.join(done)}"
        reasons: dict[str, list[str]] = {}
        for item in items:
            if item.skipped is not None:
                reasons.setdefault(item.skipped, []).append(item.task)
        for why, names in reasons.items():
            yield f"not verified again, {side}: {', '.join(names)}: {why}"


def _count(item: RecheckedTask) -> str:
    of = "" if item.verified == item.chosen else f" of {item.chosen} (time ran out)"
    unsettled = f", {item.unsettled} not compared (timeout or defect)" if item.unsettled else ""
    return f"{item.verified}{of}{unsettled}"
