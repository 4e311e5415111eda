"""The account of a run: tokens, seconds, GPU use, and cost at the suite's price."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from genbench.analysis.results.record import TaskResults, TokenSums, TotalsRecord, TotalTokens
from genbench.store.degenerate import alarm
from genbench.store.manifest import AttemptRecord, Manifest
from genbench.store.stored_run import StoredTask
from genbench.suite.block import is_headline
from genbench.suite.engine import Price

N = TypeVar("N", int, float)


def costs(
    price: Price | None, tasks: Mapping[str, TaskResults], attempts: Sequence[AttemptRecord]
) -> dict[str, float | None]:
    """Return the cost of each task, or None without a price or without token counts.

    A price per hour applies to the wall time of the attempts that ran an engine, with start-up. Tasks share
    it by their completion tokens. A price per million tokens applies to each task's own prompt and
    completion tokens.
    """
    tasks = {name: task for name, task in tasks.items() if is_headline(name)}
    if price is None:
        return dict.fromkeys(tasks)
    if price.per_hour is None:
        return {name: _by_tokens(price, task.tokens) for name, task in tasks.items()}
    hours = sum(item.seconds for item in attempts if item.has_ended and item.circumstances["engine"]) / 3600
    drawn = {name: task.tokens.completion for name, task in tasks.items()}
    total = sum(count or 0 for count in drawn.values())
    return {
        name: None if count is None or not total else price.per_hour * hours * count / total
        for name, count in drawn.items()
    }


def _by_tokens(price: Price, tokens: TokenSums) -> float | None:
    if tokens.prompt is None or tokens.completion is None:
        return None
    prompt, completion = price.per_million_prompt_tokens or 0.0, price.per_million_completion_tokens or 0.0
    return float(tokens.prompt * prompt + tokens.completion * completion) / 1e6


def totals(manifest: Manifest, tasks: Mapping[str, TaskResults], price: Price | None) -> TotalsRecord:
    """Return the account of the whole run. `drawn_now` and `reused_now` are the last attempt's.

    Further scores of a task draw nothing, so they do not count.
    """
    attempts = [attempt for attempt in manifest.attempts if attempt.has_ended]
    seconds = sum(attempt.generation_s for attempt in attempts)
    tokens = sum(attempt.completion_tokens for attempt in attempts)
    tasks = {name: task for name, task in tasks.items() if is_headline(name)}
    samples = sum(task.samples for task in tasks.values())
    merged = manifest.merged is not None and manifest.merged.attempts == len(manifest.attempts)
    last = attempts[-1] if attempts and not merged else None
    return TotalsRecord(
        samples=samples,
        drawn=sum(attempt.drawn for attempt in attempts),
        drawn_now=last.drawn if last else 0,
        reused_now=last.reused if last else samples,
        attempts=len(manifest.attempts),
        generation_s=round(seconds, 3),
        seconds=round(sum(attempt.seconds for attempt in attempts), 3),
        tokens_per_s=round(tokens / seconds, 1) if seconds else None,
        tokens=_total_tokens([task.tokens for task in tasks.values()]),
        gpu_busy=_gpu_busy(attempts),
        cost=_sum(task.cost for task in tasks.values()),
        currency=price.currency if price else None,
    )


def _total_tokens(tokens: Sequence[TokenSums]) -> TotalTokens:
    return TotalTokens(
        prompt=_sum(item.prompt for item in tokens),
        trace=_sum(item.trace for item in tokens),
        answer=_sum(item.answer for item in tokens),
        completion=_sum(item.completion for item in tokens),
    )


def _sum(values: Iterable[N | None]) -> N | None:
    """Return the sum, or None if any of them is unknown."""
    found = list(values)
    known = [value for value in found if value is not None]
    return sum(known) if found and len(known) == len(found) else None


def _gpu_busy(attempts: Sequence[AttemptRecord]) -> float | None:
    """Return the mean share over the GPUs that worked at all, weighted by how long each attempt drew."""
    weighted = [
        (share, attempt.generation_s)
        for attempt in attempts
        for share in (attempt.gpu_busy or {}).values()
        if share > 0
    ]
    seconds = sum(weight for _, weight in weighted)
    return round(sum(share * weight for share, weight in weighted) / seconds, 4) if seconds else None


def degenerate_words(stored: Mapping[str, StoredTask]) -> Iterator[str]:
    """Yield a warning for each task with degenerate completions, as a damaged checkpoint gives them."""
    for name, task in stored.items():
        tokens = task.tokens
        line = alarm(tokens.degenerate, tokens.items, f"{tokens.items} completions")
        if line is not None:
            yield f"{name}: {line}"
