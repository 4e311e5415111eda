"""Real runs of a real vLLM engine on the shipped tiny checkpoints, as processes of their own.

Importing vLLM takes 20 s of the 30 s of CPU of such a run. So most are forked from a process that has
imported it. `reference` is started as a user starts it, and runs of its suite are compared with it.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import psutil
import pytest

from tests import warm

os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")  # GiB; every engine touches all of it when it starts

SUITE = """\
name: engine-test
models:
  tuned: {path: "shipped:checkpoints/tiny-tuned", dtype: float32}
engine: {max_num_seqs: 64}
decoding: {temperature: 0.8, top_p: 0.95, max_tokens: 64, seed: 3}
tasks:
  - name: arithmetic
    kind: math
    data: {path: "shipped:data/quickstart/arithmetic.jsonl",
           fields: {id: id, question: question, reference: reference}}
    prompt: "{question}"
    k: 4
    limit: 50
  - name: choice
    kind: choice
    data: {path: "shipped:data/quickstart/choice.jsonl",
           fields: {id: id, question: question, options: options, reference: answer}}
    prompt: "{question}"
    k: 2
    limit: 50
  - name: picks
    kind: likelihood
    data: {path: "shipped:data/quickstart/choice.jsonl",
           fields: {id: id, question: stem, options: options, reference: answer}}
    prompt: "Question: {question}\\nAnswer:"
    options: {metric: acc_norm}
    k: 1
    limit: 20
"""
TASKS = ("arithmetic", "choice", "picks")
"""The last one is scored, and comes last in the queue."""
TOTAL = 320
"""Samples of the suite: 50 problems x 4, 50 x 2, and 20 whose options are scored."""


@dataclass(frozen=True)
class Place:
    """A folder with the suite, and the command that runs it there."""

    path: Path
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def command(self, *arguments: str) -> list[str]:
        return [*warm.COMMAND, *arguments]

    def start(
        self, *arguments: str, environment: Mapping[str, str] = MappingProxyType({})
    ) -> subprocess.Popen[str]:
        """Start a run. One with variables of its own, which may be for the dynamic linker, is not forked."""
        options: dict[str, Any] = {
            "cwd": self.path,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "text": True,
        }
        process: subprocess.Popen[str]
        if environment:
            process = subprocess.Popen(self.command(*arguments), env={**os.environ, **environment}, **options)
        else:
            process = warm.Popen(arguments, engine=True, **options)
        self.started.append(process)
        return process

    def end_all(self) -> None:
        """Ends what a failed test left running."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.communicate()

    def run(
        self, *arguments: str, timeout_s: float = 900, mounts: warm.Mounts | None = None
    ) -> subprocess.CompletedProcess[str]:
        return warm.run(arguments, engine=True, cwd=self.path, text=True, timeout=timeout_s, mounts=mounts)

    def results(self, *arguments: str, timeout_s: float = 900) -> dict[str, Any]:
        done = self.run("run", "suite.yaml", "--json", *arguments, timeout_s=timeout_s)
        assert done.returncode == 0, done.stderr
        results: dict[str, Any] = json.loads(done.stdout)
        return results


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """An undisturbed run in `whole/`, made once for all workers of pytest-xdist."""
    base = tmp_path_factory.getbasetemp()
    place = Place((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "reference")
    place.path.mkdir(exist_ok=True)
    report = place.path / "report.json"
    with (place.path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not report.exists():
            (place.path / "suite.yaml").write_text(SUITE)
            command = place.command("run", "suite.yaml", "--json", "--run-dir", "whole")
            done = subprocess.run(command, cwd=place.path, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            report.write_text(done.stdout)
    yield place
    place.end_all()


def without_seconds(tasks: dict[str, Any]) -> dict[str, Any]:
    """Return the results of tasks without the part of their seals that covers seconds."""
    for task in tasks.values():
        for sealed in task["seal"].values():
            del sealed["more"]
    return tasks


def lines(folder: Path, task: str, kind: str) -> list[dict[str, Any]]:
    path = folder / task / f"{kind}.jsonl"
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].split("\n") if line]


def texts(folder: Path, tasks: Sequence[str] = TASKS) -> dict[tuple[str, str, int], str]:
    """Identity -> text, or the scores of all choices; a second line for an identity fails."""
    found: dict[tuple[str, str, int], str] = {}
    for task in tasks:
        for record in lines(folder, task, "completions"):
            key = (task, record["problem_id"], record["sample_index"])
            assert key not in found
            found[key] = record["text"] or json.dumps(record.get("choices", ""))
    return found


def verdicts(folder: Path) -> dict[tuple[str, str, int], tuple[str, float | None]]:
    return {
        (task, record["problem_id"], record["sample_index"]): (record["status"], record["score"])
        for task in TASKS
        for record in lines(folder, task, "verdicts")
    }


def descendants(pid: int) -> list[psutil.Process]:
    try:
        return list(psutil.Process(pid).children(recursive=True))
    except psutil.NoSuchProcess:
        return []


def words(process: psutil.Process) -> str:
    """The command line; empty of a process that has just ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""
