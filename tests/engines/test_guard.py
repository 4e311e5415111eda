"""The guard: when its run is killed, it ends what the run has left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from genbench.engines import guard
from genbench.sandbox import worker
from genbench.sandbox.box import Sandbox

SLEEP = [sys.executable, "-S", "-c", "import time; time.sleep(60)"]


@pytest.fixture
def run() -> Iterator[subprocess.Popen[bytes]]:
    """A process that stands for a run."""
    process = subprocess.Popen(SLEEP)
    yield process
    process.kill()
    process.wait()


def orphan(**environment: str) -> int:
    """A process in a session of its own whose parent has ended, as a half-opened cage is."""
    kept = "start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL"
    script = f"import subprocess; print(subprocess.Popen({SLEEP!r}, {kept}).pid)"
    started = subprocess.run(
        [sys.executable, "-S", "-c", script], env=environment, capture_output=True, check=True
    )
    return int(started.stdout)


def test_a_cage_whose_opener_was_killed_ends_with_its_run(run: subprocess.Popen[bytes]) -> None:
    ours = psutil.Process(orphan(**{guard.CAGE_OF: str(run.pid)}))
    other = psutil.Process(orphan(**{guard.CAGE_OF: str(os.getpid())}))
    watcher = subprocess.Popen(
        [sys.executable, "-I", "-S", guard.__file__, str(run.pid), "marker"], stdin=subprocess.PIPE
    )
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            watcher.wait(1.0)
        assert ours.is_running()
        run.kill()
        run.wait()
        assert watcher.wait(20) == 0
        assert not ours.is_running() or ours.status() == psutil.STATUS_ZOMBIE
        assert other.is_running()
    finally:
        watcher.kill()
        watcher.communicate()
        for process in (ours, other):
            if process.is_running():
                process.kill()


def test_a_cage_of_bubblewrap_is_opened_under_the_name_that_the_guard_looks_for() -> None:
    assert guard.CAGE_OF == worker.CAGE_OF
    with Sandbox.open("a"):
        children = psutil.Process().children(recursive=True)
        environments = [Path(f"/proc/{child.pid}/environ").read_bytes() for child in children]
    assert any(f"{worker.CAGE_OF}={os.getppid()}".encode() in found for found in environments)
