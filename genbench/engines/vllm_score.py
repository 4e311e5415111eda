"""Scoring of given continuations with vLLM: which prompts may read the prefix cache, and what comes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, Protocol

from vllm import SamplingParams
from vllm.lora.request import LoRARequest
from vllm.sampling_params import RequestOutputKind

from genbench.engines.scored import Scored, cache_readers, joined, logprob_of, scored_completion, sum_of
from genbench.errors import EngineDiedError, RequestFailedError
from genbench.types import ChoiceScore, Continuation, ScoreRequest

__all__ = ["PromptScorer", "scored_completion"]

_MOST_LABELS = 20
"""Next tokens that one request is asked about, which is vLLM's default of max_logprobs."""


class Generates(Protocol):
    """The method of AsyncLLM that is used here."""

    def generate(
        self, prompt: Any, params: SamplingParams, request_id: str, **options: Any
    ) -> AsyncIterator[Any]:
        """Yield the outputs of a request."""
        ...


class PromptScorer:
    """Scores continuations with one engine.

    Continuations of one context read it from the prefix cache. This is safe under two rules, checked with
    vLLM 0.32. The rows of cached tokens are uninitialised memory on CPU, and are missing on GPUs, so rows are
    counted from the end. The row that predicts the first token of a continuation was computed if the cached
    tokens do not reach it; otherwise the request is sent again without the cache.

    Args:
        engine: an AsyncLLM.
        block: tokens of a block of the cache.
        lora: the adapter, or None.
    """

    def __init__(self, engine: Generates, block: int, lora: LoRARequest | None) -> None:
        self._engine, self._block, self._lora = engine, block, lora

    async def score(self, request: ScoreRequest, name: str) -> tuple[ChoiceScore, ...]:
        """Return the scores of the request's choices.

        Args:
            name: begins the ids of the engine's requests. The first one is `name/0`.

        Raises:
            RequestFailedError: a log-probability is not a finite number, or vLLM gave none.
            EngineDiedError: vLLM aborted a request.
        """
        items = request.continuations
        if _are_labels(items):
            found = await self._labels(items, name)
        else:
            reads = cache_readers(items, self._block)
            found = await asyncio.gather(
                *(
                    self._continuation(item, f"{name}/{place}", reads=reads[place])
                    for place, item in enumerate(items)
                )
            )
        return joined(items, found, request.sizes)

    async def _continuation(self, item: Continuation, name: str, *, reads: bool) -> Scored:
        output = await self._output(item, name, reads=reads)
        if reads and (output.num_cached_tokens or 0) > len(item.context) - 1:
            output = await self._output(item, f"{name}/again", reads=False)
        rows = output.prompt_logprobs or []
        if len(rows) < len(item.token_ids):
            raise RequestFailedError(f"request {name}: vLLM gave {len(rows)} rows of log-probabilities")
        return sum_of(item.token_ids, rows[len(rows) - len(item.token_ids) :], name)

    async def _output(self, item: Continuation, name: str, *, reads: bool) -> Any:
        params = _params(prompt_logprobs=0, skip_reading_prefix_cache=not reads)
        return await self._final([*item.context, *item.token_ids], params, name)

    async def _labels(self, items: Sequence[Continuation], name: str) -> list[Scored]:
        """Return the scores of single tokens after one context, from one request."""
        ids = list(dict.fromkeys(item.token_ids[0] for item in items))
        output = await self._final(list(items[0].context), _params(logprob_token_ids=ids), f"{name}/0")
        drawn = output.outputs[0]
        row = (drawn.logprobs or [{}])[0]
        found = []
        for item in items:
            token = item.token_ids[0]
            greedy = token == drawn.token_ids[0]
            found.append(Scored(logprob_of(row, token, name), 1, greedy))
        return found

    async def _final(self, ids: list[int], params: SamplingParams, name: str) -> Any:
        """Return the only event of a request."""
        last = None
        async for event in self._engine.generate(
            {"prompt_token_ids": ids}, params, name, lora_request=self._lora
        ):
            last = event
        if last is None:
            raise RequestFailedError(f"request {name}: the engine gave no output")
        if (last.outputs[0].finish_reason or "abort") == "abort":
            raise EngineDiedError("the engine aborted a request that nobody cancelled")
        return last


def _are_labels(items: Sequence[Continuation]) -> bool:
    """Return whether the continuations are single tokens after one context."""
    return (
        1 < len(items) <= _MOST_LABELS
        and all(len(item.token_ids) == 1 for item in items)
        and all(item.context == items[0].context for item in items)
    )


def _params(**asked: Any) -> SamplingParams:
    return SamplingParams(
        n=1,
        temperature=0.0,
        max_tokens=1,
        detokenize=False,
        output_kind=RequestOutputKind.FINAL_ONLY,
        **asked,
    )
