"""Drift: how much less probability a variant gives the stored replies of its base."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import Field

from genbench.analysis.sides.side import Side
from genbench.json_record import Count, JsonRecord, Share
from genbench.safetext.printable import one_line
from genbench.stats.ratios import Ratio, ratio_bounds
from genbench.stats.resample import derive_seed
from genbench.store.reply_scores import ReplyKey, ReplyLine, ReplyScores, all_scores, of_model
from genbench.store.stored_run import StoredRun

_PLACES = (0, 32, 128, 512, 2048)
"""Tokens of a reply at which the parts of the curve begin. The last one has no end."""
PARTED = 1.0
"""A token at which the variant gives less than 1/e of the probability: there the two part."""
_EXAMPLES, _BEFORE = 3, 60


class Loss(JsonRecord):
    """A mean loss of log-probability."""

    loss: float = Field(description="nats a token that the variant gives less than base")
    ci: tuple[float, float] | None = Field(description="95% interval over problems; null for a single one")
    tokens: Count = Field(description="tokens that both scored")
    replies: Count = Field(description="replies that have any of them")


class PlaceLoss(Loss):
    """The loss in one part of the replies."""

    begin: Count = Field(description="first token of the part")
    end: Count | None = Field(description="first token after it; null if it has no end")


class Parting(JsonRecord):
    """The first token of a reply at which the two part."""

    task: str = Field(description="task of the reply")
    problem_id: str = Field(description="its problem")
    token: Count = Field(description="number of the token, from 0")
    before: str = Field(description="the text before it")
    text: str = Field(description="its text")
    base: Share = Field(description="probability that base gives it")
    variant: Share = Field(description="probability that the variant gives it")


class ScaleStep(Loss):
    """The loss of a model whose difference is known."""

    label: str = Field(description="what it differs in")


class Drift(Loss):
    """The drift of a variant. It is evidence of harm, never of a gain, and it is not a score."""

    moved: float = Field(description="mean size of the change of a token's log-probability, in nats")
    tasks: dict[str, Loss] = Field(description="by task")
    curve: tuple[PlaceLoss, ...] = Field(description="by place in the reply")
    parted: Share = Field(
        description="share of the replies with a token to which the variant gives less than 1/e of the "
        "probability that base gives"
    )
    median_place: float | None = Field(description="median number of the first such token; null without any")
    partings: tuple[Parting, ...] = Field(description="up to three of them, the largest ones")
    left_out: Count = Field(description="replies that only one of the two scored, or under other token ids")
    retokenized: Count = Field(
        description="scored replies whose text gives another number of tokens than were drawn"
    )
    scale: tuple[ScaleStep, ...] = Field(
        description="losses of models whose difference is known, smallest first"
    )

    @property
    def is_shown(self) -> bool:
        """Whether a loss is shown: the interval is above 0."""
        return self.ci is not None and self.ci[0] > 0

    @property
    def grows(self) -> bool:
        """Whether the loss at the end of the replies is shown to be larger than at their beginning."""
        ends = [part.ci for part in (self.curve[:1] + self.curve[1:][-1:]) if part.ci is not None]
        return len(ends) == 2 and ends[1][0] > ends[0][1]

    @property
    def between(self) -> tuple[ScaleStep | None, ScaleStep | None]:
        """The largest step of the scale below the loss, and the smallest one above it."""
        below = [step for step in self.scale if step.loss <= self.loss]
        above = [step for step in self.scale if step.loss > self.loss]
        return (below[-1] if below else None), (above[0] if above else None)


def drift_of(base: Side, tuned: Side) -> Drift | None:
    """Return the drift of tuned from base, or None if the replies of base were not scored under both.

    Raises:
        RunFolderError: a file of scores is damaged.
    """
    if base.manifest is None or tuned.manifest is None:
        return None
    stored = list(all_scores(base.path))
    own = of_model(stored, base.manifest.model_identity, base.manifest.terms)
    theirs = of_model(stored, tuned.manifest.model_identity, tuned.manifest.terms)
    if own is None or theirs is None or own is theirs:
        return None
    return drift_between(base.path, own, theirs, stored)


def drift_between(
    run: Path, base: ReplyScores, variant: ReplyScores, stored: Sequence[ReplyScores] = ()
) -> Drift | None:
    """Return the drift of one model's scores of the replies of a run from another's. None: none in common.

    Args:
        run: the run of the replies, whose texts are read for the examples.
        stored: all scores of the run. Those with a name in the scale become its steps.
    """
    pairs = _pairs(base, variant)
    if not pairs:
        return None
    size = [float(np.abs(one.change).sum()) for one in pairs]
    first = {one.key: place for one in pairs if (place := one.parting) is not None}
    steps = [
        ScaleStep(label=step.scorer.scale, **_loss(found, f"scale {step.scorer.scale}").to_json())
        for step in stored
        if step.scorer.scale
        and step.scorer != variant.scorer
        and (found := _pairs(base, step, {one.key for one in pairs}))
    ]
    return Drift(
        **_loss(pairs, "drift").to_json(),
        moved=sum(size) / sum(len(one.change) for one in pairs),
        tasks={
            task: _loss([one for one in pairs if one.key[0] == task], task)
            for task in dict.fromkeys(one.key[0] for one in pairs)
        },
        curve=tuple(_curve(pairs)),
        parted=len(first) / len(pairs),
        median_place=float(np.median(list(first.values()))) if first else None,
        partings=tuple(_partings(run, pairs, first)),
        left_out=len(base.lines.keys() | variant.lines.keys()) - len(pairs),
        retokenized=sum(not one.base.as_drawn for one in pairs),
        scale=tuple(sorted(steps, key=lambda step: step.loss)),
    )


@dataclass(frozen=True, slots=True)
class _Pair:
    """One reply as both models score it. `change` is what the variant gives less, by token."""

    base: ReplyLine
    variant: ReplyLine
    change: np.ndarray

    @property
    def key(self) -> ReplyKey:
        return self.base.task, self.base.problem_id, self.base.sample_index

    @property
    def parting(self) -> int | None:
        """The first token at which the two part."""
        places = np.flatnonzero(self.change > PARTED)
        return int(places[0]) if len(places) else None

    def part(self, begin: int, end: int | None) -> _Pair:
        return _Pair(self.base, self.variant, self.change[begin:end])


def _pairs(base: ReplyScores, variant: ReplyScores, only: set[ReplyKey] | None = None) -> list[_Pair]:
    """Return the replies that both scored under the same token ids, in the order of base's file."""
    found = []
    for key, own in sorted(base.lines.items()):
        theirs = variant.lines.get(key)
        if theirs is not None and theirs.ids == own.ids and (only is None or key in only):
            found.append(_Pair(own, theirs, np.array(own.logprobs) - np.array(theirs.logprobs)))
    return found


