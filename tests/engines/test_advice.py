"""What is said of an engine that could not be loaded; the texts are vLLM 0.32's own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from genbench.engines.devices import share
from genbench.engines.vllm.kind import VllmSettings
from genbench.engines.vllm.loading import load_failure
from genbench.errors import ConfigError, EngineDiedError
from tests.table import each_row

CORE = "Engine core initialization failed. See root cause above. Failed core proc(s): {}"


@pytest.fixture
def settings(tmp_path: Path) -> VllmSettings:
    return VllmSettings(
        tmp_path, tmp_path, None, "bfloat16", False, 8, 8192, {}, max_model_len=4096, work=tmp_path
    )


@pytest.mark.parametrize(
    ("said", "log", "cause", "advice"),
    [
        (
            CORE,
            "ValueError: To serve at least one request with the model's max seq len (2000000), (2.86 GiB KV "
            "cache is needed, which is larger than the available KV cache memory (1.0 GiB).",
            "To serve at least one request",
            "lower engine.max_model_len",
        ),
        (
            CORE,
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
            "CUDA out of memory",
            "lower engine.gpu_memory_utilization, engine.max_num_seqs or engine.max_model_len, or raise "
            "engine.tensor_parallel_size",
        ),
        (
            CORE,
            "ValueError: Free memory on device cuda:0 (3.1/79.1 GiB) on startup is less than desired GPU "
            "memory utilization (0.9, 71.2 GiB).",
            "Free memory on device",
            "lower engine.gpu_memory_utilization, or end what else uses",
        ),
        (
            CORE,
            "RuntimeError: Worker failed with error 'Available memory on node 0 (14.65/16.46 GiB) on kv "
            "cache allocation is less than requested memory for kv (4000.0 GiB). Decrease "
            "--kv-cache-memory-bytes, VLLM_CPU_KVCACHE_SPACE, or reduce CPU memory used by other processes.'",
            "Worker failed with error",
            "lower the variable VLLM_CPU_KVCACHE_SPACE",
        ),
        (
            "1 validation error for VllmConfig\n  Value error, Total number of attention heads (4) must be "
            "divisible by tensor parallel size (64). [type=value_error, input_value=ArgsKwargs(())]",
            "INFO nothing",
            "Total number of attention heads (4) must be divisible by tensor parallel size (64).\n",
            "set engine.tensor_parallel_size to a divisor",
        ),
        (
            "libcudart.so.13: cannot open shared object file: No such file or directory",
            "",
            "libcudart.so.13",
            "genbench doctor",
        ),
    ],
)
def test_the_cause_and_the_setting_that_helps_are_named(
    settings: VllmSettings, said: str, log: str, cause: str, advice: str
) -> None:
    settings.log.write_text(f"INFO something before\n{log}\n")
    failure = load_failure(RuntimeError(said), settings.log, settings.load_timeout_s)
    text = str(failure)
    assert not isinstance(failure, EngineDiedError)
    assert text.startswith(f"the engine could not be started: {cause}")
    assert advice in text.partition("what may help: ")[2].partition("\n")[0]
    assert log in text


@pytest.mark.parametrize("failed", ["{}", "{'EngineCore': -9}", "{'EngineCore_DP0': -9}"])
def test_an_engine_that_ended_without_a_word_was_killed_and_another_may_live(
    settings: VllmSettings, failed: str
) -> None:
    before = "RuntimeError: CUDA out of memory\n"
    config = f"INFO EngineCore: Initializing with config: trust_remote_code=False, {'x' * 9000}\n"
    settings.log.write_text(before + config)
    failure = load_failure(
        RuntimeError(CORE.replace("{}", failed)), settings.log, settings.load_timeout_s, len(before)
    )
    assert isinstance(failure, EngineDiedError)
    text = str(failure)
    assert text.startswith(
        "the engine was killed while it loaded, by the kernel if the machine has too little"
    )
    assert "CUDA" not in text and "what may help" not in text and len(text) < 1000


PREFILL = "Chunked prefill is enabled with max_num_batched_tokens=8192."


@each_row(
    "told",
    [
        "12:00:00 INFO EngineCore: config: trust_remote_code=False",
        f"2026-11-26 02:50:25,101 INFO MainProcess vllm.config.scheduler: {PREFILL}",
        f"INFO 11-26 02:50:25 [scheduler.py:308] {PREFILL}",
        f"(EngineCore pid=812) INFO 11-26 02:50:25 [scheduler.py:308] {PREFILL}",
        f"\x1b[0;36m(EngineCore pid=812)\x1b[0;0m INFO 11-26 02:50:25 [scheduler.py:308] {PREFILL}",
        f"(Worker_TP0 pid=9) WARNING 11-26 02:50:25 [scheduler.py:346] {PREFILL} exceeds max_num_seqs",
        f"2026-11-26 02:50:25,101 INFO MainProcess vllm: settings:\n  trust_remote_code=False\n  {PREFILL}",
    ],
)
def test_what_is_logged_as_information_gives_no_advice(told: str, settings: VllmSettings) -> None:
    settings.log.write_text(f"{told}\nKeyError: 'lm_head'\n")
    failure = load_failure(RuntimeError(CORE), settings.log, settings.load_timeout_s)
    assert str(failure).startswith("the engine could not be started: 'lm_head'\nlast lines of")


@each_row(
    "logged",
    [
        "(EngineCore pid=812) ERROR 11-26 02:50:25 [core.py:1] torch.OutOfMemoryError: CUDA out of memory.",
        "2026-11-26 02:50:25,101 ERROR MainProcess vllm: failed\ntorch.OutOfMemoryError: CUDA out of memory.",
        "12:00:00 INFO EngineCore: loading\nTraceback (most recent call last):\n  File\nCUDA out of memory",
    ],
)
def test_advice_comes_from_the_errors_of_the_log(logged: str, settings: VllmSettings) -> None:
    settings.log.write_text(f"12:00:00 INFO EngineCore: {PREFILL}\n{logged}\nKeyError: 'x'\n")
    text = str(load_failure(RuntimeError(CORE), settings.log, settings.load_timeout_s))
    assert "what may help: lower engine.gpu_memory_utilization, engine.max_num_seqs" in text


def test_the_cause_is_looked_at_before_the_rest_of_the_log(settings: VllmSettings) -> None:
    settings.log.write_text(
        "torch.OutOfMemoryError: CUDA out of memory.\nModuleNotFoundError: No module named 'x'\n"
    )
    text = str(load_failure(RuntimeError(CORE), settings.log, settings.load_timeout_s))
    assert "what may help: a package is missing" in text


def test_a_hung_load_names_its_limit(settings: VllmSettings) -> None:
    text = str(load_failure(TimeoutError(), settings.log, 90))
    assert "not up after 90 s" in text and "engine.load_timeout_s" in text


def test_each_replica_has_gpus_of_its_own() -> None:
    devices = ["0", "1", "2", "GPU-3", "4", "5"]
    shares = [share(devices, replica, 3, 2) for replica in range(3)]
    assert shares == [("0", "1"), ("2", "GPU-3"), ("4", "5")]
    with pytest.raises(ConfigError, match=r"engine\.replicas: 4 with 2 GPU\(s\) each need 8, found 6"):
        share(devices, 0, 4, 2)


def test_a_replicas_gpus_are_those_of_all_its_parallel_sizes(settings: VllmSettings) -> None:
    sizes = {"tensor_parallel_size": 4, "pipeline_parallel_size": 2}
    assert replace(settings, extra=sizes).gpus == 8 and settings.gpus == 1
    names = list(replace(settings, replicas=2).members)
    assert names == ["replica 0", "replica 1"]
