"""The keeper of a cage: no process of bubblewrap is left, whichever of them is killed while it starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil
import pytest

from genbench.sandbox import keeper
from genbench.sandbox.cage import Cage, candidates
from genbench.sandbox.worker import SandboxError, Worker

HALF_STARTED = """\
#!{python} -S
# Starts as bubblewrap does, up to the moment in which its child waits for a message that never comes.
import os, time
if os.fork() == 0:
    open({mark!r}, "w").write(str(os.getpid()))
    time.sleep(300)
while not os.path.exists({mark!r}) or not open({mark!r}).read():
    time.sleep(0.01)
{then}
"""
OPENER = """\
import sys
from genbench.sandbox.cage import Cage, candidates
from genbench.sandbox.worker import Worker
Worker(Cage("a", "half", (sys.argv[1],), {}, (), (), ()))
"""


@pytest.fixture
def mark(tmp_path: Path) -> Iterator[Path]:
    """The file with the process id of the waiting child, which is killed in the end."""
    path = tmp_path / "child"
    yield path
    with suppress(ProcessLookupError):
        os.kill(int(path.read_text()), signal.SIGKILL)


def half_started(mark: Path, then: str) -> str:
    program = mark.with_name("bwrap")
    program.write_text(HALF_STARTED.format(python=sys.executable, mark=str(mark), then=then))
    program.chmod(0o755)
    return str(program)


def wait_for(found: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not found():
        assert time.monotonic() < end
        time.sleep(0.01)


def is_there(mark: Path) -> bool:
    return mark.exists() and bool(mark.read_text())


def is_gone(mark: Path) -> bool:
    """Return whether the waiting child has ended. A new process with its number would fail the test."""
    try:
        return bool(psutil.Process(int(mark.read_text())).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def test_a_killed_opener_leaves_no_waiting_process(mark: Path) -> None:
    bwrap = half_started(mark, "time.sleep(300)")
    opener = subprocess.Popen([sys.executable, "-c", OPENER, bwrap])
    wait_for(lambda: is_there(mark))
    opener.kill()
    opener.wait()
    wait_for(lambda: is_gone(mark))


def test_a_bubblewrap_that_is_killed_while_it_starts_is_an_error_at_once_and_leaves_nothing(
    mark: Path,
) -> None:
    bwrap = half_started(mark, "os.kill(os.getpid(), 9)")
    with pytest.raises(SandboxError, match="half: "):
        Worker(Cage("a", "half", (bwrap,), {}, (), (), ()))
    assert is_gone(mark)


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "bwrap"
    with pytest.raises(SandboxError, match="bwrap: No such file"):
        Worker(Cage("a", "missing", (str(missing),), {}, (), (), ()))


@pytest.mark.parametrize(("script", "code"), [("exit 7", 7), ("kill -9 $$", 137)])
def test_the_exit_code_is_that_of_the_command(script: str, code: int) -> None:
    lifeline, end = os.pipe()
    try:
        kept = keeper.command(lifeline, ["/bin/sh", "-c", script])
        assert subprocess.run(kept, pass_fds=[lifeline], check=False, timeout=60).returncode == code
    finally:
        os.close(lifeline)
        os.close(end)


@pytest.mark.parametrize("cage", candidates("a"), ids=lambda cage: cage.label)
def test_real_bubblewrap_killed_as_soon_as_it_has_a_child_leaves_nothing(cage: Cage) -> None:
    """Without a keeper, the child was left behind in 123 of 300 such kills."""
    for _ in range(5):
        watched, lifeline = os.pipe()
        kept = subprocess.Popen(
            keeper.command(watched, cage.command),
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=[watched],
        )
        try:
            wait_for(partial(has_grandchildren, kept.pid))
            (bwrap,) = children(kept.pid)
            inside = children(bwrap)
            os.kill(bwrap, signal.SIGKILL)
            assert kept.wait(60) == 128 + signal.SIGKILL
            assert not any(Path(f"/proc/{pid}").exists() for pid in inside)
        finally:
            os.close(watched)
            os.close(lifeline)
            kept.communicate()


def children(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    with suppress(OSError):
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def has_grandchildren(pid: int) -> bool:
    return any(children(child) for child in children(pid))
