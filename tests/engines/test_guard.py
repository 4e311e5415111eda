"""The guard: when its run is killed, it ends what the run has left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from genbench.engines.vllm import guard
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


@pytest.mark.slow
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
        assert watcher.wait(60) == 0
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


def wait_for(found: Callable[[], bool], limit_s: float = 20.0) -> None:
    end = time.monotonic() + limit_s
    while not found():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_killed_watcher_is_replaced() -> None:
    with guard.EngineGuard() as opened:
        first = opened.watcher_pid
        assert first is not None
        psutil.Process(first).kill()
        wait_for(lambda: opened.watcher_pid not in (first, None))
        assert psutil.pid_exists(opened.watcher_pid or 0)


def test_a_watcher_that_is_gone_when_the_engine_settles_does_no_harm() -> None:
    with guard.EngineGuard() as opened:
        for _ in range(3):
            watcher = opened.watcher_pid
            assert watcher is not None  # psutil takes None for this process
            with suppress(psutil.NoSuchProcess):  # killed before, and not yet replaced
                psutil.Process(watcher).kill()
            opened.settled()  # once this failed again when the pipe was closed, and ended the run silently
    assert opened.watcher_pid is None


def test_a_closed_guard_starts_no_further_watcher() -> None:
    with guard.EngineGuard() as opened:
        watcher = psutil.Process(opened.watcher_pid)
    wait_for(lambda: not watcher.is_running())
    time.sleep(0.3)
    assert opened.watcher_pid is None
    assert not [child for child in psutil.Process().children() if "guard.py" in " ".join(child.cmdline())]


RUN = """\
import subprocess, sys, time
from genbench.engines.vllm.guard import EngineGuard
with EngineGuard() as guard:
    sleep = [sys.executable, "-S", "-c", "import time; time.sleep(60)"]
    engine = subprocess.Popen(sleep, start_new_session=True)
    first = guard.watcher_pid
    print(engine.pid, first, flush=True)
    while guard.watcher_pid in (first, None):
        time.sleep(0.02)
    time.sleep(0.5)
    print("replaced", flush=True)
    time.sleep(60)
"""


@pytest.mark.slow
def test_no_engine_outlives_a_run_whose_guard_was_killed_first() -> None:
    run = subprocess.Popen([sys.executable, "-c", RUN], stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    engine, watcher = (psutil.Process(int(word)) for word in run.stdout.readline().split())
    watcher.kill()
    assert run.stdout.readline() == "replaced\n"
    run.kill()
    run.communicate()
    wait_for(lambda: not engine.is_running() or engine.status() == psutil.STATUS_ZOMBIE)


FORK = """\
import os, signal, time
from genbench.engines.vllm.guard import EngineGuard
with EngineGuard() as guard:
    time.sleep(0.5)
    os.kill(guard.watcher_pid, signal.SIGSTOP)  # it has no turn
    if os.fork() == 0:
        print(os.getpid(), guard.watcher_pid, flush=True)
    time.sleep(60)
"""


@pytest.mark.slow
def test_an_engine_that_is_forked_just_before_its_run_is_killed_does_not_outlive_it() -> None:
    run = subprocess.Popen([sys.executable, "-c", FORK], stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    engine, watcher = (psutil.Process(int(word)) for word in run.stdout.readline().split())
    run.kill()
    run.wait()
    assert engine.is_running()
    watcher.resume()  # it looks for the run first, which is gone: only the engine's own word is left
    wait_for(lambda: not engine.is_running() or engine.status() == psutil.STATUS_ZOMBIE)
    run.stdout.close()


def test_descendants_are_found_when_they_start_and_stay_known_when_their_parent_ends() -> None:
    child = f"import subprocess; input(); p = subprocess.Popen({SLEEP!r}); print(p.pid, flush=True); input()"
    command = [sys.executable, "-S", "-c", child]
    parent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert parent.stdin is not None and parent.stdout is not None
    family = guard.Family(os.getpid())
    assert parent.pid in {pid for pid, _ in family.members}
    print("start", file=parent.stdin, flush=True)
    grandchild = psutil.Process(int(parent.stdout.readline()))
    family.look()
    assert {parent.pid, grandchild.pid} <= {pid for pid, _ in family.members}
    print("end", file=parent.stdin, flush=True)
    parent.wait(60)
    family.look()
    found = {pid for pid, _ in family.members}
    assert parent.pid not in found and grandchild.pid in found
    grandchild.kill()
    wait_for(lambda: not grandchild.is_running() or grandchild.status() == psutil.STATUS_ZOMBIE)
    family.look()
    assert grandchild.pid not in {pid for pid, _ in family.members}
    parent.communicate()


def test_stopped_processes_are_killed_with_all_that_they_started() -> None:
    child = f"import subprocess; p = subprocess.Popen({SLEEP!r}); print(p.pid, flush=True); p.wait()"
    parent = subprocess.Popen([sys.executable, "-S", "-c", child], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    grandchild = psutil.Process(int(parent.stdout.readline()))
    for pid in (parent.pid, grandchild.pid):
        os.kill(pid, signal.SIGSTOP)
    guard.kill_with_descendants([parent.pid])
    assert parent.wait(60) == -signal.SIGKILL
    wait_for(lambda: not grandchild.is_running() or grandchild.status() == psutil.STATUS_ZOMBIE)
    parent.communicate()
