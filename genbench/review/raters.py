"""The people who review: how far they agree, how they click, and which model they prefer."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from genbench.analysis.corrected import Agreement
from genbench.analysis.rank import RankedModel, ranked_models
from genbench.analysis.records import Interval
from genbench.analysis.sides.side import Side
from genbench.json_record import Count, JsonRecord, Share
from genbench.review.reviews import ReviewFolder, ReviewItem
from genbench.stats.agreement import cohens_kappa
from genbench.stats.intervals import wilson
from genbench.stats.pairwise import Pair

_FAST_S = 3.0
"""Nobody reads a question and an answer in less, in the median."""
MOST_OF_ONE = 0.3
"""The share of the votes beyond which strengths are one person's taste."""


class Rater(JsonRecord):
    """One person who labels."""

    labels: Count = Field(description="labels in force, without final ones")
    final: Count = Field(description="final labels in force, which settle those of others")
    changed: Count = Field(description="items of which the person said one thing and later another")
    median_seconds: float | None = Field(description="median time on an item; null if none was measured")
    again: Count = Field(
        default=0, description="items that came back and were labelled a second time; absent if none were"
    )
    same: Share | None = Field(
        default=None, description="share of them with the same label as before; absent without any"
    )
    same_ci: Interval | None = Field(default=None, description="95% interval of `same` (Wilson)")
    fast: bool = Field(description="whether the median is below 3 seconds: clicked and not read")
    left: Share | None = Field(description="share of A among choices of A or B; null if nothing is compared")
    left_ci: Interval | None = Field(description="95% interval of `left` (Wilson); null without choices")


class RaterPair(JsonRecord):
    """Cohen's kappa of two people."""

    first: str = Field(description="one person")
    second: str = Field(description="the other person")
    kappa: float | None = Field(description="null if both use one label throughout")
    ci: tuple[float, float] | None = Field(description="95% interval; null for less than 50 items")
    agreement: Share = Field(description="share of equal labels")
    n: Count = Field(description="items that both labelled")


class Raters(JsonRecord):
    """The people of a plan."""

    raters: dict[str, Rater] = Field(description="by name")
    pairs: tuple[RaterPair, ...] = Field(description="each two people with an item in common")
    alpha: Agreement | None = Field(
        description="Krippendorff's alpha of all people; null with fewer than three, whose kappa says it"
    )
    left: Share | None = Field(description="share of A among all choices of A or B; null without any")
    left_ci: Interval | None = Field(description="its 95% interval (Wilson)")
    disputed: Count = Field(description="items whose labels differ and that nobody has settled")
    settled: Count = Field(description="items with a final label")


class Preferences(JsonRecord):
    """Which model people prefer: Bradley-Terry strengths of their choices."""

    models: tuple[RankedModel, ...] = Field(description="models, strongest first")
    reference: str | None = Field(description="the model at strength 0; null without choices")
    votes: Count = Field(description="choices and ties that count")
    problems: Count = Field(description="problems, which are clusters of the intervals, as people are")
    missing: str | None = Field(description="why there are no strengths; null if they are given")
    void: Count = Field(description="labels of answers that were drawn again since")
    largest_rater: str | None = Field(
        default=None, description="who gave most of the votes; absent without votes"
    )
    largest_share: Share | None = Field(default=None, description="share of the votes that this person gave")


def raters_of(place: ReviewFolder) -> Raters:
    """Return what is known of the people of a plan."""
    people = sorted({who for said in place.in_force.values() for who in said})
    lefts = _lefts(place)
    together = {item.item: place.independent(item.item) for item in place.plan.items}
    voters = {who for said in together.values() if len(said) > 1 for who in said}
    every = [side for own in lefts.values() for side in own]
    final = sum(any(line.final for line in said.values()) for said in place.in_force.values())
    return Raters(
        raters={who: _rater(place, who, lefts.get(who, [])) for who in people},
        pairs=tuple(_pairs(list(together.values()), people, place.plan.seed)),
        alpha=place.people if len(voters) > 2 else None,
        left=float(np.mean(every)) if every else None,
        left_ci=wilson(float(np.mean(every)), len(every)) if every else None,
        disputed=len(place.disputed),
        settled=final,
    )


