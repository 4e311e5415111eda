"""What a run took: tokens, seconds, how busy its GPUs were, and what that cost at the suite's price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Record = Mapping[str, Any]
_TOKENS = ("prompt", "trace", "answer", "completion")


def costs(
    price: Record | None, tasks: Mapping[str, Record], attempts: Sequence[Record]
) -> dict[str, float | None]:
    """What each task cost; None without a price, or where nobody counted its tokens.

    Per hour: the wall time of the attempts that ran an engine, start-up included, shared among the
    tasks by their completion tokens. Per million tokens: their own tokens, prompts and completions apart.
    """
    if price is None:
        return dict.fromkeys(tasks)
    if price["per_hour"] is None:
        return {name: _by_tokens(price, task["tokens"]) for name, task in tasks.items()}
    hours = sum(attempt["seconds"] for attempt in attempts if attempt["circumstances"]["engine"]) / 3600
    drawn = {name: task["tokens"]["completion"] for name, task in tasks.items()}
    total = sum(count or 0 for count in drawn.values())
    return {
        name: None if count is None or not total else price["per_hour"] * hours * count / total
        for name, count in drawn.items()
    }


def _by_tokens(price: Record, tokens: Record) -> float | None:
    if tokens["prompt"] is None:
        return None
    prompt, completion = price["per_million_prompt_tokens"], price["per_million_completion_tokens"]
    return float(tokens["prompt"] * prompt + tokens["completion"] * completion) / 1e6


def totals(manifest: Record, tasks: Mapping[str, Record]) -> dict[str, Any]:
    """The account of the whole run; `drawn_now` and `reused_now` are the last attempt's."""
    attempts = [attempt for attempt in manifest["attempts"] if "ended" in attempt]
    seconds = sum(attempt["generation_s"] for attempt in attempts)
    tokens = sum(attempt["completion_tokens"] for attempt in attempts)
    merged = manifest.get("merged", {}).get("attempts") == len(manifest["attempts"])
    last = attempts[-1] if attempts and not merged else {}
    price = manifest["suite"]["config"].get("price")
    return {
        "samples": sum(task["samples"] for task in tasks.values()),
        "drawn": sum(attempt["drawn"] for attempt in attempts),
        "drawn_now": last.get("drawn", 0),
        "reused_now": last.get("reused", sum(task["samples"] for task in tasks.values())),
        "attempts": len(manifest["attempts"]),
        "generation_s": round(seconds, 3),
        "seconds": round(sum(attempt["seconds"] for attempt in attempts), 3),
        "tokens_per_s": round(tokens / seconds, 1) if seconds else None,
        "tokens": {kind: _sum([task["tokens"][kind] for task in tasks.values()]) for kind in _TOKENS},
        "gpu_busy": _gpu_busy(attempts),
        "cost": _sum([task["cost"] for task in tasks.values()]),
        "currency": price["currency"] if price else None,
    }


def _sum(values: Sequence[Any]) -> Any:
    """The sum; None where any of them is not known."""
    return None if not values or None in values else sum(values)


def _gpu_busy(attempts: Sequence[Record]) -> float | None:
    """The mean share over the GPUs that worked at all, weighted by how long each attempt drew."""
    weighted = [
        (share, attempt["generation_s"])
        for attempt in attempts
        for share in (attempt.get("gpu_busy") or {}).values()
        if share > 0
    ]
    seconds = sum(weight for _, weight in weighted)
    return round(sum(share * weight for share, weight in weighted) / seconds, 4) if seconds else None
