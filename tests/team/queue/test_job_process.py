"""The process of a job: its lock, its log, its variables, and another worker that finds it alive."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

import pytest

from genbench.errors import InputError
from genbench.team.queue.job_process import JobProcess, job_environment

SLEEPER = [sys.executable, "-S", "-c", "import time; print('drawing', flush=True); time.sleep(60)"]
ENDS = [sys.executable, "-S", "-c", "raise SystemExit(5)"]


def wait_for(process: JobProcess) -> None:
    for _ in range(500):
        if not process.is_alive():
            return
        time.sleep(0.01)
    raise AssertionError("the process did not end")


def wait_for_log(folder: Path) -> None:
    while "drawing" not in (folder / "log").read_text():
        time.sleep(0.01)


def test_the_exit_code_and_the_log_are_kept(tmp_path: Path) -> None:
    process = JobProcess(tmp_path / "1")
    assert not process.is_alive()
    assert process.start(ENDS, {})
    wait_for(process)
    assert process.exit_code == 5 and process.is_ours


def test_another_worker_finds_the_process_alive_and_can_stop_it(tmp_path: Path) -> None:
    first = JobProcess(tmp_path)
    assert first.start(SLEEPER, {})
    wait_for_log(tmp_path)
    second = JobProcess(tmp_path)
    assert second.is_alive() and not second.is_ours and second.exit_code is None
    assert not second.start(ENDS, {})
    second.stop(signal.SIGTERM)
    wait_for(first)
    assert not second.is_alive()
    assert first.exit_code == -signal.SIGTERM


def test_a_number_that_now_is_another_process_is_never_signalled(tmp_path: Path) -> None:
    other = JobProcess(tmp_path / "other")
    assert other.start(SLEEPER, {})
    wait_for_log(tmp_path / "other")
    (tmp_path / "stale").mkdir()
    (tmp_path / "stale" / "pid").write_text((tmp_path / "other" / "pid").read_text())
    JobProcess(tmp_path / "stale").stop(signal.SIGKILL)
    assert other.is_alive()
    other.stop(signal.SIGKILL)
    wait_for(other)


def test_a_program_that_is_not_there_ends_with_the_code_of_the_shell(tmp_path: Path) -> None:
    process = JobProcess(tmp_path)
    assert process.start(["/no/such/program"], {})
    wait_for(process)
    assert process.exit_code in (126, 127)


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        JobProcess(tmp_path / "file" / "1").is_alive()


def test_a_job_inherits_only_listed_variables() -> None:
    environment = {"PATH": "/bin", "HF_HOME": "/hf", "AWS_SECRET": "x", "GENBENCH_TOKEN": "t", "MINE": "1"}
    assert job_environment(environment) == {"PATH": "/bin", "HF_HOME": "/hf"}
    assert job_environment(environment, more=("MINE",), devices=("2", "3")) == {
        "PATH": "/bin",
        "HF_HOME": "/hf",
        "MINE": "1",
        "CUDA_VISIBLE_DEVICES": "2,3",
    }
