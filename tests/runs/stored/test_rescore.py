"""Stored runs are verified again without an engine, and a stop keeps what was verified."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from genbench.errors import InterruptedRunError, RunFolderError
from genbench.judges.session import JudgeSession
from genbench.runs.command import run_models
from genbench.runs.event_loop import StopSwitch
from genbench.runs.stored.load import load_stored
from genbench.runs.stored.rescore import Rescoring, judge_folders, score_folder
from genbench.store.folder import RunFolder
from tests.runs.ruled import options


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of one finished run."""
    return run_models(options(tmp_path_factory.mktemp("drawn"))).folders["m"]


@pytest.fixture
def path(drawn: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(drawn, tmp_path / "m"))


def test_verdicts_that_were_lost_are_made_again(path: Path) -> None:
    before = RunFolder(path).results()
    verdicts = RunFolder(path).file("sums", "verdicts")
    verdicts.write_bytes(b"".join(verdicts.read_bytes().splitlines(keepends=True)[:3]))
    found = score_folder(path, None, False, True, StopSwitch())
    assert before is not None and found.to_json()["tasks"] == before["tasks"]
    assert len(list(RunFolder(path).verdicts("sums"))) == 8


def test_every_verdict_is_made_again_on_request_and_the_manifest_says_so(path: Path) -> None:
    score_folder(path, None, True, True, StopSwitch())
    (record,) = RunFolder(path).require_manifest().scored
    assert record.again and len(list(RunFolder(path).verdicts("sums"))) == 8


def test_runs_without_a_judge_on_this_machine_are_only_scored(path: Path) -> None:
    (found,) = judge_folders([path], None, True, StopSwitch()).values()
    assert found.tasks["sums"].status_counts == {"correct": 8}


def test_a_pass_that_is_stopped_says_how_to_continue(path: Path) -> None:
    switch = StopSwitch()
    switch.stop("Ctrl-C")
    RunFolder(path).file("sums", "verdicts").unlink()
    with RunFolder.writer(path) as folder:
        run = load_stored(folder, None, ())
        judges = JudgeSession(run.suite, run.tasks, path)
        with pytest.raises(InterruptedRunError, match="stopped by Ctrl-C; continue with: genbench score"):
            asyncio.run(Rescoring(judges, switch, quiet=True).run(folder, run))


def test_a_folder_that_is_no_run_gets_no_lock_file(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="not a run folder"):
        score_folder(tmp_path, None, False, True, StopSwitch())
    assert list(tmp_path.iterdir()) == []
