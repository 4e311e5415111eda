"""What a run writes of itself: its manifest with the attempts, its problems, the asks that people read."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Container, Mapping
from typing import Any

from genbench.analysis.samples import ask_records, merged_asks
from genbench.draw.lengths import BY_TASK
from genbench.draw.progress import ProgressLine
from genbench.judges.session import JudgeSession
from genbench.runs.job import Job
from genbench.store import manifest as manifests
from genbench.store.contract import digest
from genbench.store.folder import FORMAT, RunFolder
from genbench.suite.config import ModelConfig
from genbench.tasks.loaded import LoadedTask, VerifiedTask
from genbench.tasks.published import references

Asked = tuple[list[dict[str, Any]], list[dict[str, Any]]]
"""A task's lines of problems.jsonl, and those of asks.jsonl."""


def open_manifest(
    job: Job,
    folder: RunFolder,
    judged: Mapping[str, VerifiedTask],
    room: JudgeSession,
    asked: Mapping[str, bytes],
) -> dict[str, Any]:
    """Begins or continues the folder: its manifest, problems and asks are written.

    Args:
        asked: of each task what `packed` made; problems that no verifier judges here are left out.

    Raises:
        RunFolderError: the folder holds another run.
    """
    room.remember(folder.manifest())
    manifest = manifests.merge(folder, manifest_record(job, judged, room))
    for name, pack in asked.items():
        records, asks = _only(_unpacked(pack), judged[name].problems)
        merged = manifests.check_problems(folder, name, records)
        folder.write_problems(name, merged)
        folder.write_asks(name, merged_asks(folder.asks(name), asks))
    if any(item.task.entry.role == "test" for item in judged.values()):
        manifest["test_uses"] += 1
    folder.write_manifest(manifest)
    return manifest


def attempt_record(job: Job, number: int, folder: RunFolder, reused: int) -> dict[str, Any]:
    """An attempt that begins; `reused` samples are on disk."""
    settings = job.model.settings
    return {
        "attempt": number,
        "started": manifests.now(),
        "pid": os.getpid(),
        "circumstances": {
            "engine": settings.circumstances,
            "queue_order": _queue_order(job) if settings.generates else None,
            "packages": manifests.package_versions(),
            "machine": dict(job.machine),
            "locks_are_advisory": folder.locks_are_advisory,
        },
        "reused": reused,
    }


def _queue_order(job: Job) -> dict[str, Any]:
    return dict(BY_TASK) if job.lengths is None else job.lengths.record


def ended_attempt(
    folder: RunFolder, progress: ProgressLine, stopped_by: str | None, generation_s: float, seconds: float
) -> dict[str, Any]:
    """What is added to an attempt's record when it ends, however it ends."""
    return {
        "ended": manifests.now(),
        "interrupted": stopped_by,
        "drawn": progress.drawn,
        "verdicts": sum(progress.statuses.values()),
        "completion_tokens": progress.tokens,
        "generation_s": round(generation_s, 3),
        "seconds": round(seconds, 3),
        "healed_bytes": folder.healed_bytes,
    }


def binding_record(job: Job) -> dict[str, Any]:
    """What says which run it is (see manifests.binding_differences), before any verifier is loaded."""
    return {
        "model_identity": job.model.identity,
        "run_seed": job.suite.config.decoding.seed,
        "terms": dict(job.model.terms),
        "reasoning": job.model.reasoning.record,
        "tasks": {
            task.name: {
                "version": task.task.info.version,
                "data_digest": task.provenance.get("digest"),
                "decoding": task.decoding.model_dump(mode="json", exclude={"seed"}),
            }
            for task in job.tasks
        },
    }


def manifest_record(job: Job, judged: Mapping[str, VerifiedTask], room: JudgeSession) -> dict[str, Any]:
    """The manifest of this command; attempts and what a folder holds already are merged into it."""
    config = job.suite.config
    return {
        "format": FORMAT,
        "run_id": job.run_id,
        "suite": {
            "name": job.suite.name,
            "path": str(job.suite.path.resolve()),
            "overrides": list(job.suite.overrides),
            "digest": digest(config.model_dump(mode="json")),
            "git": manifests.git_commit(str(job.suite.folder)),
            "config": config.model_dump(mode="json"),
        },
        "origin": dict(job.origin),
        "model": {"name": job.model.name, **job.model.config.model_dump(mode="json")},
        **binding_record(job),
        "warnings": [*job.model.warnings, *_warnings(judged), *room.warnings],
        "tasks": {
            name: task_record(item.task, item, room, job.model.config) for name, item in judged.items()
        },
    }


def task_record(
    task: LoadedTask, judged: VerifiedTask, room: JudgeSession, model: ModelConfig
) -> dict[str, Any]:
    """What the manifest says of a task."""
    info = task.task.info
    judge = {"judge": room.record(task.name)} if task.name in room else {}
    return judge | {
        "version": info.version,
        "k": task.k,
        "n": len(task.problems),
        "of": len(task.problems) + len(task.left_out),
        "role": task.entry.role,
        "gating": task.entry.gating,
        "margin": task.entry.margin,
        "headline": info.headline,
        "metrics": list(task.metrics),
        "chance": task.chance,
        "published": references(info.published, model, task.entry.reference),
        "decoding": task.decoding.model_dump(mode="json", exclude={"seed"}),
        "verifier": {"name": task.verifier, "version": judged.version, "digest": judged.verifier},
        "data": dict(task.provenance),
        "data_digest": task.provenance.get("digest"),
    }


def _warnings(judged: Mapping[str, VerifiedTask]) -> list[str]:
    """What the tasks' data and verifiers have to say."""
    data = [
        str(item.task.provenance["warning"])
        for item in judged.values()
        if item.task.provenance.get("warning")
    ]
    return data + [item.warning for item in judged.values() if item.warning]


def asked_records(job: Job, task: LoadedTask) -> Asked:
    """Renders every first-turn prompt (one that does not fit stops here): problems, and their asks."""
    records: list[dict[str, Any]] = []
    seen: list[dict[str, Any]] = []
    for problem in task.problems:
        requests = [job.model.maker.request(task, problem, index, ()) for index in range(task.k)]
        first = requests[0]
        if first is None:
            raise AssertionError("a problem has a first turn")
        records.append(
            {
                "problem_id": problem.problem_id,
                "prompt_digest": first.prompt_digest,
                "reference_digest": digest(task.reference(problem, 0))[:16],
                "prompt_tokens": len(first.token_ids) or None,
                "max_tokens": first.max_tokens,
                "turns": problem.turns,
                "strata": dict(problem.strata),
                "group": problem.group,
            }
        )
        found = [task.reference(problem, index) for index in range(task.k)]
        seen += ask_records(problem.problem_id, found, requests)
    return records, seen


def packed(asked: Asked) -> bytes:
    """For the time until they are written: the prompts of half a million problems would take a gigabyte."""
    return zlib.compress(json.dumps(asked).encode(), level=1)


def _unpacked(pack: bytes) -> Asked:
    records, asks = json.loads(zlib.decompress(pack))
    return records, asks


def _only(asked: Asked, kept: Container[str]) -> Asked:
    """The records of these problems alone; the others are left out of the run."""
    records, asks = asked
    return (
        [record for record in records if record["problem_id"] in kept],
        [ask for ask in asks if ask["problem_id"] in kept],
    )
