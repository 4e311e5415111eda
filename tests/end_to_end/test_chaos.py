"""Everything that a run consists of is killed at seeded random moments; nothing is lost and nothing moves."""

from __future__ import annotations

import json
import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from .conftest import Place, descendants, lines, words
from .faults import DEADLINE_S, FULL

pytestmark = [pytest.mark.engine, pytest.mark.slow]

SUITE = """\
name: chaos
models:
  tuned: {path: "shipped:checkpoints/tiny-tuned", dtype: float32}
engine: {max_num_seqs: 64}
decoding: {temperature: 0.6, top_p: 0.95, max_tokens: 96, seed: 11}
tasks:
  - name: code
    kind: code
    data: {path: "shipped:data/quickstart/code.jsonl",
           fields: {id: id, question: question, reference: {fn_name: fn_name, tests: tests}}}
    prompt: "{question}"
    k: K
  - name: arithmetic
    kind: math
    data: {path: "shipped:data/quickstart/arithmetic.jsonl",
           fields: {id: id, question: question, reference: reference}}
    prompt: "{question}"
    k: K
  - name: choice
    kind: choice
    data: {path: "shipped:data/quickstart/choice.jsonl",
           fields: {id: id, question: question, options: options, reference: answer}}
    prompt: "{question}"
    k: K
  - name: instructions
    kind: ifeval
    data: {path: "shipped:data/quickstart/instructions.jsonl",
           fields: {id: id, question: question, instructions: instruction_id_list, kwargs: kwargs}}
    prompt: "{question}"
    k: K
"""
PROBLEMS = 100
K = 6 if FULL else 2
TASKS = dict.fromkeys(("code", "arithmetic", "choice", "instructions"), K * PROBLEMS)
TOTAL = sum(TASKS.values())
# Each end of an engine or of a run costs the start of another engine.
FAULTS = (
    {"engine": 3, "run": 2, "verifier": 4, "sandbox": 3}
    if FULL
    else {"engine": 2, "run": 1, "verifier": 3, "sandbox": 2}
)
TRIES, LAST = 5, 0.9
"""How often a run may be over too early, and the share of all samples by which the last fault is due."""
SIGNS = {"engine": "VLLM::", "verifier": "genbench.verifiers.pool.worker", "sandbox": "bwrap"}
"""What the command line of a process to kill holds."""

Key = tuple[str, str, int]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    place = Place(tmp_path_factory.mktemp("chaos"))
    (place.path / "suite.yaml").write_text(SUITE.replace("k: K", f"k: {K}"))
    yield place
    place.end_all()


def drawn(folder: Path) -> int:
    """Completions on disk; a line in the middle of its write counts when it is whole."""
    files = [folder / task / "completions.jsonl" for task in TASKS]
    return sum(path.read_bytes().count(b"\n") for path in files if path.exists())


def samples(folder: Path, kind: str) -> dict[Key, dict[str, object]]:
    """Identity -> its line; a second line for one sample fails."""
    found: dict[Key, dict[str, object]] = {}
    for task in TASKS:
        for record in lines(folder, task, kind):
            key = (task, record["problem_id"], record["sample_index"])
            assert key not in found
            found[key] = record
    return found


class FinishedError(Exception):
    """A run had drawn all of its samples before its last fault: this process had to wait for the machine."""


