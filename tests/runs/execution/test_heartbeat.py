"""The state of a run while it goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from genbench.draw.progress import ProgressLine
from genbench.runs.execution.heartbeat import Heartbeat
from genbench.store.folder import RunFolder
from genbench.types import Completion, SampleId


def completion(tokens: int) -> Completion:
    return Completion(SampleId("t", "p", 0), 0, 1, "", "x", "stop", 1, tokens, 0, 9, 1, None)


def test_live_json_is_there_while_it_is_open(tmp_path: Path) -> None:
    progress = ProgressLine("m", total=10, done=4, quiet=True)

    async def work(folder: RunFolder) -> None:
        async with Heartbeat(folder, progress, 2, {"t": 4, "u": 0}) as heartbeat:
            heartbeat.tell("loading the engine")
            first = folder.live()
            assert first is not None
            assert (first["state"], first["attempt"], first["drawn"]) == ("loading the engine", 2, 0)
            assert first["tasks"] == {"t": 4, "u": 0} and first["left_s"] is None
            progress.begin()
            progress.completion(completion(30))
            for index in range(3):
                progress.began(SampleId("t", "p", index))
                progress.sample("t", SampleId("t", "p", index))
            heartbeat.tell("drawing")
            second = folder.live()
            assert second is not None and second["tasks"] == {"t": 7, "u": 0}
            assert second["tokens"] == 30 and second["tokens_per_s"] > 0 and second["left_s"] is not None
        assert folder.live() is None

    with RunFolder.writer(tmp_path / "run") as folder:
        asyncio.run(work(folder))


@pytest.mark.slow
def test_it_is_renewed_without_being_told(tmp_path: Path) -> None:
    progress = ProgressLine("m", total=1, done=0, quiet=True)

    async def work(folder: RunFolder) -> None:
        async with Heartbeat(folder, progress, 1, {}):
            assert folder.live() is None
            for _ in range(400):
                await asyncio.sleep(0.02)
                if folder.live() is not None:
                    return
        raise AssertionError("no heartbeat in eight seconds")

    with RunFolder.writer(tmp_path / "run") as folder:
        asyncio.run(work(folder))
