"""What is read of a loaded vLLM engine, from objects of the same shape."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from genbench.engines.vllm.monitoring import (
    LoopWatch,
    StepStatistics,
    StepWatch,
    facts,
    logged_backend,
    packages,
    resolved,
)


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
    versions = {"driver": "580.1", "cuda": "13.0", "nccl": None}
    found = facts(config(), 160, StepStatistics(8), versions)
    assert found["resolved"]["kv_tokens"] == 160
    assert found["packages"] == packages() | versions and "torch" in found["packages"]
    assert found["statistics"]["steps"] == 0


def test_the_attention_backend_that_vllm_chose_is_read_from_the_log(tmp_path: Path) -> None:
    log = tmp_path / "engine.log"
    assert logged_backend(log, 0) is None
    log.write_text("Using OLD attention backend.\n")
    start = log.stat().st_size
    assert logged_backend(log, start) is None
    with log.open("a") as stream:
        stream.write("INFO Using FLASH_ATTN attention backend out of potential backends: [...].\n")
    assert logged_backend(log, start) == "FLASH_ATTN"
    found = facts(config(), 160, StepStatistics(8), {}, "FLASH_ATTN")
    assert found["resolved"]["attention_backend"] == "FLASH_ATTN"


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
    statistics = StepStatistics(8)
    StepWatch(engine, lambda: [statistics], lambda: heard.append(1), LoopWatch(dict))
    outputs = [SimpleNamespace(new_token_ids=[1, 2]), SimpleNamespace(new_token_ids=[3])]
    assert processor.process_outputs(outputs, 1.5, weight_version=3) == "processed"
    prefix = SimpleNamespace(queries=9, hits=4, preempted_requests=1)
    state = SimpleNamespace(
        num_running_reqs=2, num_waiting_reqs=0, kv_cache_usage=0.25, prefix_cache_stats=prefix
    )
    processor.update_scheduler_stats(state)
    processor.update_scheduler_stats(None)
    assert heard == [1] and processor.seen == [(outputs, 1.5, 3), state, None]
    record = statistics.record
    assert (record["completion_tokens"], record["most_running"], record["preemptions"]) == (3, 2, 1)
    assert (engine.log_stats, engine.logger_manager, processor.log_stats) == (False, None, False)
