"""How replies end as a measure of its own: the figures of a run, and their change between two runs.

The change of each share is tested by problem like a score. A comparison says of an unchanged model in at most
5 % of the cases that any share of any task moved (Holm).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from genbench.json_record import Count, DifferenceInterval, JsonRecord, Share, SignedShare
from genbench.stats.comparison.differences import difference_interval
from genbench.stats.comparison.exchange_test import exchange_law
from genbench.stats.comparison.sign_flip_test import sign_flip
from genbench.stats.multiple_testing import holm
from genbench.stats.resample import cluster
from genbench.stats.scores import Floats, Scores
from genbench.store.stopping import ENDINGS, Ending, StopCount
from genbench.types import FinishReason

ALPHA = 0.05
"""The chance that a comparison of an unchanged model says that replies end otherwise."""
LARGE = 0.25
"""A change that is told even if the questions are too few to prove it. It is told as not proven."""
_FEWEST_MOVED = 3


class LoopExample(JsonRecord):
    """One reply that ends in a loop."""

    problem_id: str = Field(description="problem of the sample")
    sample_index: Count = Field(description="number of the sample")
    turn: Count = Field(description="number of the reply, from 0")
    period: Count = Field(description="characters of the repeated unit, with numbers as one character")
    place: Count = Field(description="character of the reply at which the loop begins")
    times: Count = Field(description="repetitions, the first one included")


class StoppingRecord(JsonRecord):
    """How the replies of a task ended. A sample of several turns counts if any of its replies does."""

    samples: Count = Field(description="samples with a reply")
    cut_off: Count = Field(
        description="samples that max_tokens, a content filter or stop_on_loop cut off, right or wrong"
    )
    loops: Count = Field(description="samples that were cut off while they repeated themselves exactly")
    empty: Count = Field(description="samples with an empty reply")
    reasons: dict[FinishReason, Count] = Field(description="replies by finish reason")
    tokens: float | None = Field(description="mean completion tokens of a sample; null if not counted")
    cut_tokens: Count | None = Field(
        default=None,
        description="completion tokens of the replies that were cut off; null in an older record",
    )
    loop_tokens: Count = Field(description="completion tokens of the replies that are loops")
    period: Count | None = Field(description="median unit of the loops in characters; null without any")
    examples: tuple[LoopExample, ...] = Field(description="up to three loops, the longest ones")
    ended_loops: Count = Field(default=0, description="replies that stop_on_loop ended")
    saved_tokens: Count = Field(default=0, description="tokens that these lacked to their max_tokens")

    def share(self, ending: Ending) -> float:
        """Return the share of the samples that end so."""
        return getattr(self, ending) / self.samples if self.samples else 0.0

    @property
    def token_shares(self) -> tuple[float, float, float] | None:
        """Return the shares of the tokens in finished replies, cut-off ones and loops, or None if unknown."""
        total = (self.tokens or 0.0) * self.samples
        if self.cut_tokens is None or not total:
            return None
        cut = self.cut_tokens - self.loop_tokens
        return (total - self.cut_tokens) / total, cut / total, self.loop_tokens / total


def stopping_record(found: StopCount, completion_tokens: int | None) -> StoppingRecord | None:
    """Return the figures of a task, or None if nothing was drawn."""
    samples = found.samples
    if not samples:
        return None
    return StoppingRecord(
        samples=samples,
        **{name: found.count(name) for name in ENDINGS},
        reasons=dict(sorted(found.reasons.items())),
        tokens=None if completion_tokens is None else completion_tokens / samples,
        cut_tokens=found.cut_tokens,
        loop_tokens=found.loop_tokens,
        period=found.period,
        examples=tuple(
            LoopExample.from_object(
                item.loop, problem_id=item.problem_id, sample_index=item.sample_index, turn=item.turn
            )
            for item in found.longest
        ),
        ended_loops=found.ended,
        saved_tokens=found.saved,
    )


class ShareChange(JsonRecord):
    """The paired change of a share of the samples."""

    base: Share = Field(description="share of base")
    tuned: Share = Field(description="share of tuned")
    difference: SignedShare = Field(description="tuned - base, mean over problems")
    ci: DifferenceInterval = Field(description="95% interval for new questions of this kind")
    p: Share = Field(description="two-sided p value of no difference, by sign flips over problems")
    p_adjusted: Share = Field(description="the same, adjusted for all shares of all tasks (Holm)")
    is_shown: bool = Field(description="whether the change is proven, see docs/decide.md for the error")
    moved: Count = Field(description="problems whose share differs")

    @property
    def is_told(self) -> bool:
        """Return whether people are told: it is proven, or large."""
        return self.is_shown or (abs(self.difference) >= LARGE and self.moved >= _FEWEST_MOVED)


class StoppingChange(JsonRecord):
    """How the replies of a task end in two runs, over the problems of both."""

    samples: Count = Field(description="samples of tuned")
    cut_off: ShareChange = Field(description="samples that were cut off")
    loops: ShareChange = Field(description="samples that were cut off in a loop")
    empty: ShareChange = Field(description="samples with an empty reply")

    @property
    def is_worse(self) -> bool:
        """Return whether any share is told to have grown."""
        return any(self.of(name).is_told and self.of(name).difference > 0 for name in ENDINGS)

    def of(self, ending: Ending) -> ShareChange:
        """Return the change of one share."""
        found: ShareChange = getattr(self, ending)
        return found


Shares = Mapping[Ending, Sequence[float | None]]
"""By ending, the share of each problem's samples (n,), None for a problem without a reply."""


