"""One command on all models of a suite: what is drawn, what is only read, and how it is continued."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from genbench.errors import ConfigError, InterruptedRunError
from genbench.runs.command import run_models
from genbench.store.folder import RunFolder
from tests.runs.ruled import options


def test_every_model_is_drawn_into_a_folder_of_its_own(tmp_path: Path) -> None:
    ran = run_models(options(tmp_path, models=("m", "n=other")))
    assert {name: path.name for name, path in ran.folders.items()} == {"m": "m", "n": "n"}
    assert {name: found.tasks["sums"].value for name, found in ran.results.items()} == {"m": 1.0, "n": 1.0}
    assert ran.untouched == []


def test_a_complete_run_that_is_reused_is_only_read(tmp_path: Path) -> None:
    first = run_models(options(tmp_path))
    before = (first.folders["m"] / "manifest.json").read_bytes()
    again = run_models(options(tmp_path, run_dir=tmp_path / "other", reuse=(f"m={first.folders['m']}",)))
    assert list(again.untouched) == [first.folders["m"]]
    assert again.results["m"].tasks == first.results["m"].tasks
    assert (first.folders["m"] / "manifest.json").read_bytes() == before


def test_a_shard_without_a_problem_runs_nothing(tmp_path: Path) -> None:
    ran = [run_models(options(tmp_path, n=1, shard=f"{part}/3")) for part in (1, 2, 3)]
    assert sorted(len(part.folders) for part in ran) == [0, 0, 1]


def test_a_run_that_is_stopped_says_how_to_continue(tmp_path: Path) -> None:
    stopped = options(tmp_path, max_hours=1e-9, command="genbench run suite.yaml --max-hours 1e-9")
    with pytest.raises(InterruptedRunError, match="Continue with: genbench run suite") as error:
        run_models(stopped)
    assert str(tmp_path / "runs" / "m") in str(error.value)
    done = run_models(replace(stopped, max_hours=None))
    assert done.results["m"].tasks["sums"].lacking == 0
    assert len(RunFolder(done.folders["m"]).require_manifest().attempts) == 2


def test_options_that_contradict_each_other_are_refused_before_anything_is_drawn(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--limit 0: wanted at least 1"):
        run_models(options(tmp_path, limit=0))
    assert not (tmp_path / "runs").exists()
