from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from genbench.models import traces
from genbench.models.prepare import TokenCounter
from genbench.models.traces import trace_tokens
from genbench.suite import shipped
from genbench.types import Completion, FinishReason, SampleId

THINK = traces.FORMATS["think"]
TOKENIZER = str(shipped.folder("checkpoints") / "tiny-base")


def counted(text: str, finish: FinishReason = "stop", exact: bool = True) -> tuple[int | None, int]:
    """Trace tokens, and all tokens, of a text drawn as its own tokenizer writes it."""
    from genbench.engines.tokenizer import load_tokenizer

    tokenizer = load_tokenizer(TOKENIZER, None, False)
    total = len(tokenizer(text, add_special_tokens=False)["input_ids"]) + (finish == "stop")
    item = Completion(SampleId("t", "p", 0), 0, 1, "d", text, finish, 5, total, None, 99, 1, 0.1)
    answer = traces.split(text, THINK, False, finish, ())
    return asyncio.run(trace_tokens(item, answer, TokenCounter(tokenizer) if exact else None)), total


@pytest.mark.parametrize("finish", ["stop", "length"])
def test_a_closed_trace_has_the_tokens_up_to_its_close_tag(finish: FinishReason) -> None:
    from genbench.engines.tokenizer import load_tokenizer

    trace = "<think>12 plus 30: 42 42 42 42 42 42 42</think>"
    tokenizer = load_tokenizer(TOKENIZER, None, False)
    wanted = len(tokenizer(trace, add_special_tokens=False)["input_ids"])
    assert counted(f"{trace}the answer is 42", finish)[0] == wanted


def test_all_or_none_of_a_text_is_trace_where_it_is_not_closed() -> None:
    assert counted("no trace at all")[0] == 0
    of_trace, total = counted("<think>still going", "length")
    assert of_trace == total


def test_without_a_tokenizer_a_closed_trace_is_not_estimated() -> None:
    text = "<think>" + "a" * 65 + "</think>" + "b" * 80
    assert counted(text, "length", exact=False)[0] is None
    assert counted("no trace at all", exact=False)[0] == 0


class Watched:
    """A tokenizer that tells how many threads it had at the same time."""

    inside = most = 0

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    def __call__(self, text: str, **options: Any) -> Any:
        Watched.inside += 1
        Watched.most = max(Watched.most, Watched.inside)
        try:
            time.sleep(0.1 if len(text) > 10_000 else 0.0)
            return self.tokenizer(text, **options)
        finally:
            Watched.inside -= 1


def test_a_short_text_waits_while_a_long_one_is_counted_since_a_tokenizer_takes_one_thread() -> None:
    from genbench.engines.tokenizer import load_tokenizer

    tokenizer = load_tokenizer(TOKENIZER, None, False)
    texts = ["42 plus 30", "a long text of numbers 12 " * 4_000, "the answer is 42", "b" * 5_000]
    wanted = [len(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in texts]

    async def count() -> list[int]:
        counter = TokenCounter(Watched(tokenizer))
        first, long = await counter(texts[0]), asyncio.create_task(counter(texts[1]))
        while not Watched.inside:  # noqa: ASYNC110  nothing tells of it
            await asyncio.sleep(0.001)
        others = await asyncio.gather(*map(counter, texts[2:]))
        return [first, await long, *others]

    assert asyncio.run(count()) == wanted
    assert Watched.most == 1
