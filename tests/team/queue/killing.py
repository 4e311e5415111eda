"""Workers, jobs and a stand-in for `genbench run`, to be killed again and again with a seed."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from genbench.team.queue.database import Queue, open_queue
from genbench.team.queue.jobs import count_jobs, job_events, job_folder, list_jobs, submit
from genbench.team.queue.spec import JobSpec, PlacedSpec
from tests import warm
from tests.team.queue.killing_service import KilledService

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = 12

CHILD = """
# Draws samples as `genbench run` does: one writer by a lock, lines appended, a finished run draws nothing.
import fcntl, json, os, signal, sys, time
if "run" not in sys.argv[1:2]:
    sys.exit(0)
folder = next(a for a in sys.argv if a.startswith("--run-dir=")).partition("=")[2] + "/m"
os.makedirs(folder + "/sums", exist_ok=True)
lock = open(folder + "/lock", "a")
try:
    fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError:
    sys.exit(2)
stop = []
signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
path = folder + "/sums/completions.jsonl"
done = [int(line) for line in open(path)] if os.path.exists(path) else []
with open(path, "a") as file:
    for number in range(SAMPLES):
        if number in done:
            continue
        if stop:
            sys.exit(130)
        time.sleep(PAUSE)
        file.write(f"{number}\\n")
        file.flush()
open(folder + "/results.json", "w").write('{"failed": []}')
"""

WORKER = """
import sys, time
from pathlib import Path
from genbench.team.queue.database import open_queue
from genbench.team.queue.worker import Worker, WorkerOptions
ledger, child, back = sys.argv[1:]
options = WorkerOptions(
    slots=("0",), program=(sys.executable, "-S", child), until_empty=True, lease_s=6, renew_s=0.4,
    tick_s=0.05, stop_s=2, waits_s=(0.2, 0.3, 0.4),
    clock=lambda: time.time() + 86400 * int(Path(back).read_text() or 0),
)
with open_queue(ledger) as queue:
    Worker(queue, options).run()
"""


@dataclass
class Outcome:
    """What was found after all jobs were done."""

    kills: Counter[str] = field(default_factory=Counter)
    states: dict[str, int] = field(default_factory=dict)
    starts: int = 0
    finished_events: Counter[int] = field(default_factory=Counter)
    lines: dict[int, list[int]] = field(default_factory=dict)
    seconds: float = 0.0
    refused: list[str] = field(default_factory=list)

    def faults(self, jobs: int) -> list[str]:
        """One line for each job that was not done exactly once."""
        found = self.refused[:3] + ([] if self.states == {"finished": jobs} else [f"states {self.states}"])
        found += [f"job {job}: {count} ends" for job, count in self.finished_events.items() if count != 1]
        wanted = list(range(SAMPLES))
        found += [f"job {job}: samples {got}" for job, got in self.lines.items() if sorted(got) != wanted]
        return found


def placed(number: int, slots: int = 1, track: str = "") -> PlacedSpec:
    """A job whose suite no one reads."""
    night, track = f"2026-01-{number:05}"[:10], track or f"t{number % 5}"
    spec = JobSpec.from_json({"suite": "suite.yaml", "track": track, "night": night}, "test")
    spec = spec.model_copy(update={"tasks": (str(number),)})
    return PlacedSpec(spec=spec, track=track, label=f"n{number}", slots=slots)


def kill_at_random(
    place: Path,
    ledger: str,
    *,
    jobs: int,
    kills: int,
    seed: int,
    workers: int = 4,
    pause_s: float = 0.02,
    limit_s: float = 600.0,
    served: int = 0,
) -> Outcome:
    """Let workers do jobs while workers and children are killed or stopped, and the clock jumps.

    The clock goes back by a day in the middle, and forward by two days at three quarters.

    Args:
        served: so many of the jobs are submitted through a service, which is killed too.
    """
    began, draw, outcome = time.monotonic(), random.Random(seed), Outcome()
    child, back = place / "child.py", place / "clock-is-back"
    child.write_text(CHILD.replace("SAMPLES", str(SAMPLES)).replace("PAUSE", str(pause_s)))
    back.write_text("0")
    with open_queue(ledger) as queue:
        for number in range(jobs - served):
            submit(queue, placed(number), place / "runs", by="test", most=jobs)
        service = KilledService(ledger, place, served) if served else None
        command = [ledger, str(child), str(back)]
        alive = [_start(command, place) for _ in range(workers)]
        left, last = kills, -1
        while time.monotonic() - began < limit_s:
            counts = count_jobs(queue)
            done = counts.get("finished", 0)
            if done == jobs:
                break
            # Kills are spread over the jobs that get done, so that a fast machine has as many.
            if left and done != last and done * kills >= (kills - left) * jobs * 0.9:
                last, left = done, left - 1
                if left in (1, 3):
                    outcome.kills[_stop(alive, service if left == 1 else None)] += 1
                else:
                    outcome.kills[_kill(draw, alive, queue, service)] += 1
            if left <= kills // 2:
                back.write_text("-1" if left > kills // 4 else "1")
            alive = [item if item.poll() is None else _start(command, place) for item in alive]
            if service is not None:
                service.restart()
            time.sleep(0.02)
        if service is not None:
            service.close()
            outcome.refused = service.faults
        for item in alive:
            item.send_signal(signal.SIGCONT)
            item.terminate()
        for item in alive:
            item.wait(30)
        _look(queue, outcome, jobs)
    outcome.seconds = time.monotonic() - began
    return outcome


def _start(command: list[str], place: Path) -> warm.Popen:
    with (place / "workers.log").open("ab") as log:
        return warm.Popen(command, program=("-c", WORKER), cwd=ROOT, stdout=log, stderr=log)


def _stop(alive: list[warm.Popen], service: KilledService | None) -> str:
    """Send SIGSTOP to the service or a worker, and SIGCONT later. Return which it was."""
    if service is not None:
        service.stop_for(2.0)
        return "stopped service"
    victim = alive[0]
    victim.send_signal(signal.SIGSTOP)
    # Beyond the lease of 6 s. Meanwhile another worker may take its job.
    threading.Timer(9.0, lambda: victim.send_signal(signal.SIGCONT)).start()
    return "stopped worker"


def _kill(
    draw: random.Random,
    alive: list[warm.Popen],
    queue: Queue,
    service: KilledService | None,
) -> str:
    """Send SIGKILL to a worker, the child of a running job or the service. Return which it was."""
    if service is not None and draw.random() < 0.25:
        service.kill()
        return "service"
    running = list_jobs(queue, states=("running",), limit=100)
    if running and draw.random() < 0.5:
        pid_file = job_folder(draw.choice(running)) / "pid"
        with suppress(OSError, ValueError):
            pid = int(pid_file.read_text())
            if b"child.py" in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)
                return "child"
    victim = draw.choice(alive)
    victim.kill()
    victim.wait()
    return "worker"


def _look(queue: Queue, outcome: Outcome, jobs: int) -> None:
    outcome.states = count_jobs(queue)
    for job in list_jobs(queue, limit=jobs):
        outcome.starts += job.starts
        events = job_events(queue, job.id)
        outcome.finished_events[job.id] = sum(event.what == "finished" for event in events)
        path = Path(job.run_dir) / "m" / "sums" / "completions.jsonl"
        outcome.lines[job.id] = [json.loads(line) for line in path.read_text().splitlines()]
