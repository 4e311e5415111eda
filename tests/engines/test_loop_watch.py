"""Replies that repeat, ended between the steps of an engine whose output processor is shaped as vLLM's."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

from genbench.engines.vllm.monitoring import LoopWatch, StepStatistics, StepWatch


class Processor:
    """Requests by vLLM's own id, and those that were aborted."""

    def __init__(self, names: Iterable[str]) -> None:
        self.log_stats = True
        self.aborted: list[str] = []
        self.request_states = {
            f"{name}-inner": SimpleNamespace(
                external_req_id=name, detokenizer=SimpleNamespace(output_token_ids=[])
            )
            for name in names
        }

    def process_outputs(self, outputs: Any) -> Any:
        for output in outputs:
            self.request_states[output.request_id].detokenizer.output_token_ids.extend(output.new_token_ids)
        return SimpleNamespace(reqs_to_abort=["by a stop text"])

    def update_scheduler_stats(self, state: Any) -> None:
        """Take no notice."""

    def abort_requests(self, names: list[str], internal: bool) -> list[str]:
        assert internal
        self.aborted += names
        for name in names:
            del self.request_states[name]
        return names


def draw(
    processor: Processor, texts: dict[str, list[int]]
) -> tuple[LoopWatch, dict[str, int], list[list[str]]]:
    """Give each request one token a step. Return the watch, the tokens of each, and what vLLM is to drop."""
    watch = LoopWatch(dict)
    engine = SimpleNamespace(output_processor=processor, log_stats=True, logger_manager=None)
    StepWatch(engine, lambda: [StepStatistics(8)], lambda: None, watch)
    for name in texts:
        if not name.startswith("unwatched"):
            watch.watch(name)
    drawn, dropped = dict.fromkeys(texts, 0), []
    for place in range(max(map(len, texts.values()))):
        running = [name for name in texts if f"{name}-inner" in processor.request_states]
        outputs = [
            SimpleNamespace(request_id=f"{name}-inner", new_token_ids=texts[name][place : place + 1])
            for name in running
        ]
        dropped.append(processor.process_outputs(outputs).reqs_to_abort)
        for name in running:
            drawn[name] += 1
    return watch, drawn, dropped


def test_only_a_watched_request_that_repeats_is_ended_at_a_place_that_depends_on_its_tokens_alone() -> None:
    prefix, cycle = [900 + n for n in range(100)], [7, 8, 9]
    texts = {
        "loop": prefix + cycle * 400,
        "unwatched loop": prefix + cycle * 400,
        "text": [n % 997 for n in range(1300)],
    }
    alone = draw(Processor(["loop"]), {"loop": texts["loop"]})
    together = draw(Processor(texts), texts)
    # 100 + 640 tokens have a stretch of 640; 768 is the next look.
    assert alone[1] == {"loop": 768} and together[1] == {"loop": 768, "unwatched loop": 1300, "text": 1300}
    assert together[2][767] == ["by a stop text", "loop-inner"]
    assert all(names == ["by a stop text"] for place, names in enumerate(together[2]) if place != 767)


def test_a_request_is_told_apart_from_one_that_somebody_cancelled() -> None:
    watch, _, _ = draw(Processor(["loop", "other"]), {"loop": [5] * 700, "other": list(range(700))})
    assert watch.take("loop") and not watch.take("loop") and not watch.take("other")
    assert not watch.watched and not watch.found
