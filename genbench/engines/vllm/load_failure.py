"""Explain why an engine could not be loaded, and which setting of the suite may help."""

from __future__ import annotations

import re
from collections.abc import Mapping

from genbench.engines.vllm.environment import log_tail
from genbench.engines.vllm.settings import VllmSettings
from genbench.errors import EngineDiedError, EngineError

_ADVICE: Mapping[str, str] = {
    "vllm_cpu_kvcache_space, or reduce": "lower the variable VLLM_CPU_KVCACHE_SPACE (GiB), or end what else "
    "takes this machine's memory",
    "less than desired gpu memory utilization": "lower engine.gpu_memory_utilization, or end what else uses "
    "the GPU (`nvidia-smi` lists it)",
    "kv cache is needed": "lower engine.max_model_len, or raise engine.gpu_memory_utilization or "
    "engine.tensor_parallel_size (on CPU the variable VLLM_CPU_KVCACHE_SPACE, in GiB)",
    "no available memory for the cache blocks": "raise engine.gpu_memory_utilization or "
    "engine.tensor_parallel_size, or lower engine.max_model_len",
    "out of memory": "lower engine.gpu_memory_utilization, engine.max_num_seqs or engine.max_model_len, "
    "or raise engine.tensor_parallel_size",
    "can't allocate memory": "lower engine.max_num_seqs or engine.max_model_len, or free memory",
    "divisible by tensor parallel": "set engine.tensor_parallel_size to a divisor of the attention heads",
    "world size": "lower engine.tensor_parallel_size, engine.pipeline_parallel_size or engine.replicas",
    "max_num_batched_tokens": "raise engine.max_num_batched_tokens to at least engine.max_model_len",
    "trust_remote_code": "read the model's own code, then set models.<name>.trust_remote_code: true",
    "not supported for now": "the installed vLLM does not know this architecture: install a newer one",
    "cannot open shared object file": "a library is missing or of another CUDA version: install the extra "
    "that fits this machine again ('gpu' or 'cpu'), and see `genbench doctor`",
    "no module named": "a package is missing: install the extra again, and see `genbench doctor`",
}
"""Signs in vLLM's own messages (0.32) and the settings that help. The most specific sign is first."""
_CAUSE = re.compile(r"^\s*\|? ?(?:[\w.]+\.)?\w*(?:Error|Exception): (?P<why>.+)$", re.MULTILINE)
_REFUSED = re.compile(r"Value error, (?P<why>.+?)(?: \[type=|$)", re.DOTALL)
_CAUSE_CHARS = 600
_NO_WORDS = re.compile(r"Failed core proc\(s\): \{(?:[^}]*: -9)?\}")
"""The exit code of a killed engine, or none: vLLM 0.32 often asks for it a moment too early."""
_INFO = " INFO "


def load_failure(error: Exception, settings: VllmSettings, log_start: int = 0) -> EngineError:
    """Return the error of a load that failed: the cause, what may help, the log's last lines.

    It is an EngineDiedError if the process ended without a message, as by SIGKILL. Another may live.

    Args:
        log_start: the size of the log in bytes when this load began.
    """
    tail = log_tail(settings.log, log_start)
    if isinstance(error, TimeoutError):
        return EngineError(
            f"the engine was not up after {settings.load_timeout_s:g} s and was given up; look at the log, "
            f"or raise engine.load_timeout_s\nlast lines of {settings.log}:\n{tail}"
        )
    cause = _cause(str(error), tail)
    last = f"last lines of {settings.log}:\n{tail}"
    if cause is None and _NO_WORDS.search(str(error)):
        return EngineDiedError(
            "the engine was killed while it loaded, by the kernel if the machine has too little memory "
            f"(`dmesg` tells)\n{last}"
        )
    # The engine's configuration, which is logged as information, names every setting.
    told = "\n".join(line for line in tail.splitlines() if _INFO not in line)
    text = f"{cause}\n{error}\n{told}".lower()
    advice = next((advice for sign, advice in _ADVICE.items() if sign in text), None)
    hint = f"\nwhat may help: {advice}" if advice else ""
    return EngineError(f"the engine could not be started: {cause or str(error)[:_CAUSE_CHARS]}{hint}\n{last}")


def _cause(said: str, tail: str) -> str | None:
    """Return what went wrong, or None if no message says it. vLLM may only say "see root cause above"."""
    refused = _REFUSED.search(said)
    if refused is not None:
        return refused["why"].strip()
    if "root cause" not in said:
        return said[:_CAUSE_CHARS]
    found = [match["why"] for match in _CAUSE.finditer(tail) if "root cause above" not in match["why"]]
    return found[-1][:_CAUSE_CHARS] if found else None
