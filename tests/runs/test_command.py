"""One command on all models of a suite: what is drawn, what is only read, and how it is continued."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from genbench import pipeline
from genbench.errors import ConfigError, InterruptedRunError
from genbench.runs.command import run_models
from genbench.store.folder import RunFolder
from genbench.types import Completion, Request
from tests.engines.rule_engine import RuleEngine
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


class _InterruptedEngine(RuleEngine):
    """Presses Ctrl-C at the fifth request, which is the first of the second model."""

    asked = 0

    async def generate(self, request: Request, attempt: int) -> Completion:
        """Return the sum."""
        _InterruptedEngine.asked += 1
        if _InterruptedEngine.asked == 5:
            os.kill(os.getpid(), signal.SIGINT)
        return await super().generate(request, attempt)


def test_a_run_of_two_models_that_is_stopped_reports_the_one_that_was_finished(tmp_path: Path) -> None:
    kind = f"engine.kind={__name__}:_InterruptedEngine"
    given = options(tmp_path, n=2, models=("m", "n=other"), overrides=(kind, "engine.concurrency=1"))
    with pytest.raises(InterruptedRunError, match="stopped by Ctrl-C") as error:
        pipeline.run(given)
    page = tmp_path / "runs" / "m" / "report.html"
    assert error.value.finished == (page.parent,) and page.is_file()
    assert str(error.value).endswith(f"finished before: m\nreport: {page}")
