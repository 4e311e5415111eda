"""The tokens and hours that a run will take, estimated before it starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from genbench.tasks.loaded import LoadedTask

DEFAULT_SPEED = 5_000.0
"""Completion tokens per second of a small model on one GPU. It is assumed, not measured on this machine."""
DEFAULT_MEAN_TOKENS = 4_000
"""Completion tokens of one sample of a small reasoning model. A longer limit does not make answers longer."""


@dataclass(frozen=True, slots=True)
class CostAssumptions:
    """What an estimate of a run's time rests on.

    `speed` is completion tokens per second over all requests. `mean_tokens` is the completion tokens of one
    sample, at most the task's `max_tokens`.
    """

    speed: float = DEFAULT_SPEED
    mean_tokens: int = DEFAULT_MEAN_TOKENS

    @classmethod
    def given(cls, speed: float | None, mean_tokens: int | None) -> CostAssumptions:
        """Return the assumptions of a command. None is the default."""
        return cls(speed or DEFAULT_SPEED, mean_tokens or DEFAULT_MEAN_TOKENS)


def expected_tokens(tasks: Sequence[LoadedTask], mean_tokens: int) -> int:
    """Return the completion tokens of all samples, of one model."""
    return sum(
        task.k
        * sum(problem.likely_turns or problem.turns for problem in task.problems)
        * _mean(task, mean_tokens)
        for task in tasks
    )


def _mean(task: LoadedTask, mean_tokens: int) -> int:
    """Return the completion tokens of one reply."""
    return min(mean_tokens, task.decoding.max_tokens)


def cost_words(tasks: Sequence[LoadedTask], models: int, assumed: CostAssumptions) -> str:
    """Return the estimate in words: samples, tokens, hours, and the tokens at the most.

    Args:
        models: the number of models that the suite runs, one after the other.
    """
    samples = models * sum(task.samples for task in tasks)
    tokens = models * expected_tokens(tasks, assumed.mean_tokens)
    most = models * sum(task.samples * task.decoding.max_tokens * _turns(task) for task in tasks)
    likely, longest = (
        f"{_millions(count)} tokens and {count / assumed.speed / 3600:,.1f} h" for count in (tokens, most)
    )
    rests_on = f"{assumed.mean_tokens:,} tokens a sample and {assumed.speed:,.0f} tokens/s"
    return (
        f"{samples:,} samples; about {likely} at {rests_on} (--mean-tokens, --speed); {longest} at the most"
    )


def _turns(task: LoadedTask) -> int:
    return max((problem.turns for problem in task.problems), default=1)


def _millions(tokens: int) -> str:
    return f"{tokens / 1e6:,.1f} million"
