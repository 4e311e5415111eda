"""Agreement of a measured score with a published one, by the interval of their difference."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

from pydantic import Field
from scipy.special import ndtri

from genbench.analysis.records import Count, Interval, Share
from genbench.analysis.results_record import Results, TaskResults
from genbench.stats.intervals import LEVEL
from genbench.store.jsonrecord import JsonRecord
from genbench.store.manifest_record import PublishedRecord

State = Literal["agrees", "differs", "not yet run"]


class ParityRecord(JsonRecord):
    """One published score of a model, next to the measured one if there is one."""

    model: str = Field(description="the model's name in the suite")
    task: str = Field(description="the task")
    protocol: str = Field(description="whose words, exemplars and extraction are used")
    published: Share = Field(description="what the source reports")
    source: str = Field(description="source of the score")
    decoding: str = Field(description="how the source drew its samples")
    n: Count | None = Field(description="problems of the source; null if it does not say")
    k: Count | None = Field(description="samples of each problem of the source; null if it does not say")
    measured: Share | None = Field(description="score of the run; null if nothing was run")
    difference: float | None = Field(description="measured less published")
    ci: Interval | None = Field(description="95% interval of the difference")
    state: State = Field(description="whether the interval of the difference contains zero")


class ParityReport(JsonRecord):
    """Published scores next to measured ones."""

    scores: tuple[ParityRecord, ...] = Field(description="one entry for each published score")


def run_agreement(results: Results, protocols: dict[str, str]) -> Iterator[ParityRecord]:
    """Yield the published scores of the model of a run, next to the measured ones.

    Scores of another model, which a report only shows for orientation, are left out.

    Args:
        protocols: the protocol of each task.
    """
    for name, task in results.tasks.items():
        for score in task.published:
            if score.of == "this model":
                yield agreement(results.model, name, protocols.get(name, "genbench"), task, score)


def agreement(
    model: str, name: str, protocol: str, task: TaskResults, published: PublishedRecord
) -> ParityRecord:
    """Return a published score next to the measured one of the same model.

    Both runs drew from one model. On the same problems they differ by the draws, so the variance of the
    difference is that of the measured score between re-runs, and as much of the source by its own number of
    draws. With other problems the variance between problems is added on both sides. A source that does not
    say its k is taken to have drawn once.
    """
    known = {
        "model": model,
        "task": name,
        "protocol": protocol,
        "published": published.value,
        "source": published.source,
        "decoding": published.decoding,
        "n": published.n,
        "k": published.k,
    }
    if task.value is None:
        return ParityRecord(**known, measured=None, difference=None, ci=None, state="not yet run")
    z = float(ndtri((1 + LEVEL) / 2))
    difference = task.value - published.value
    half = z * math.sqrt(_variance(task, published.n or task.n, published.k or 1, z))
    bounds = (difference - half, difference + half)
    state: State = "agrees" if bounds[0] <= 0 <= bounds[1] else "differs"
    return ParityRecord(**known, measured=task.value, difference=difference, ci=bounds, state=state)


def _variance(task: TaskResults, n: int, k: int, z: float) -> float:
    """Return the variance of the difference between the measured score and one of n problems by k samples."""
    assert task.value is not None
    if task.rerun_ci is not None:
        own = ((task.rerun_ci[1] - task.rerun_ci[0]) / (2 * z)) ** 2
    else:  # one sample of each problem: p(1-p) is the largest variance of a draw
        own = task.value * (1 - task.value) / (task.n * task.k)
    variance = own + own * task.n * task.k / (n * k)
    if n != task.n and task.se is not None:
        variance += task.se**2 * (1 + task.n / n)
    return variance
