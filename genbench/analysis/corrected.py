"""Scores that labels of people correct: the records of them, and how a run's reviews are reached.

What people are asked, and how their labels correct scores, belongs to human review. Nothing of it is loaded
unless a run has reviews next to it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import numpy as np
from pydantic import Field

from genbench import registry
from genbench.analysis.records import Interval
from genbench.analysis.results.record import Results
from genbench.analysis.sides.side import Side, SideTask
from genbench.json_record import Count, DifferenceInterval, JsonRecord, Share, SignedShare
from genbench.stats.labels import tipping_point
from genbench.store.stored_run import StoredRun

FOLDER = "reviews"
"""The folder next to run folders that has their reviews."""


class Recall(JsonRecord):
    """How often the machine agrees on answers that people call right, or wrong."""

    share: Share | None = Field(description="share of them; null without any")
    ci: Interval | None = Field(description="95% interval (Wilson)")
    n: Count = Field(description="such answers")


class Agreement(JsonRecord):
    """Agreement beyond chance with its interval: Cohen's kappa of two, Krippendorff's alpha of more."""

    kappa: float | None = Field(description="null if one label is used throughout, or without items")
    ci: tuple[float, float] | None = Field(description="95% interval; null for less than 50 items")
    n: Count = Field(description="items that have several labels")


class ReviewedTask(JsonRecord):
    """A task whose score people corrected."""

    plan: str = Field(description="folder of the plan")
    n: Count = Field(description="problems with a label")
    reviewers: tuple[str, ...] = Field(description="who labelled")
    value: Share = Field(description="mean score by labels, and the machine's scores of all other problems")
    ci: Interval = Field(description="95% interval of `value`")
    labels: Share = Field(description="mean of the labels alone")
    labels_ci: Interval = Field(description="its 95% interval")
    machine: Share = Field(description="the machine's own mean score")
    weight: Share = Field(description="how much of the machine's scores is believed; 0: the labels alone")
    right: Recall = Field(description="on answers that people call right")
    wrong: Recall = Field(description="on answers that people call wrong")
    agreement: Agreement = Field(description="of people and machine")
    people: Agreement = Field(description="of the people among themselves, on items that several labelled")
    void: Count = Field(description="reviews of answers that were drawn again since")
    open: Count = Field(description="planned problems that nobody has labelled yet")


class ReviewedPair(JsonRecord):
    """The difference of two runs, corrected by labels of both."""

    n: Count = Field(description="problems of which both answers have a label")
    difference: SignedShare = Field(description="tuned minus base, corrected")
    ci: DifferenceInterval = Field(description="95% interval")
    p: Share = Field(description="two-sided p value of no difference")
    labels: SignedShare = Field(description="difference of the labels alone")
    labels_ci: DifferenceInterval = Field(description="its 95% interval")
    machine: SignedShare = Field(description="difference of the machine's scores")
    p_right: Share | None = Field(
        description="p value of equal errors on right answers (Fisher); null without"
    )
    p_wrong: Share | None = Field(description="the same on wrong answers; null without any")
    tipping: float | None = Field(
        description="how much more lenient to one side the machine must be to explain the difference "
        "by itself; null if nothing does"
    )

    @property
    def is_unequal(self) -> bool:
        """Whether the machine errs differently on the two sides."""
        return any(p is not None and p <= 0.05 for p in (self.p_right, self.p_wrong))

    @property
    def words(self) -> str:
        """The corrected difference in a line, in points of 100."""
        said = (
            f"corrected by labels of {self.n} problems: {100 * self.difference:+.1f} "
            f"[{100 * self.ci[0]:+.1f}, {100 * self.ci[1]:+.1f}], judge alone {100 * self.machine:+.1f}"
        )
        if not self.is_unequal:
            return said
        said += "; the judge errs differently on the two sides"
        if self.tipping is None:
            return said
        return f"{said}, and {100 * self.tipping:.1f} points more lenience to one explain what it sees"


class Reviews(Protocol):
    """What people said of stored runs. `registry.REVIEWS` names the class."""

    def damaged(self, run: Path) -> list[str]:
        """Return why folders of reviews next to a run cannot be read, a line each."""

    def tasks(self, run: StoredRun, results: Results | None) -> dict[str, ReviewedTask]:
        """Return the tasks of a run that people labelled. Only those are read."""

    def pair(self, base: Side, tuned: Side, task: str) -> ReviewedPair | None:
        """Return the difference of two runs of a task with the labels of both. None with too few labels."""


def reviews_next_to(*runs: Path) -> Reviews | None:
    """Return what reads the reviews of runs. None if none of the runs has any next to it."""
    if not any((run.resolve().parent / FOLDER).is_dir() for run in runs):
        return None
    found: Reviews = registry.load_object(registry.REVIEWS)()
    return found


def unexplained(base: SideTask, tuned: SideTask) -> float | None:
    """Return the lenience of a judge, right on all else, that explains a difference without labels."""
    means = [problem_means(task) for task in (base, tuned)]
    if not all(means):
        return None
    low, high = (float(np.mean(list(own.values()))) for own in means)
    found = tipping_point(low, high)
    return found if np.isfinite(found) and high != low else None


def problem_means(task: SideTask) -> dict[str, float]:
    """Return the mean score of each problem that has any."""
    rows = zip(task.problem_ids, task.scores, strict=True)
    scored = ((name, [score for score in row if score is not None]) for name, row in rows)
    return {name: float(np.mean(row)) for name, row in scored if row}
