"""What is read of a loaded vLLM engine, from objects of the same shape."""

from __future__ import annotations

from enum import Enum
from types import SimpleNamespace
from typing import Any

from genbench.engines.steps import StepStatistics
from genbench.engines.vllm_facts import StepWatch, facts, packages, resolved


class Mode(Enum):
    FULL = 1


def config() -> Any:
    return SimpleNamespace(
        model_config=SimpleNamespace(max_model_len=512, dtype="torch.bfloat16"),
        scheduler_config=SimpleNamespace(max_num_seqs=8, max_num_batched_tokens=512, watermark=0.05),
        cache_config=SimpleNamespace(num_gpu_blocks=10, block_size=16, enable_prefix_caching=True),
        compilation_config=SimpleNamespace(mode=Mode.FULL, cudagraph_mode=None),
    )


def test_what_the_engine_chose_is_recorded_and_unknown_fields_are_left_out() -> None:
    assert resolved(config()) == {
        "max_model_len": 512,
        "dtype": "torch.bfloat16",
        "max_num_seqs": 8,
        "max_num_batched_tokens": 512,
        "watermark": 0.05,
        "prefix_caching": True,
        "block_size": 16,
        "blocks": 10,
        "compilation": "FULL",
    }


def test_facts_have_the_cache_the_packages_and_the_steps() -> None:
    found = facts(config(), 160, StepStatistics(8))
    assert found["resolved"]["kv_tokens"] == 160
    assert found["packages"] == packages() and "torch" in found["packages"]
    assert found["statistics"]["steps"] == 0


class Processor:
    """An output processor that records what it was given."""

    def __init__(self) -> None:
        self.log_stats = True
        self.seen: list[Any] = []

    def process_outputs(self, outputs: Any, timestamp: float, weight_version: int = 0) -> str:
        self.seen.append((outputs, timestamp, weight_version))
        return "processed"

    def update_scheduler_stats(self, state: Any) -> None:
        self.seen.append(state)


def test_every_step_is_heard_counted_and_passed_on() -> None:
    processor, heard = Processor(), []
    engine = SimpleNamespace(output_processor=processor, log_stats=True, logger_manager=object())
    watch = StepWatch(engine, 8, lambda: heard.append(1))
    outputs = [SimpleNamespace(new_token_ids=[1, 2]), SimpleNamespace(new_token_ids=[3])]
    assert processor.process_outputs(outputs, 1.5, weight_version=3) == "processed"
    prefix = SimpleNamespace(queries=9, hits=4, preempted_requests=1)
    state = SimpleNamespace(
        num_running_reqs=2, num_waiting_reqs=0, kv_cache_usage=0.25, prefix_cache_stats=prefix
    )
    processor.update_scheduler_stats(state)
    processor.update_scheduler_stats(None)
    assert heard == [1] and processor.seen == [(outputs, 1.5, 3), state, None]
    record = watch.statistics.record
    assert (record["completion_tokens"], record["most_running"], record["preemptions"]) == (3, 2, 1)
    assert (engine.log_stats, engine.logger_manager, processor.log_stats) == (False, None, False)
