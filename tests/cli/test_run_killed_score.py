"""Verification that is killed: the old verdicts are kept until the new ones are complete."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from tests import warm

from .conftest import ready_suite

PROBLEMS = 600


def finished_run(place: Path, problems: int) -> Path:
    """Return a finished run whose verdicts say that another verifier made them."""
    ready_suite(place, "math", problems, lambda i, j: f"it is \\boxed{{{i + j}}}")
    words = ("run", "suite.yaml", "--responses", "r.jsonl", "--run-dir", "out")
    warm.run(words, cwd=place).check_returncode()
    verdicts = place / "out/m/mine/verdicts.jsonl"
    records = [json.loads(line) | {"verifier": "another"} for line in verdicts.read_text().splitlines()]
    verdicts.write_text("".join(json.dumps(record) + "\n" for record in records))
    return place / "out" / "m"


def verifiers(run: Path, problems: int) -> set[str]:
    lines = (run / "mine" / "verdicts.jsonl").read_text().splitlines()
    assert len(lines) == 2 * problems
    return {json.loads(line)["verifier"] for line in lines}


def kill_in_the_middle(run: Path) -> int:
    """Kill `genbench score` after it made some verdicts again. Return how many."""
    new = run / "mine" / "verdicts.new.jsonl"
    process = warm.Popen(("score", str(run)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 120
    while not (new.exists() and new.stat().st_size > 0):
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.001)
    process.send_signal(signal.SIGSTOP)
    workers = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    warm.wait_for_the_end(workers)
    return len(new.read_text().splitlines())


@pytest.mark.slow
def test_a_killed_verification_keeps_the_old_verdicts_whole_and_goes_on(tmp_path: Path) -> None:
    run = finished_run(tmp_path, PROBLEMS)
    before = (run / "mine" / "verdicts.jsonl").read_bytes()
    made = kill_in_the_middle(run)
    assert 0 < made < 2 * PROBLEMS
    assert (run / "mine" / "verdicts.jsonl").read_bytes() == before
    done = warm.run(("score", str(run), "--json"), text=True)
    done.check_returncode()
    assert "another" not in verifiers(run, PROBLEMS)
    assert not (run / "mine" / "verdicts.new.jsonl").exists()
    assert json.loads(done.stdout)["models"]["m"]["tasks"]["mine"]["status_counts"] == {
        "correct": PROBLEMS,
        "wrong": PROBLEMS,
    }


@pytest.mark.slow
def test_what_a_killed_verification_made_is_not_taken_where_the_old_verdicts_hold_again(
    tmp_path: Path,
) -> None:
    run = finished_run(tmp_path, 20)
    warm.run(("score", str(run))).check_returncode()
    (run / "mine" / "verdicts.new.jsonl").write_text('{"half":')
    warm.run(("score", str(run))).check_returncode()
    assert not (run / "mine" / "verdicts.new.jsonl").exists()
    assert "another" not in verifiers(run, 20)
