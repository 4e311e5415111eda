"""A small run folder with completions, verdicts, problems and asks, written by the store alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from genbench.store.folder import RunFolder
from genbench.types import Completion, FinishReason, SampleId, Status, Verdict
from tests.manifests import manifest, task_record

TASK = "t"


def completion(problem: str, index: int, text: str = "x", **changes: Any) -> Completion:
    """Return a completion of 4 prompt tokens and 6 others, 2 of them in the trace."""
    finish: FinishReason = changes.pop("finish_reason", "stop")
    known: dict[str, Any] = {
        "sample": SampleId(TASK, problem, index),
        "turn": 0,
        "seed": 7,
        "prompt_digest": f"digest of {problem}",
        "text": text,
        "finish_reason": finish,
        "prompt_tokens": 4,
        "completion_tokens": 6,
        "trace_tokens": 2,
        "max_tokens": 16,
        "attempt": 1,
        "seconds": 0.25,
    }
    return Completion(**{**known, **changes})


def verdict(problem: str, index: int, score: float = 1.0, verifier: str = "d") -> Verdict:
    """Return a verdict of the verifier that `tests.manifests.task_record` names."""
    status: Status = "correct" if score == 1 else "wrong"
    return Verdict(SampleId(TASK, problem, index), score, status, "2", {}, {}, verifier, "absent", False)


def problem_line(problem: str, turns: int = 1) -> dict[str, Any]:
    """Return a line of problems.jsonl."""
    return {
        "problem_id": problem,
        "prompt_digest": f"digest of {problem}",
        "reference_digest": f"reference of {problem}",
        "prompt_tokens": 4,
        "max_tokens": 16,
        "turns": turns,
        "strata": {"level": "easy"},
        "group": None,
    }


def ask_line(problem: str, samples: list[int]) -> dict[str, Any]:
    """Return a line of asks.jsonl."""
    return {"problem_id": problem, "samples": samples, "prompt": f"{problem}?", "reference": "2"}


def stored_run(path: Path) -> Path:
    """Write a run of three problems with two samples each. One sample has no verdict."""
    ids = ["p0", "p1", "p2"]
    with RunFolder.writer(path) as folder:
        folder.write_manifest(manifest(tasks={TASK: task_record()}))
        folder.write_problems(TASK, [problem_line(name) for name in ids])
        folder.write_asks(TASK, [ask_line(name, [0, 1]) for name in ids])
        for index in range(2):
            for name in ids:
                folder.append_completion(completion(name, index, f"{name} {index}"))
        for index, name in [(1, "p2"), (0, "p0"), (1, "p0"), (0, "p1"), (0, "p2")]:
            folder.append_verdict(verdict(name, index, float(name != "p1")))
    return path
