"""What running programs costs: CPU per program and programs a second, next to two ways without a cage.

    python benchmarks/sandbox.py [--rounds 3] [--workers 2] [--skip-slow]
    python benchmarks/sandbox.py --leaks 10000

CPU is that of the whole process tree, so that it is right on a busy machine too. `--leaks N` runs N programs
one after another, and measures what they leave behind: processes, open files and memory.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import typing
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil

from genbench.sandbox.box import Sandbox
from genbench.sandbox.compare import same_text
from genbench.sandbox.programs import Check, Grade, Limits, Program
from genbench.sandbox.selftest import TierWish, open_cage
from genbench.sandbox.service import Pool, Work
from genbench.sandbox.worker import Worker

TESTS = 20
TIERS: tuple[TierWish, ...] = ("a", "b")
READ = "n = int(input())\na = list(map(int, input().split()))\n"
MAIN = (
    "import sys\nfrom collections import defaultdict\n"
    "def main():\n    data = sys.stdin.read().split()\n    print(sum(map(int, data[1:])))\n"
    "if __name__ == '__main__':\n    main()"
)
SIEVE = (
    "n = 200000\ns = bytearray([1]) * (n + 1)\n"
    "for i in range(2, 448):\n    if s[i]: s[i * i :: i] = bytes(len(s[i * i :: i]))\n"
    + READ
    + "print(sum(a))"
)
NUMPY = "import numpy as np\n" + READ + "print(int(np.array(a).sum()))"


@dataclass(frozen=True, slots=True)
class Job:
    """One program with its tests and the verdict that it deserves."""

    program: Program
    checks: tuple[Check, ...]
    verdict: str
    wall_s: float = 6.0


def numbers(seed: int, size: int) -> Check:
    values = [(seed * 7919 + place * 104729) % 1000 for place in range(size)]
    return Check(f"{size}\n{' '.join(map(str, values))}\n", f"{sum(values)}\n")


def quick() -> list[Job]:
    """160 programs of 20 quick tests: right, wrong, crashing, called."""
    small = tuple(numbers(seed, 10) for seed in range(TESTS))
    called = tuple(Check(json.dumps(list(range(n))), str(sum(range(n)))) for n in range(TESTS))
    solution = "class Solution:\n    def f(self, a: List[int]) -> int:\n        return sum(a)"
    return [
        *[Job(Program(READ + "print(sum(a))"), small, "pass")] * 60,
        *[Job(Program(MAIN), small, "pass")] * 35,
        *[Job(Program(solution, "functional", "f"), called, "pass")] * 30,
        *[Job(Program(READ + "print(sum(a) + (a[0] > 500))"), small, "wrong")] * 20,
        *[Job(Program(READ + "print(sum(a) if a[0] < 500 else a[99])"), small, "runtime_error")] * 15,
    ]


def guessable() -> list[Job]:
    """80 right programs of 20 tests that print YES or NO. The second half may leave something behind."""
    tests = tuple(
        Check(check.input, "YES\n" if int(check.output) % 3 else "NO\n")
        for check in (numbers(seed, 10) for seed in range(TESTS))
    )
    text = READ + "print('YES' if sum(a) % 3 else 'NO')"
    return [Job(Program(text), tests, "pass")] * 40 + [Job(Program("import os\n" + text), tests, "pass")] * 40


def full() -> list[Job]:
    """The quick ones, and real work: sieves, inputs of 1 MB, numpy, endless loops."""
    small = tuple(numbers(seed, 10) for seed in range(TESTS))
    big = tuple(numbers(seed, 260_000) for seed in range(TESTS))
    return [
        *quick(),
        *[Job(Program(SIEVE), small, "pass")] * 25,
        *[Job(Program(MAIN), big, "pass")] * 6,
        *[Job(Program(NUMPY), small, "pass")] * 5,
        *[Job(Program("while True: pass"), small, "timeout", wall_s=1.0)] * 2,
    ]


def tree_cpu_s() -> float:
    """CPU seconds of this process and of everything beneath it, the ended ones included."""
    parents: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(place.parent.name))
        ticks[int(place.parent.name)] = sum(map(int, fields[11:15]))
    tree = [os.getpid()]
    for pid in tree:
        tree += parents.get(pid, [])
    return sum(ticks.get(pid, 0) for pid in tree) / os.sysconf("SC_CLK_TCK")


def caged(jobs: list[Job], pool: Pool) -> int:
    """Wrong verdicts of genbench's own sandbox."""
    wrong, left, lock, done = [0], [len(jobs)], threading.Lock(), threading.Event()

    def told(job: Job) -> Callable[[Grade | Exception], None]:
        def tell(answer: Grade | Exception) -> None:
            with lock:
                wrong[0] += not isinstance(answer, Grade) or answer.verdict != job.verdict
                left[0] -= 1
                if left[0] == 0:
                    done.set()

        return tell

    for job in jobs:
        pool.submit(Work(job.program, job.checks, Limits(job.wall_s), told(job)))
    done.wait()
    return wrong[0]