@dataclass(frozen=True, slots=True)
class SharePair:
    """The shares of one task in two runs, problem by problem, and how many samples tuned has.

    `ks` are the samples of each problem in base and in tuned, None if they are not known or are unequal.
    """

    base: Shares
    tuned: Shares
    groups: Sequence[str | None] | None
    samples: int
    ks: tuple[int, int] | None = None


def stopping_changes(pairs: Mapping[str, SharePair], level: float = ALPHA) -> dict[str, StoppingChange]:
    """Return the change of each task.

    Shares that no problem changes are not tests: by the sizes of the differences alone they cannot be shown.

    Args:
        level: the chance of telling any change of an unchanged model.
    """
    found = {
        (name, ending): change
        for name, pair in pairs.items()
        for ending in ENDINGS
        if (change := _change(pair, ending)) is not None
    }
    tested = [key for key, change in found.items() if change.moved]
    adjusted = holm([found[key].p for key in tested]) if tested else []
    for key, p in zip(tested, adjusted, strict=True):
        found[key] = found[key].model_copy(update={"p_adjusted": p, "is_shown": p <= level})
    return {
        name: StoppingChange(samples=pair.samples, **{ending: found[name, ending] for ending in ENDINGS})
        for name, pair in pairs.items()
        if all((name, ending) in found for ending in ENDINGS)
    }


def _change(pair: SharePair, ending: Ending) -> ShareChange | None:
    """Return the change of one share over the problems with a reply in both, or None if there are none."""
    base, tuned = (np.array(side[ending], dtype=np.float64) for side in (pair.base, pair.tuned))
    kept = ~(np.isnan(base) | np.isnan(tuned))
    if not kept.any():
        return None
    groups = None if pair.groups is None else [pair.groups[place] for place in np.flatnonzero(kept)]
    clusters = cluster((tuned - base)[kept], groups)
    p = min(1.0, sign_flip(clusters.totals).p_two_sided)
    if pair.ks is not None:
        law = exchange_law(*(_counted(side[kept], k) for side, k in zip((base, tuned), pair.ks, strict=True)))
        p = p if law is None else max(p, law.p_two_sided)
    return ShareChange(
        base=float(base[kept].mean()),
        tuned=float(tuned[kept].mean()),
        difference=clusters.mean,
        ci=difference_interval(clusters).bounds,
        p=p,
        p_adjusted=p,
        is_shown=False,
        moved=int((base[kept] != tuned[kept]).sum()),
    )


def _counted(shares: Floats, k: int) -> Scores:
    """Return samples of which these shares are 1."""
    values = (np.arange(k) < np.rint(shares * k)[:, None]).astype(np.float64)
    return Scores(values, np.full(len(shares), k, dtype=np.int64))


def stopping_words(change: StoppingChange, who: str = "tuned") -> Iterator[str]:
    """Yield a sentence on each share that is told to have moved, the cut-off ones first."""
    cut, loops, empty = change.cut_off, change.loops, change.empty
    if cut.is_told:
        share = f", {round(loops.tuned * change.samples)} of them loops" if loops.tuned > loops.base else ""
        yield f"{_cut_words(cut, who)}: {_numbers(cut, change.samples, 'cut off', share)}"
    if loops.is_told and not (cut.is_told and cut.difference * loops.difference > 0):
        more = "repeats itself more" if loops.difference > 0 else "repeats itself less"
        yield f"{who} {more}: {_numbers(loops, change.samples, 'end in a loop')}"
    if empty.is_told:
        more = "more" if empty.difference > 0 else "fewer"
        yield f"{who} gives {more} empty replies: {_numbers(empty, change.samples, 'empty')}"


def _cut_words(cut: ShareChange, who: str) -> str:
    if cut.difference < 0:
        return f"{who} ends more of its replies"
    return f"{who} no longer ends its replies" if cut.tuned >= 0.5 else f"{who} ends fewer of its replies"


def _numbers(change: ShareChange, samples: int, what: str, more: str = "") -> str:
    """Return `50 -> 100 % cut off (8 of 8), p 0.008`."""
    count = round(change.tuned * samples)
    shown = "" if change.is_shown else ", not proven by these questions"
    return (
        f"{100 * change.base:.0f} -> {100 * change.tuned:.0f} % {what} ({count:,} of {samples:,}{more}), "
        f"p {_p_text(change.p)}{shown}"
    )


def _p_text(p: float) -> str:
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"


def change_line(change: StoppingChange) -> str:
    """Return all shares of both runs in one line."""
    parts = (
        f"{name.replace('_', ' ')} {100 * one.base:.1f} -> {100 * one.tuned:.1f} % (p {_p_text(one.p)})"
        for name in ENDINGS
        if (one := change.of(name)).base or one.tuned
    )
    return ", ".join(parts) or "every reply ended by itself in both"