@dataclass
class Chaos:
    """Keeps a run going that it kills itself, piece by piece.

    A fault waits for a seeded share of what was left to draw after the one before, then a moment of random
    length, then until what it kills is alive. The engine is halted meanwhile: a fast one would have drawn
    everything before the last faults.
    """

    place: Place
    folder: Path
    rng: random.Random
    done: list[str] = field(default_factory=list)

    def plan(self) -> list[str]:
        """What is killed, in a seeded order. Code comes first in the queue, so its sandbox dies early."""
        last = {"sandbox": 0.5}
        moments = [
            (self.rng.uniform(0.0, last.get(what, 1.0)), what)
            for what, times in FAULTS.items()
            for _ in range(times)
        ]
        return [what for _, what in sorted(moments)]

    def run(self) -> subprocess.CompletedProcess[str]:
        """Starts the run, again after each kill, until it ends by itself."""
        process = self._start()
        plan = self.plan()
        for place, what in enumerate(plan):
            self._wait(process, self._next(len(plan) - place))
            with halted(process):
                time.sleep(self.rng.uniform(0.0, 0.5))
                self._end(process, what)
            if what == "run":
                process = self._start()
            self.done.append(what)
        out, err = process.communicate(timeout=DEADLINE_S)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def _start(self) -> subprocess.Popen[str]:
        return self.place.start("run", "suite.yaml", "--run-dir", self.folder.parent.name, "--json")

    def _next(self, faults: int) -> int:
        """Return the completions on disk at which the next of so many faults is due."""
        so_far = drawn(self.folder)
        left = max(0.0, LAST * TOTAL - so_far)
        share = self.rng.uniform(0.0, 2.0) / (faults + 1)
        # Three engines killed in a row with nothing drawn between them end a run, as they should.
        least = 1 if self.done and self.done[-1] in ("engine", "run") else 0
        return so_far + max(least, round(share * left))

    def _wait(self, process: subprocess.Popen[str], at: int) -> None:
        end = time.monotonic() + DEADLINE_S
        while drawn(self.folder) < at:
            self._require_alive(process)
            assert time.monotonic() < end, (at, self.done)
            time.sleep(0.02)

    def _end(self, process: subprocess.Popen[str], what: str) -> None:
        self._require_alive(process)
        if what == "run":
            process.kill()
            process.communicate()
        else:
            self._kill(process, SIGNS[what])

    def _require_alive(self, process: subprocess.Popen[str]) -> None:
        if process.poll() is not None:
            out, err = process.communicate()
            assert process.returncode == 0, (self.done, out, err)
            raise FinishedError(self.done)

    def _kill(self, process: subprocess.Popen[str], sign: str) -> None:
        end = time.monotonic() + DEADLINE_S
        while not (targets := [member for member in descendants(process.pid) if sign in words(member)]):
            self._require_alive(process)
            assert time.monotonic() < end, (sign, self.done)
            time.sleep(0.02)
        self.rng.choice(sorted(targets, key=lambda member: member.pid)).kill()


@contextmanager
def halted(run: subprocess.Popen[str]) -> Iterator[None]:
    """The engine's processes stopped, and sent on where they still live."""
    engine = [member for member in descendants(run.pid) if SIGNS["engine"] in words(member)]
    for member in engine:
        with suppress(psutil.NoSuchProcess):
            member.suspend()
    try:
        yield
    finally:
        for member in engine:
            with suppress(psutil.NoSuchProcess):
                member.resume()


def disturbed(place: Place) -> tuple[Chaos, subprocess.CompletedProcess[str]]:
    """Return a run that had all of its faults, and how it ended. One that was over before is drawn anew."""
    for attempt in range(TRIES):
        chaos = Chaos(place, place.path / f"killed{attempt}" / "tuned", random.Random(20_261_121 + attempt))
        with suppress(FinishedError):
            return chaos, chaos.run()
    pytest.fail(f"{TRIES} runs had drawn all of their samples before their last fault")


def test_a_run_whose_every_part_is_killed_ends_as_an_undisturbed_one(place: Place) -> None:
    whole = place.path / "whole" / "tuned"
    undisturbed = place.results("--run-dir", "whole", timeout_s=DEADLINE_S)["models"]["tuned"]
    chaos, ended = disturbed(place)
    assert ended.returncode == 0, ended.stderr
    assert sorted(chaos.done) == sorted(what for what, times in FAULTS.items() for _ in range(times))

    completions, verdicts = samples(chaos.folder, "completions"), samples(chaos.folder, "verdicts")
    assert len(completions) == len(verdicts) == TOTAL
    told = ("text", "finish_reason", "seed", "completion_tokens")
    expected = samples(whole, "completions")
    assert {key: [line[name] for name in told] for key, line in completions.items()} == {
        key: [line[name] for name in told] for key, line in expected.items()
    }
    found = ("score", "status", "extracted", "parts")
    assert {key: [line.get(name) for name in found] for key, line in verdicts.items()} == {
        key: [line.get(name) for name in found] for key, line in samples(whole, "verdicts").items()
    }
    report = json.loads(ended.stdout)["models"]["tuned"]
    assert report["totals"]["attempts"] == 1 + FAULTS["run"]
    for name, task in report["tasks"].items():
        assert (task["value"], task["ci"]) == (
            undisturbed["tasks"][name]["value"],
            undisturbed["tasks"][name]["ci"],
        )
        assert task["excluded"] == 0