def in_threads(grader: Callable[[Job], str], jobs: list[Job], workers: int) -> int:
    """Return the number of wrong verdicts of a grader that is called for one program after another."""
    queue, wrong = list(jobs), [0]

    def serve() -> None:
        while True:
            try:
                job = queue.pop()
            except IndexError:
                return
            wrong[0] += grader(job) != job.verdict

    threads = [threading.Thread(target=serve) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong[0]


CALLED = "\nimport json, sys\nprint(json.dumps(Solution().f(json.loads(sys.stdin.read()))))"


def by_interpreters(job: Job) -> str:
    """(a) One plain `python -I` per test; the first failure ends it."""
    text = job.program.text
    if job.program.kind == "functional":
        text = "from typing import *\n" + text + CALLED
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(text)
        file.flush()
        for check in job.checks:
            try:
                done = subprocess.run(
                    [sys.executable, "-I", file.name],
                    input=check.input.encode(),
                    capture_output=True,
                    timeout=job.wall_s,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return "timeout"
            if done.returncode:
                return "runtime_error"
            if not same_text(done.stdout, check.output):
                return "wrong"
    return "pass"


def forked(jobs: list[Job], workers: int) -> int:
    """(b) One fork per program that runs its tests and compares in itself; no isolation at all."""
    wrong = 0
    pids: dict[int, str] = {}
    for job in jobs:
        if len(pids) >= workers:
            wrong += reap(pids)
        pid = os.fork()
        if pid == 0:
            os._exit(VERDICTS.index(run_here(job)))
        pids[pid] = job.verdict
    while pids:
        wrong += reap(pids)
    return wrong


VERDICTS = ("pass", "wrong", "runtime_error", "timeout")


def reap(pids: dict[int, str]) -> int:
    pid, status = os.wait()
    return VERDICTS[os.waitstatus_to_exitcode(status)] != pids.pop(pid)


def run_here(job: Job) -> str:
    """The verdict of an evaluator that trusts the program."""

    def late(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, late)
    code = compile(job.program.text, "program.py", "exec")
    for check in job.checks:
        namespace = {"__name__": "__main__", "List": typing.List}  # noqa: UP006
        out = io.StringIO()
        sys.stdin = io.StringIO(check.input)
        signal.alarm(int(job.wall_s))
        try:
            with redirect_stdout(out):
                exec(code, namespace)  # noqa: S102 - programs of this file
                if job.program.kind == "functional":
                    print(json.dumps(namespace["Solution"]().f(json.loads(check.input))))  # type: ignore[operator]
        except TimeoutError:
            return "timeout"
        except Exception:
            return "runtime_error"
        finally:
            signal.alarm(0)
        if not same_text(out.getvalue().encode(), check.output):
            return "wrong"
    return "pass"


def measure(what: str, jobs: list[Job], run: Callable[[list[Job]], int]) -> None:
    cpu, wall = tree_cpu_s(), time.monotonic()
    wrong = run(jobs)
    cpu, wall = tree_cpu_s() - cpu, time.monotonic() - wall
    each = 1000 * cpu / len(jobs)
    print(
        f"| {what} | {cpu:.2f} | {each:.1f} | {len(jobs) / wall:.0f} | {2 * len(jobs) / cpu:.0f} | {wrong} |",
        flush=True,
    )


def starts() -> None:
    cage, first = open_cage()
    first.close()
    ways: dict[str, Callable[[], Worker]] = {
        "worker": lambda: Worker(cage),
        "first worker with self-test": lambda: open_cage()[1],
    }
    for what, start in ways.items():
        walls, cpus = [], []
        for _ in range(5):
            cpu, wall = tree_cpu_s(), time.monotonic()
            worker = start()
            walls.append(time.monotonic() - wall)
            cpus.append(tree_cpu_s() - cpu)
            worker.close()
        walls.sort()
        print(f"start of a {what}: {walls[0]:.2f} s at best, {walls[2]:.2f} s median, {min(cpus):.2f} CPU-s")


LEAKY = (
    ("print(input())", "pass"),
    ("print(1)", "wrong"),
    ("x", "runtime_error"),
    ("import os\nos._exit(0)", "wrong"),
    ("print('x' * (3 << 20))", "output_limit"),
    ("import threading, time\nthreading.Thread(target=time.sleep, args=(9,), daemon=True).start()", "wrong"),
)
"""Programs that end in different ways, with their verdicts."""
MOST_MIB = 8.0
"""Growth of the whole process tree that is no leak: caches and freed memory that is kept."""


@dataclass(frozen=True, slots=True)
class Held:
    """What the process tree of this program has: processes, open files of this process, resident MiB."""

    processes: int
    files: int
    mib: float

    @classmethod
    def now(cls) -> Held:
        tree = [psutil.Process(), *psutil.Process().children(recursive=True)]
        memory = sum(member.memory_info().rss for member in tree) / 2**20
        return cls(len(tree), len(list(Path("/proc/self/fd").iterdir())), memory)

    def __str__(self) -> str:
        return f"{self.processes} processes, {self.files} open files, {self.mib:.0f} MiB"


def leaks(tier: TierWish, programs: int) -> bool:
    """Grade so many programs in one sandbox. Print what they leave behind. Return whether it is nothing."""
    checks, limits = [Check("7\n", "7\n")] * 2, Limits(output_mib=1, memory_mib=256)
    wrong, first, each = 0, None, max(1, programs // len(LEAKY) // 10)
    with Sandbox.open(tier) as box:
        for number in range(-5, programs // len(LEAKY)):
            if number >= 0 and number % each == 0:
                held = Held.now()
                first = first or held
                print(f"tier {tier}, {number * len(LEAKY):6d} programs: {held}", flush=True)
            for text, verdict in LEAKY:
                wrong += box.grade(Program(text), checks, limits).verdict != verdict
        last = Held.now()
    print(
        f"tier {tier}, {programs // len(LEAKY) * len(LEAKY):6d} programs: {last}; {wrong} wrong verdicts",
        flush=True,
    )
    assert first is not None
    same = (last.processes, last.files) == (first.processes, first.files)
    return same and last.mib < first.mib + MOST_MIB and not wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leaks", type=int, metavar="N", help="run N programs and measure what they leave")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--skip-slow", action="store_true", help="leave out the full mix")
    options = parser.parse_args()
    if options.leaks:
        print(f"load {os.getloadavg()[0]:.1f} at the start")
        clean = [leaks(tier, options.leaks) for tier in TIERS]
        sys.exit(not all(clean))
    print(f"{options.workers} workers, load {os.getloadavg()[0]:.1f} at the start")
    starts()
    jobs = guessable()
    mixes = {"quick": quick(), "YES and NO": jobs[:40], "YES and NO, may leave something": jobs[40:]}
    mixes |= {} if options.skip_slow else {"full": full()}
    print("| mix, grader | CPU s | CPU ms a program | programs/s | by CPU on 2 cores | wrong verdicts |")
    print("|---|---|---|---|---|---|")
    for number in range(options.rounds):
        for name, jobs in mixes.items():
            for tier in TIERS:
                with Pool(tier, options.workers) as pool:
                    caged(jobs[:4], pool)
                    measure(f"{name}, genbench tier {tier}", jobs, partial(caged, pool=pool))
            measure(f"{name}, (b) fork per program", jobs, partial(forked, workers=options.workers))
            if number == 0:
                plain = partial(in_threads, by_interpreters, workers=options.workers)
                measure(f"{name}, (a) python -I per test", jobs, plain)


if __name__ == "__main__":
    main()
