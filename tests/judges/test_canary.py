"""The canary: which cases are asked, and what counts as drift."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import ConfigError
from genbench.judges.calibration import CANARIES, ask_canary, pin_path, words_of, write_pin
from genbench.judges.engines import build_engine
from genbench.judges.judge import Judge
from genbench.suite.judge import JudgeConfig

from .conftest import Server
from .judgefiles import LABELS, own_judge, served_by


def judge_with_cases(folder: Path, server: Server, cases: int = 10) -> Judge:
    """Return a judge with a calibration set of its own."""
    rows = [
        {"id": f"c{i}", "question": "q", "reference": "r", "answer": f"answer {i}", "label": "YES"}
        for i in range(cases)
    ]
    (folder / "c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return served_by(server.url, f"{LABELS}calibration: c.jsonl\n", folder=folder)


def canary(judge: Judge, path: Path) -> dict[str, Any] | None:
    async def work() -> dict[str, Any] | None:
        engine = build_engine(judge.spec, JudgeConfig(), path.parent, path.parent)
        await engine.start()
        try:
            return await ask_canary(judge, engine, path)
        finally:
            await engine.close()

    return asyncio.run(work())


def test_the_first_cases_are_asked(tmp_path: Path, server: Server) -> None:
    server.grade = lambda prompt: "YES"
    found = canary(judge_with_cases(tmp_path, server), tmp_path / "own.pin.json")
    assert found is not None
    assert (found["labels"], found["drifted"]) == ({f"c{i}": "YES" for i in range(CANARIES)}, None)


def test_a_judge_without_cases_has_no_canary(tmp_path: Path, server: Server) -> None:
    assert canary(served_by(server.url, folder=tmp_path), tmp_path / "own.pin.json") is None
    assert not server.canaries and not server.requests


def test_labels_that_moved_since_the_pin_are_named(tmp_path: Path, server: Server) -> None:
    judge, path = judge_with_cases(tmp_path, server), tmp_path / "own.pin.json"
    write_pin(path, judge, {f"c{i}": "YES" for i in range(CANARIES)})
    server.grade = lambda prompt: "NO" if "answer 3" in prompt else "YES"
    found = canary(judge, path)
    assert found is not None and found["drifted"] == ["c3"]


def test_a_case_without_a_verdict_has_moved(tmp_path: Path, server: Server) -> None:
    judge, path = judge_with_cases(tmp_path, server, 2), tmp_path / "own.pin.json"
    write_pin(path, judge, {"c0": "YES", "c1": "YES"})
    server.grade = lambda prompt: "hm" if "answer 1" in prompt else "YES"
    found = canary(judge, path)
    assert found is not None
    assert (found["labels"], found["drifted"]) == ({"c0": "YES", "c1": None}, ["c1"])


def test_the_agreement_is_that_of_the_canary_without_a_pin(tmp_path: Path, server: Server) -> None:
    judge, path = judge_with_cases(tmp_path, server), tmp_path / "own.pin.json"
    rows = (tmp_path / "c.jsonl").read_text().splitlines()
    (tmp_path / "c.jsonl").write_text("\n".join([*rows[:4], *(row.replace("YES", "NO") for row in rows[4:])]))
    server.grade = lambda prompt: "YES" if "answer 1" in prompt or "answer 6" in prompt else "NO"
    found = canary(judge, path)
    # People say YES to c0-c3. The judge says it to c1 and c6: 4 of 8 agree, as chance has it.
    assert found is not None and (found["accuracy"], found["verdicts"]) == (0.5, CANARIES)
    assert found["kappa"] == pytest.approx(0.0)


def test_the_agreement_is_that_of_the_whole_set_with_a_pin(tmp_path: Path, server: Server) -> None:
    judge, path = judge_with_cases(tmp_path, server), tmp_path / "own.pin.json"
    write_pin(path, judge, {"c0": "YES"}, {"kappa": 0.11, "accuracy": 0.6, "verdicts": 120})
    server.grade = lambda prompt: "YES"
    found = canary(judge, path)
    assert found is not None and [found[key] for key in ("kappa", "accuracy", "verdicts")] == [0.11, 0.6, 120]


def test_a_pin_of_another_judge_says_nothing(tmp_path: Path, server: Server) -> None:
    judge, path = judge_with_cases(tmp_path, server, 2), tmp_path / "own.pin.json"
    path.write_text(json.dumps({"judge": "another", "labels": {"c0": "NO"}}))
    server.grade = lambda prompt: "YES"
    found = canary(judge, path)
    assert found is not None and found["drifted"] is None


def test_a_damaged_pin_says_how_to_make_it_again(tmp_path: Path, server: Server) -> None:
    judge, path = judge_with_cases(tmp_path, server, 2), tmp_path / "own.pin.json"
    path.write_text("{")
    with pytest.raises(ConfigError, match="genbench judge check --pin"):
        canary(judge, path)


def test_the_pin_is_named_after_the_judge(tmp_path: Path) -> None:
    assert pin_path(own_judge(tmp_path).spec, tmp_path) == tmp_path / "own.pin.json"
    assert words_of(None) is None
