"""Programs that change interpreter, C library, a lock or their input. The next program runs as new."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from genbench.sandbox.box import Sandbox
from genbench.sandbox.programs import Check, Grade, Limits, Program
from genbench.sandbox.worker import Worker

Run = Callable[..., Grade]

INTERPRETER = """
import ctypes, gc, json, os, signal, sys
json.loads = json.decoder.JSONDecoder.decode = lambda *a, **k: None
gc.disable()
sys.meta_path.clear(); sys.path_hooks.clear(); sys.path.clear(); sys.path_importer_cache.clear()
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
ctypes.c_uint32.from_address(id(7) + 24).value = 8  # the one object of all sevens
os.write(1, b"REACHED\\n")
os._exit(0)
"""
LIBRARY = """
import ctypes, os
libc = ctypes.CDLL(None)
at = ctypes.cast(libc.strlen, ctypes.c_void_p).value
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.mprotect(at & ~4095, 8192, 7)
os.write(1, b"REACHED\\n")
ctypes.memmove(at, b"\\xc3" * 6, 6)
os._exit(0)
"""
LOCK = """
import fcntl, json, os
file = os.open(json.__file__, os.O_RDONLY)
fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
print("REACHED")
"""
INPUT = """
import os
for change in (lambda: os.pwrite(0, b"9", 0), lambda: os.ftruncate(0, 0)):
    try: change()
    except OSError: pass
print("REACHED")
"""
AS_NEW = """
import ctypes, fcntl, gc, json, os, signal, sys
assert json.loads("[1]") == [1] and 3 + 4 == int("7") == 6 + 1
assert gc.isenabled() and sys.meta_path and sys.path_hooks
assert not signal.pthread_sigmask(signal.SIG_BLOCK, [])
assert ctypes.CDLL(None).strlen(b"abcdef") == 6
fcntl.flock(os.open(json.__file__, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
assert input() == "3 4"
import colorsys
print("REACHED")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", [INTERPRETER, LIBRARY, LOCK, INPUT], ids=["interpreter", "libc", "lock", "input"]
)
def test_what_a_program_changes_is_as_new_for_the_next(run_tier: Run, text: str) -> None:
    tests = ("3 4\n", "REACHED\n")
    assert run_tier(text, tests).verdict == "pass"
    after = run_tier(AS_NEW, tests)
    assert after.verdict == "pass", after


def test_flags_and_locks_of_dev_null_do_not_stay(run_tier: Run) -> None:
    """A program that is called has it as its standard input."""
    text = """
import fcntl, os
def seen():
    found = fcntl.fcntl(0, fcntl.F_GETFL)
    fcntl.fcntl(0, fcntl.F_SETFL, found | os.O_NONBLOCK)
    fcntl.flock(0, fcntl.LOCK_SH)
    return bool(found & os.O_NONBLOCK)
"""
    for _ in range(2):
        assert run_tier(text, ("seen()", "False"), ("seen()", "True"), kind="assert").verdict == "pass"


def test_a_worker_outlives_programs_that_change_everything(any_box: object, run: Run) -> None:
    worker = vars(any_box)["_worker"]
    for text in (INTERPRETER, LIBRARY):
        assert run(text, ("3 4\n", "REACHED\n"), limits=Limits(wall_s=5.0, memory_mib=256)).verdict == "pass"
    assert isinstance(worker, Worker) and vars(any_box)["_worker"] is worker


def test_a_program_that_got_no_thread_runs_again_in_a_turn_of_its_own(run: Run) -> None:
    """The kernel may have given all threads of the user to the programs next to it."""
    began = time.monotonic()
    grade = run('raise RuntimeError("can\'t start new thread")', limits=Limits(wall_s=5.0, memory_mib=256))
    assert grade.verdict == "runtime_error"
    gate = Path(tempfile.gettempdir()) / f"genbench-sandbox-{os.getuid()}.gate"
    until, _, owner = gate.read_text().strip().partition(" ")
    assert (float(until) >= began, owner) == (True, str(os.getppid()))


@pytest.mark.slow
def test_a_program_that_the_kernel_kills_once_is_judged_again(any_box: Sandbox) -> None:
    """If the machine lacks memory, the kernel kills any process."""
    worker = vars(any_box)["_worker"]
    zygote = _zygote_of(vars(worker)["_process"].pid)
    (twin,) = _children_of(zygote)
    killed: list[int] = []

    def kill_one() -> None:
        end = time.monotonic() + 60
        while not killed and time.monotonic() < end:
            for child in set(_children_of(zygote)) - {twin}:
                os.kill(child, signal.SIGKILL)
                killed.append(child)
            time.sleep(0.01)

    killer = threading.Thread(target=kill_one)
    killer.start()
    program = Program("import time\ntime.sleep(0.7)\nprint('REACHED')", "stdio", None, "real")
    graded = any_box.grade(program, [Check("", "REACHED\n")], Limits(wall_s=5.0, memory_mib=256))
    killer.join()
    assert killed and graded.verdict == "pass", graded


@pytest.mark.slow
def test_a_program_that_kills_itself_each_time_is_its_own_failure(run: Run) -> None:
    assert run("import signal\nsignal.raise_signal(9)").verdict == "memory"


def _children_of(pid: int) -> list[int]:
    """Return the children of a process."""
    found = (path.read_text() for path in Path("/proc").glob(f"{pid}/task/*/children"))
    return [int(child) for text in found for child in text.split()]


def _zygote_of(pid: int) -> int:
    """Return the last but one of the chain below a cage's own: keeper, bubblewrap, zygote, its twin."""
    chain = [pid]
    while children := _children_of(chain[-1]):
        chain.append(children[0])
    return chain[-2]
