"""Programs by the hundred leave nothing behind: no process, no descriptor, no memory.

`python benchmarks/sandbox.py --leaks 10000` does the same with 10,000 programs.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from genbench.sandbox.box import Sandbox
from genbench.sandbox.programs import Check, Limits, Program

PROGRAMS = [
    ("print(input())", "pass"),
    ("print(1)", "wrong"),
    ("x", "runtime_error"),
    ("import os\nos._exit(0)", "wrong"),
    ("print('x' * (3 << 20))", "output_limit"),
    (
        "import threading, time\n" + "threading.Thread(target=time.sleep, args=(9,), daemon=True).start()",
        "wrong",
    ),
]


def _descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def _tree(root: int) -> list[int]:
    """Return `root` and every process beneath it, but for a browser that other tests have opened."""
    children: dict[int, list[int]] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = place.read_text().rpartition(")")
        except OSError:
            continue
        if "(chrom" in name:
            continue
        parent = int(rest.split()[1])
        children.setdefault(parent, []).append(int(place.parent.name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def _memory_mib(pids: list[int]) -> float:
    pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _round(box: Sandbox) -> None:
    for text, verdict in PROGRAMS:
        graded = box.grade(Program(text), [Check("7\n", "7\n")] * 2, Limits(output_mib=1, memory_mib=256))
        assert graded.verdict == verdict, (text, graded)


def _run(box: Sandbox, programs: int) -> None:
    """Run programs. None of them may leave more than 5 KiB in memory."""
    for _ in range(5):
        _round(box)
    pids, descriptors = _tree(os.getpid()), _descriptors()
    memory = _memory_mib(pids)
    for _ in range(programs // len(PROGRAMS)):
        _round(box)
    assert _tree(os.getpid()) == pids
    assert _descriptors() == descriptors
    assert _memory_mib(pids) < memory + programs * 5 / 1024


@pytest.mark.slow
def test_hundreds_of_programs_leave_nothing_behind(box: Sandbox) -> None:
    _run(box, 500)


@pytest.mark.slow
def test_a_closed_sandbox_leaves_no_process_and_no_descriptor() -> None:
    pids, descriptors = _tree(os.getpid()), _descriptors()
    with Sandbox.open() as box:
        _round(box)
    assert (_tree(os.getpid()), _descriptors()) == (pids, descriptors)