def _rater(place: ReviewFolder, who: str, lefts: Sequence[bool]) -> Rater:
    own = [said[who] for said in place.in_force.values() if who in said]
    seconds = [line.seconds for line in own if line.seconds is not None]
    median = float(np.median(seconds)) if seconds else None
    ever = defaultdict[str, set[str]](set)
    for line in place.lines:
        if line.reviewer == who and line.label is not None and not line.again:
            ever[line.item].add(line.label)
    share = float(np.mean(lefts)) if lefts else None
    twice = [
        said[who].label == place.in_force[item][who].label
        for item, said in place.again.items()
        if who in said and who in place.in_force.get(item, {})
    ]
    same = float(np.mean(twice)) if twice else None
    back: dict[str, Any] = {}
    if same is not None:
        back = {"again": len(twice), "same": same, "same_ci": wilson(same, len(twice))}
    return Rater(
        **back,
        labels=sum(not line.final for line in own),
        final=sum(line.final for line in own),
        changed=sum(len(labels) > 1 for labels in ever.values()),
        median_seconds=median,
        fast=median is not None and median < _FAST_S,
        left=share,
        left_ci=None if share is None else wilson(share, len(lefts)),
    )


def _lefts(place: ReviewFolder) -> dict[str, list[bool]]:
    """Return for each person whether A was chosen, of each choice that is not a tie."""
    found = defaultdict[str, list[bool]](list)
    pairs = (item for item in place.plan.items if item.against is not None)
    for item in pairs:
        for who, label in place.independent(item.item).items():
            score = place.plan.labels[label]
            if score != 0.5:
                found[who].append(score > 0.5)
    return found


def _pairs(items: Sequence[dict[str, str]], people: Sequence[str], seed: int) -> Iterator[RaterPair]:
    for first, second in combinations(people, 2):
        both = [said for said in items if first in said and second in said]
        if both:
            found = cohens_kappa([said[first] for said in both], [said[second] for said in both], seed=seed)
            yield RaterPair(
                first=first,
                second=second,
                kappa=found.value,
                ci=found.ci,
                agreement=found.agreement,
                n=found.n,
            )


def preferences_of(place: ReviewFolder, sides: Sequence[Side]) -> Preferences:
    """Return the strengths of the models of a plan of pairs. A final label counts instead of others.

    Intervals are clustered by problem, or by person if that makes them wider: one person's taste is one
    opinion, however often it is given.

    Args:
        sides: the runs of the plan, in its order.
    """
    names = _names([run.model for run in place.plan.runs], [run.path for run in place.plan.runs])
    by_problem, by_person, void = list[Pair](), list[Pair](), 0
    for item in place.plan.items:
        said = place.in_force.get(item.item, {})
        if is_void(item, place, sides):
            void += len(said)
            continue
        final = {who: line for who, line in said.items() if line.final}
        for who, line in (final or said).items():
            score = place.plan.labels[str(line.label)]
            outcome = 0.5 if score == 0.5 else float(score > 0.5)
            left, right = names[item.run], names[item.against or 0]
            by_problem.append(Pair(left, right, outcome, item.problem_id))
            by_person.append(Pair(left, right, outcome, who))
    if not by_problem:
        return Preferences(
            models=(), reference=None, votes=0, problems=0, missing="nobody has chosen yet", void=void
        )
    present = {name for pair in by_problem for name in (pair.first, pair.second)}
    reference = next(name for name in names if name in present)
    models, missing = ranked_models(by_problem, reference)
    if missing is None:
        others = {model.name: model for model in ranked_models(by_person, reference)[0]}
        models = [max(model, others[model.name], key=lambda own: own.se or 0.0) for model in models]
    problems = len({pair.problem for pair in by_problem})
    (largest, most), *_ = Counter(pair.problem for pair in by_person).most_common(1)
    return Preferences(
        largest_rater=largest,
        largest_share=most / len(by_person),
        models=tuple(models),
        reference=reference,
        votes=len(by_problem),
        problems=problems,
        missing=missing,
        void=void,
    )


def is_void(item: ReviewItem, place: ReviewFolder, sides: Sequence[Side]) -> bool:
    """Return whether an answer of an item was drawn again since the plan was made, or is gone."""
    shown = [(item.run, item.text)]
    if item.against is not None:
        shown.append((item.against, str(item.against_text)))
    for run, text in shown:
        task = sides[run].tasks.get(place.plan.task)
        now = (
            None
            if task is None or task.index is None
            else task.index.texts.get((item.problem_id, item.sample_index))
        )
        if now is None or f"{now:016x}" != text:
            return True
    return False


def _names(models: Sequence[str], paths: Sequence[str]) -> list[str]:
    """Return a name of each run: its model, with its folder if two models have one name."""
    if len(set(models)) == len(models):
        return list(models)
    short = ["/".join(Path(path).parts[-2:]) for path in paths]
    return short if len(set(short)) == len(short) else list(paths)
