"""The engine that a judge's file or suite names."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.engines.http.chat import ChatServer
from genbench.errors import ConfigError, DataError
from genbench.judges.engines import build_engine
from genbench.judges.spec import read_judge
from genbench.suite.judge import JudgeConfig, JudgeModel

from .judgefiles import COMMIT, own_judge, served_by


def test_a_server_is_asked_over_http(tmp_path: Path) -> None:
    judge = served_by("http://127.0.0.1:1/v1", folder=tmp_path)
    engine = build_engine(judge.spec, JudgeConfig(), tmp_path, tmp_path)
    assert isinstance(engine, ChatServer)
    assert engine.record["revision_declared"] == COMMIT and engine.record["proven"] is False


def test_a_missing_key_is_told_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GRADER_KEY", raising=False)
    judge = served_by("http://127.0.0.1:1/v1", folder=tmp_path, api_key_env="GRADER_KEY")
    with pytest.raises(ConfigError, match="export GRADER_KEY="):
        build_engine(judge.spec, JudgeConfig(), tmp_path, tmp_path)


def test_a_path_of_the_suite_is_relative_to_the_suite_and_one_of_the_file_to_the_file(tmp_path: Path) -> None:
    folder = tmp_path / "judges"
    folder.mkdir()
    own_judge(folder)
    over = JudgeConfig(model=JudgeModel(path="./weights", revision=f"sha256:{'0' * 64}"))
    spec = read_judge(folder / "own.yaml", over)
    with pytest.raises((ConfigError, DataError), match=str(tmp_path / "suite" / "weights")):
        build_engine(spec, over, tmp_path / "suite", tmp_path)
    with pytest.raises((ConfigError, DataError), match=str(folder / "weights")):
        build_engine(spec, JudgeConfig(), tmp_path / "suite", tmp_path)
