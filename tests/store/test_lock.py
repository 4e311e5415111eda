from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from genbench.errors import RunFolderError, RunLockedError
from genbench.store.lock import FolderLock, writer_of

HOLD = """
import sys, time
from pathlib import Path
from genbench.store.lock import FolderLock
lock = FolderLock(Path(sys.argv[1]))
print("held", flush=True)
if len(sys.argv) > 2:
    import os
    if os.fork() == 0:
        time.sleep(30)
        os._exit(0)
time.sleep(30)
"""


def _holder(folder: Path, *more: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder), *more], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


@pytest.mark.slow
def test_a_second_writer_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    process = _holder(tmp_path)
    try:
        with pytest.raises(RunLockedError, match=f"pid {process.pid} on .*since 20"):
            FolderLock(tmp_path)
    finally:
        _end(process)


def test_a_second_writer_in_the_same_process_is_refused(tmp_path: Path) -> None:
    with FolderLock(tmp_path), pytest.raises(RunLockedError, match=f"pid {os.getpid()}"):
        FolderLock(tmp_path)


@pytest.mark.slow
def test_the_lock_ends_with_its_holder_even_if_a_forked_child_lives(tmp_path: Path) -> None:
    process = _holder(tmp_path, "fork")
    time.sleep(0.3)
    children = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True, check=True
    )
    _end(process)
    child = int(children.stdout.split()[0])
    try:
        os.kill(child, 0)
        FolderLock(tmp_path).close()
    finally:
        os.kill(child, 9)


def test_a_released_lock_can_be_taken_again(tmp_path: Path) -> None:
    FolderLock(tmp_path).close()
    FolderLock(tmp_path).close()


def test_the_record_of_a_killed_process_with_our_pid_does_not_lock_us_out(tmp_path: Path) -> None:
    import socket

    (tmp_path / "owner.json").write_text(
        f'{{"host": "{socket.gethostname()}", "pid": {os.getpid()}, "start_ticks": 1, "started": "x"}}'
    )
    FolderLock(tmp_path).close()


def test_a_folder_below_a_file_is_an_error_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFolderError, match="cannot be written"):
        FolderLock(tmp_path / "file" / "run")


@pytest.mark.parametrize(
    "content", ["[]", "null", '{"pid": "x"}', '{"pid": -1}', '{"pid": 1e9}', "[" * 100_000]
)
def test_owner_that_no_run_wrote_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "owner.json").write_text(content)
    assert writer_of(tmp_path) is None
    with FolderLock(tmp_path):
        assert writer_of(tmp_path) is not None


def test_a_second_name_of_a_file_of_someone_else_is_not_written(tmp_path: Path) -> None:
    folder, victim = tmp_path / "run", tmp_path / "notes.txt"
    folder.mkdir()
    victim.write_text("mine")
    os.link(victim, folder / "owner.json")
    with FolderLock(folder):
        assert writer_of(folder) is not None
    assert victim.read_text() == "mine"
