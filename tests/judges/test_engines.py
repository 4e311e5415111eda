"""The engines of a run's judges: started once, shared, and closed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from genbench.errors import EngineError
from genbench.judges.engines import JudgeEngines
from genbench.judges.judge import Judge
from genbench.suite.suitefile import read_suite

from .conftest import Case, Server
from .judgefiles import LABELS, served_by


def engines(judged: Case, *judges: Judge) -> JudgeEngines:
    """Return the engines of judges in the suite of a test."""
    judged.write(n=1)
    return JudgeEngines(read_suite(judged.path / "suite.yaml"), judges, judged.path)


def test_judges_with_one_model_and_decoding_share_an_engine(
    judged: Case, server: Server, tmp_path: Path
) -> None:
    first = served_by(server.url, folder=tmp_path)
    second = served_by(server.url, "form: label\nlabels: {GOOD: 1, BAD: 0}\n", folder=tmp_path)
    other = served_by(server.url, f"{LABELS}decoding: {{temperature: 0.5}}\n", folder=tmp_path)

    async def work() -> None:
        found = engines(judged, first, second, other)
        assert not found.was_started(first)
        assert await found.started(first) is await found.started(second)
        assert await found.started(other) is not await found.started(first)
        assert found.was_started(second) and found.record(second)["version"] == "9.9"
        await found.close()

    asyncio.run(work())


def test_a_start_that_failed_is_not_tried_again(judged: Case, server: Server, tmp_path: Path) -> None:
    judge = served_by(server.url, folder=tmp_path)
    server.down = True

    async def work() -> None:
        found = engines(judged, judge)
        errors = []
        for _ in range(3):
            with pytest.raises(EngineError) as caught:
                await found.started(judge)
            errors.append(caught.value)
        assert errors[0] is errors[1] is errors[2]
        await found.close()

    asyncio.run(work())
    assert server.gets == 1


def test_a_judge_without_cases_has_an_empty_canary(judged: Case, server: Server, tmp_path: Path) -> None:
    judge = served_by(server.url, folder=tmp_path)

    async def work() -> None:
        found = engines(judged, judge)
        await found.started(judge)
        assert found.canary(judge) == {}
        await found.close()

    asyncio.run(work())
    assert not server.canaries and not server.requests
