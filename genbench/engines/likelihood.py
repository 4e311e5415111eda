"""From log-probabilities of tokens to the scores of given texts, and the reply that they are."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from genbench.errors import RequestFailedError
from genbench.types import ChoiceScore, Completion, Continuation, ScoreRequest


@dataclass(frozen=True, slots=True)
class Scored:
    """What a model gave one continuation."""

    logprob: float
    tokens: int
    greedy: bool
    by_token: tuple[float, ...] = ()


def sum_of(ids: Sequence[int], rows: Sequence[Any], name: str) -> Scored:
    """Return the score of a continuation from the rows of its tokens.

    Args:
        ids: the tokens of the continuation.
        rows: for each token, a mapping of token ids to entries with `logprob` and `rank`.

    Raises:
        RequestFailedError: a row is of another token, or has no finite number.
    """
    total, greedy, each = 0.0, True, list[float]()
    for token, row in zip(ids, rows, strict=True):
        each.append(logprob_of(row, token, name))
        total += each[-1]
        greedy = greedy and row[token].rank == 1
    return Scored(total, len(ids), greedy, tuple(each))


def joined(request: ScoreRequest, found: Sequence[Scored]) -> tuple[ChoiceScore, ...]:
    """Return one score for each choice: the sum over its windows, and its prior if it has one.

    Args:
        found: the scores of the request's continuations.
    """
    choices, items = [], request.continuations
    for place, size in enumerate(request.sizes):
        own = [(i, s) for i, s in zip(items, found, strict=True) if i.choice == place and not i.is_prior]
        prior = [s.logprob for i, s in zip(items, found, strict=True) if i.choice == place and i.is_prior]
        choices.append(
            ChoiceScore(
                logprob=min(0.0, sum(score.logprob for _, score in own)),
                tokens=sum(score.tokens for _, score in own),
                chars=size.chars,
                bytes=size.bytes,
                words=size.words,
                greedy=all(score.greedy for _, score in own),
                prior=min(0.0, prior[0]) if prior else None,
                merged=any(item.is_merged for item, _ in own),
                by_token=sum((score.by_token for _, score in own), ()) if request.by_token else None,
            )
        )
    return tuple(choices)


def scored_completion(
    request: ScoreRequest, attempt: int, choices: tuple[ChoiceScore, ...], seconds: float | None
) -> Completion:
    """Return the reply to a request for scores. Its tokens are those that were scored."""
    return Completion(
        sample=request.sample,
        turn=0,
        seed=request.seed,
        prompt_digest=request.prompt_digest,
        text="",
        finish_reason="stop",
        prompt_tokens=sum(len(item.context) for item in request.continuations),
        completion_tokens=sum(choice.tokens for choice in choices),
        trace_tokens=0,
        max_tokens=1,
        attempt=attempt,
        seconds=seconds,
        choices=choices,
    )


def logprob_of(row: Any, token: int, name: str) -> float:
    """Return the log-probability of a token.

    Raises:
        RequestFailedError: the row has another token, or no finite number.
    """
    entry = row.get(token) if row else None
    if entry is None:
        raise RequestFailedError(f"request {name}: the engine gave no log-probability of token {token}")
    if not math.isfinite(entry.logprob):
        raise RequestFailedError(f"request {name}: the log-probability of token {token} is {entry.logprob}")
    return float(entry.logprob)


def cache_readers(items: Sequence[Continuation], block: int) -> list[bool]:
    """Return, for each continuation, whether it may read the prefix cache.

    Only whole blocks are cached. A continuation may not read if its context has no whole block, or if it
    shares with another one of the same context a beginning that fills a block beyond the context.
    """
    groups: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for place, item in enumerate(items):
        groups[item.context].append(place)
    found = [False] * len(items)
    for context, places in groups.items():
        shared = _longest_shared([items[place].token_ids for place in places])
        reaches = (len(context) + shared) // block * block
        for place in places:
            found[place] = len(context) >= block and reaches <= len(context) - 1
    return found


def _longest_shared(texts: Sequence[tuple[int, ...]]) -> int:
    """Return the longest common beginning of any two sequences. Sorted neighbours share the most."""
    ordered = sorted(texts)
    most = 0
    for left, right in pairwise(ordered):
        same = next((place for place, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), None)
        most = max(most, min(len(left), len(right)) if same is None else same)
    return most
