"""The key of a task: what must be equal so that two nights' scores belong to one epoch."""

from __future__ import annotations

from typing import Any

from genbench.store.contract import digest
from genbench.store.manifest_record import Manifest

_JUDGE_LEFT_OUT = frozenset({"engine", "canary", "baseline"})
"""Parts of a judge's record that may differ from night to night without another verdict."""


def key_record(manifest: Manifest, task: str, questions: str) -> dict[str, Any]:
    """Return everything that shapes the score of a task: data, prompts, terms, trace format, verifier.

    k is not part of it. More samples of a problem have the same mean.

    Args:
        manifest: the run.
        task: the task's name.
        questions: the digest of its problems, prompts and references (see store.sums).
    """
    described = manifest.tasks[task]
    terms = dict(manifest.terms)
    decoding = terms.pop("decoding", {})
    judge = None if described.judge is None else described.judge.to_json()
    return {
        "task": task,
        "version": described.version,
        "data": described.data_digest,
        "questions": questions,
        "decoding": decoding.get(task) if isinstance(decoding, dict) else None,
        "fields": described.decoding,
        "terms": terms,
        "reasoning": manifest.reasoning.to_json(),
        "verifier": described.verifier.digest,
        "judge": judge and {key: value for key, value in judge.items() if key not in _JUDGE_LEFT_OUT},
    }


def task_key(record: dict[str, Any]) -> str:
    """Return the digest of a key's record."""
    return digest(record)
