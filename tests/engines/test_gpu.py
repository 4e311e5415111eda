"""How busy GPUs are, as a program called nvidia-smi says it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from genbench.engines.devices import VISIBLE, GpuWatch


@pytest.fixture
def smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program called nvidia-smi that prints what `lines` has, and then waits."""
    program = tmp_path / "nvidia-smi"
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\ncat {tmp_path}/lines\nexec sleep 60\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv(VISIBLE, raising=False)
    return tmp_path


async def watched(wanted: int) -> dict[str, float] | None:
    watch = GpuWatch()
    async with watch:
        for _ in range(500):
            if sum(map(len, watch._seen.values())) >= wanted:
                break
            await asyncio.sleep(0.02)
    return watch.busy


def test_the_mean_share_of_each_device_is_told(smi: Path) -> None:
    (smi / "lines").write_text("0, 100\n1, 10\n0, 50\n1, 30\n")
    assert asyncio.run(watched(4)) == {"0": 0.75, "1": 0.2}
    assert "--query-gpu=index,utilization.gpu" in (smi / "asked").read_text()


def test_a_device_without_a_figure_is_left_out(smi: Path) -> None:
    (smi / "lines").write_text("0, [N/A]\n1, 40\n")
    assert asyncio.run(watched(1)) == {"1": 0.4}


def test_only_the_devices_of_this_process_are_asked_for(smi: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VISIBLE, "1")
    (smi / "lines").write_text("1, 40\n")
    asyncio.run(watched(1))
    assert "-i 1" in (smi / "asked").read_text()


def test_without_a_driver_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert asyncio.run(watched(0)) is None