def _loss(pairs: Sequence[_Pair], name: str) -> Loss:
    """Return the mean loss a token over replies, whose problems are resampled together."""
    sums = Ratio(
        np.array([float(one.change.sum()) for one in pairs]),
        np.array([float(len(one.change)) for one in pairs]),
    )
    problems = [f"{one.key[0]}/{one.key[1]}" for one in pairs]
    found = ratio_bounds(sums, problems, lambda value: value, seed=derive_seed("drift", name))
    return Loss(loss=found.value, ci=found.ci, tokens=int(sums.units.sum()), replies=len(pairs))


def _curve(pairs: Sequence[_Pair]) -> Iterator[PlaceLoss]:
    """Yield the loss by place in the reply, as far as replies go."""
    for begin, end in zip(_PLACES, (*_PLACES[1:], None), strict=True):
        parts = [part for one in pairs if len((part := one.part(begin, end)).change)]
        if parts:
            yield PlaceLoss(**_loss(parts, f"place {begin}").to_json(), begin=begin, end=end)


def _partings(run: Path, pairs: Sequence[_Pair], first: Mapping[ReplyKey, int]) -> Iterator[Parting]:
    """Yield the first places of those replies whose variant loses most there."""
    parted = [one for one in pairs if one.key in first and _has_text(one, first[one.key])]
    largest = sorted(parted, key=lambda one: -float(one.change[first[one.key]]))[:_EXAMPLES]
    texts = _texts(run, {one.key for one in largest})
    for one in largest:
        place, text = first[one.key], texts.get(one.key, "")
        start = one.base.ends[place - 1] if place else 0
        end = one.base.ends[place]
        yield Parting(
            task=one.key[0],
            problem_id=one.key[1],
            token=place,
            before=one_line(text[max(0, start - _BEFORE) : start], _BEFORE),
            text=one_line(text[start:end], _BEFORE) or "(end of the reply)",
            base=math.exp(min(0.0, one.base.logprobs[place])),
            variant=math.exp(min(0.0, one.variant.logprobs[place])),
        )


def _has_text(one: _Pair, place: int) -> bool:
    """Tell whether the text of a token is known. A slow tokenizer gives none, and its ends are 0."""
    ends = one.base.ends
    return ends[place] > 0 and (place == 0 or ends[place - 1] > 0)


def _texts(run: Path, keys: set[ReplyKey]) -> dict[ReplyKey, str]:
    """Return the stored texts of these replies."""
    stored, found = StoredRun(run), dict[ReplyKey, str]()
    for task in {key[0] for key in keys}:
        for item in stored.task(task).all_completions():
            key = (task, item.sample.problem_id, item.sample.sample_index)
            if key in keys and item.turn == 0:
                found[key] = item.text
    return found
