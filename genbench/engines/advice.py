"""Why an engine could not be loaded, in words of the suite's settings."""

from __future__ import annotations

from collections.abc import Mapping

from genbench.engines.environment import log_tail
from genbench.engines.settings import EngineSettings

_ADVICE: Mapping[str, str] = {
    "out of memory": "lower engine.gpu_memory_utilization, engine.max_model_len or engine.max_num_seqs, "
    "or raise engine.tensor_parallel_size",
    "no available memory for the cache blocks": "raise engine.gpu_memory_utilization, "
    "or lower engine.max_model_len",
    "kv cache": "lower engine.max_model_len, or raise engine.gpu_memory_utilization "
    "(on CPU the variable VLLM_CPU_KVCACHE_SPACE, in GiB)",
    "max_num_batched_tokens": "raise engine.max_num_batched_tokens to at least engine.max_model_len",
}


def load_failure(error: Exception, settings: EngineSettings) -> str:
    """The message of a load that failed: the reason, what may help, the log's last lines."""
    tail = log_tail(settings.log)
    if isinstance(error, TimeoutError):
        return (
            f"the engine was not up after {settings.load_timeout_s:g} s and was given up; look at the log, "
            f"or raise engine.load_timeout_s\nlast lines of {settings.log}:\n{tail}"
        )
    text = f"{error}\n{tail}".lower()
    advice = next((advice for sign, advice in _ADVICE.items() if sign in text), None)
    hint = f"\nwhat may help: {advice}" if advice else ""
    return f"the engine could not be started: {error}{hint}\nlast lines of {settings.log}:\n{tail}"
