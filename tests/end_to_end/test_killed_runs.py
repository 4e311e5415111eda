"""kill -9 at seeded random moments; the same command goes on and ends where an undisturbed run ends."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.warm import alive

from .conftest import TASKS, TOTAL, Place, descendants, lines, texts, verdicts, words

pytestmark = [pytest.mark.engine, pytest.mark.slow]
DEADLINE_S = 600.0


def drawn(folder: Path) -> int:
    return sum(len(lines(folder, task, "completions")) for task in TASKS)


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + DEADLINE_S
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.005)


def kill(process: subprocess.Popen[str]) -> None:
    """kill -9 of the run alone; everything that it started must be gone 5 s later."""
    family = descendants(process.pid)
    process.kill()
    process.communicate()
    assert_gone(family)


def assert_gone(family: list[psutil.Process]) -> None:
    end = time.monotonic() + 60
    while alive(family) and time.monotonic() < end:
        time.sleep(0.05)
    assert alive(family) == []


def stop_verifiers(process: subprocess.Popen[str]) -> bool:
    """Holds the verifier workers, so that only they have work left when the drawing is done."""
    workers = [
        child for child in descendants(process.pid) if "genbench.verifiers.pool.worker" in words(child)
    ]
    for worker in workers:
        worker.send_signal(signal.SIGSTOP)
    return bool(workers)


def engines(process: subprocess.Popen[str]) -> list[psutil.Process]:
    return [child for child in descendants(process.pid) if "VLLM::" in words(child)]


def attempts(folder: Path) -> int:
    manifest = folder / "manifest.json"
    return len(json.loads(manifest.read_text())["attempts"]) if manifest.exists() else 0


def test_a_run_killed_at_five_moments_ends_as_an_undisturbed_one(reference: Place) -> None:
    rng = random.Random(20_261_121)
    folder = reference.path / "killed" / "tuned"
    command = ("run", "suite.yaml", "--run-dir", "killed")

    process = reference.start(*command)  # while the engine loads
    wait_until(lambda: attempts(folder) == 1 and bool(engines(process)), process)
    kill(process)
    assert drawn(folder) == 0

    process = reference.start(*command)  # in the middle of drawing, by a second engine
    wait_until(lambda: bool(engines(process)), process)
    engines(process)[0].kill()
    assert drawn(folder) == 0
    share = rng.uniform(0.1, 0.6)
    wait_until(lambda: drawn(folder) > share * TOTAL, process)
    kill(process)
    slower = ("--set", "engine.max_num_seqs=16")
    process = reference.start(*command, *slower)  # in the middle of scoring texts, which come last
    wait_until(lambda: bool(lines(folder, "picks", "completions")), process)
    kill(process)
    before = drawn(folder)
    assert 0 < before < TOTAL

    torn = folder / "arithmetic" / "completions.jsonl"  # in the middle of a write
    with torn.open("ab") as file:
        file.write(b'{"task":"arithmetic","problem_id":"half')
    process = reference.start(*command)
    wait_until(lambda: drawn(folder) > before, process)
    wait_until(lambda: stop_verifiers(process), process)
    wait_until(lambda: drawn(folder) == TOTAL, process)  # only verifiers still work
    assert len(verdicts(folder)) < TOTAL
    kill(process)

    report = reference.results("--run-dir", "killed")
    whole = reference.path / "whole" / "tuned"
    assert report["models"]["tuned"]["totals"]["drawn_now"] == 0
    assert texts(folder) == texts(whole)
    assert verdicts(folder) == verdicts(whole)
    assert report["models"]["tuned"]["totals"]["attempts"] == 5


@pytest.mark.parametrize(
    ("number", "more", "least"),
    [(signal.SIGINT, (), 100), (signal.SIGTERM, ("--task", "picks", "--set", "engine.max_num_seqs=2"), 3)],
)
def test_a_signal_stops_cleanly_and_says_how_to_go_on(
    reference: Place, number: signal.Signals, more: tuple[str, ...], least: int
) -> None:
    name = f"stopped-{number.name}"
    folder = reference.path / name / "tuned"
    process = reference.start("run", "suite.yaml", "--run-dir", name, *more)
    wait_until(lambda: drawn(folder) > least, process)
    family = descendants(process.pid)
    process.send_signal(number)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert f"Continue with: genbench run suite.yaml --run-dir {name}" in err
    assert "Traceback" not in err
    assert_gone(family)
    whole = texts(reference.path / "whole" / "tuned")
    kept = texts(folder)
    assert 0 < len(kept) < TOTAL
    assert kept.items() <= whole.items()
