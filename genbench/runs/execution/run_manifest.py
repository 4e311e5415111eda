"""The manifest of a run: begun, continued and completed by the commands that write its folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from genbench.draw.draw_queue import BY_TASK
from genbench.draw.progress import ProgressLine
from genbench.errors import DegenerateOutputError, InterruptedRunError
from genbench.judges.session import JudgeSession
from genbench.runs.execution.job import Job
from genbench.runs.execution.prompt_records import SpooledPrompts, merged_asks, records_of_problems
from genbench.store import continuation as manifests
from genbench.store.contract import digest
from genbench.store.folder import FORMAT, RunFolder
from genbench.store.manifest import (
    AboutRecord,
    AttemptRecord,
    Binding,
    EditRecord,
    JudgeRecord,
    Manifest,
    ModelRecord,
    OriginRecord,
    ReasoningRecord,
    ScoredRecord,
    SuiteRecord,
    TakenRecord,
    TaskBinding,
    TaskRecord,
    VerifierRecord,
)
from genbench.store.signature import seal
from genbench.suite.config import ModelConfig
from genbench.tasks.loaded_task import VerifiedTask
from genbench.tasks.published import references


def attempt_record(job: Job, number: int, folder: RunFolder, reused: int) -> AttemptRecord:
    """Return the record of an attempt that begins with `reused` samples on disk."""
    settings = job.model.settings
    return AttemptRecord(
        attempt=number,
        started=manifests.now(),
        pid=os.getpid(),
        circumstances={
            "engine": settings.circumstances,
            "queue_order": _queue_order(job) if settings.generates else None,
            "packages": manifests.package_versions(),
            "machine": dict(job.machine),
            "locks_are_advisory": folder.locks_are_advisory,
        },
        reused=reused,
    )


def _queue_order(job: Job) -> dict[str, Any]:
    return dict(BY_TASK) if job.lengths is None else job.lengths.record


def ended_attempt(
    folder: RunFolder, progress: ProgressLine, stopped_by: str | None, generation_s: float, seconds: float
) -> dict[str, Any]:
    """Return the keys that are added to an attempt's record when it ends, with or without an error."""
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


def check_end(job: Job, folder: RunFolder, alarm: str | None, stopped_by: str | None) -> None:
    """Raise the error that ends the command, if the attempt did not come to its end.

    Args:
        alarm: what is said of degenerate completions; None if there are few.
        stopped_by: the signal or limit that stopped the run.

    Raises:
        DegenerateOutputError: the first completions are degenerate, and the command asks to stop then.
        InterruptedRunError: the run was stopped.
    """
    if alarm is not None and job.options.stop_on_degenerate:
        raise DegenerateOutputError(
            f"{alarm}; stopped as --stop-on-degenerate asks (samples so far: {folder.path})"
        )
    if stopped_by is not None:
        raise InterruptedRunError(stopped_by)


class RunManifest:
    """The manifest of the folder that a command writes. Every change is on disk when the method returns."""

    def __init__(self, folder: RunFolder, manifest: Manifest) -> None:
        self._folder, self.current = folder, manifest

    def begin_attempt(self, job: Job, reused: int) -> int:
        """Add an attempt that finds `reused` samples on disk. Return its number from 1."""
        attempts = self.current.attempts
        begun = attempt_record(job, len(attempts) + 1, self._folder, reused)
        self.update(attempts=(*attempts, begun))
        return begun.attempt

    def note_taken(self, taken: Sequence[TakenRecord]) -> None:
        """Record the samples that were copied from earlier runs."""
        if taken:
            self.update(taken_over=(*self.current.taken_over, *taken))

    def note_edited(self, files: Sequence[str]) -> None:
        """Record the files that were changed by hand."""
        if files:
            found = [EditRecord(file=file, found=manifests.now()) for file in files]
            self.update(edited=(*self.current.edited, *found))

    def end_attempt(self, judges: Mapping[str, JudgeRecord], facts: Mapping[str, Any]) -> None:
        """Complete the last attempt with `facts`, and record the judges.

        A server reports its version late.
        """
        *before, last = self.current.attempts
        self.update(
            tasks=with_judges(self.current.tasks, judges),
            attempts=(*before, last.model_copy(update=dict(facts))),
        )

    def update(self, **changes: Any) -> None:
        """Change fields of the manifest."""
        self.current = self.current.model_copy(update=changes)
        self._folder.write_manifest(self.current)


def with_judges(tasks: Mapping[str, TaskRecord], judges: Mapping[str, JudgeRecord]) -> dict[str, TaskRecord]:
    """Return the tasks with the records of their LLM judges."""
    return {
        name: task.model_copy(update={"judge": judges[name]}) if name in judges else task
        for name, task in tasks.items()
    }


def stored_judges(manifest: Manifest | None) -> dict[str, JudgeRecord]:
    """Return what a folder's manifest says about its LLM judges, by task."""
    tasks = manifest.tasks if manifest else {}
    return {name: task.judge for name, task in tasks.items() if task.judge is not None}


def scored_manifest(
    manifest: Manifest, tasks: Mapping[str, VerifiedTask], judges: JudgeSession, *, again: bool
) -> Manifest:
    """Return the manifest of a stored run that was scored by the current verifiers."""
    described = dict(manifest.tasks)
    for name, item in tasks.items():
        verifier = described[name].verifier.model_copy(
            update={"version": item.version, "digest": item.verifier}
        )
        described[name] = described[name].model_copy(update={"verifier": verifier})
    found = {name: judges.record(name) for name in tasks if name in judges}
    scored = (*manifest.scored, ScoredRecord(at=manifests.now(), again=again))
    return manifest.model_copy(update={"tasks": with_judges(described, found), "scored": scored})


def open_manifest(
    job: Job,
    folder: RunFolder,
    tasks: Mapping[str, VerifiedTask],
    judges: JudgeSession,
    asked: SpooledPrompts,
) -> RunManifest:
    """Begin or continue the folder: write its manifest, problems and asks.

    Args:
        asked: the records of each task. Problems that no verifier can grade here are left out.

    Raises:
        RunFolderError: the folder contains another run.
    """
    judges.remember(stored_judges(folder.manifest()))
    manifest = manifests.merge(folder, manifest_record(job, tasks, judges))
    for name in asked.tasks:
        records, asks = records_of_problems(asked.of(name), tasks[name].problems)
        merged = manifests.check_problems(folder, name, records, asks)
        folder.write_problems(name, merged)
        folder.write_asks(name, merged_asks(folder.asks(name), asks))
    if any(item.task.entry.role == "test" for item in tasks.values()):
        manifest = manifest.model_copy(update={"test_uses": manifest.test_uses + 1})
    folder.write_manifest(manifest)
    seal(folder)
    return RunManifest(folder, manifest)


def binding_record(job: Job) -> Binding:
    """Return the keys that identify a job's run, before any verifier is loaded."""
    return Binding(
        model_identity=job.model.identity,
        run_seed=job.suite.config.decoding.seed,
        terms=dict(job.model.terms),
        reasoning=ReasoningRecord.model_validate(job.model.reasoning.record),
        tasks={
            task.name: TaskBinding(
                version=task.task.info.version,
                data_digest=task.provenance.get("digest"),
                decoding=task.decoding.model_dump(mode="json", exclude={"seed"}),
            )
            for task in job.tasks
        },
    )


def manifest_record(job: Job, tasks: Mapping[str, VerifiedTask], judges: JudgeSession) -> Manifest:
    """Return the manifest of this command, without what the folder has from earlier commands."""
    config, binding = job.suite.config, binding_record(job)
    settings = config.model_dump(mode="json")
    track = {} if job.track is None else {"track": job.track}
    return Manifest(
        format=FORMAT,
        run_id=job.run_id,
        **track,
        suite=SuiteRecord(
            name=job.suite.name,
            path=str(job.suite.path.resolve()),
            overrides=tuple(job.suite.overrides),
            digest=digest(settings),
            git=manifests.git_commit(str(job.suite.folder)),
            config=settings,
        ),
        origin=OriginRecord.model_validate(job.origin),
        model=ModelRecord.model_validate(
            {"name": job.model.name, **job.model.config.model_dump(mode="json")}
        ),
        model_identity=binding.model_identity,
        **({"architecture": dict(told)} if (told := job.model.found.architecture) else {}),
        run_seed=binding.run_seed,
        terms=binding.terms,
        reasoning=binding.reasoning,
        tasks={name: task_record(item, judges, job.model.config) for name, item in tasks.items()},
        warnings=(*job.model.warnings, *_warnings(tasks), *judges.warnings, *_adaptive_warnings(job)),
        **({} if job.adaptive is None else {"adaptive": job.adaptive.record}),
        **({} if job.about == AboutRecord() else {"about": job.about}),
    )


def task_record(item: VerifiedTask, judges: JudgeSession, model: ModelConfig) -> TaskRecord:
    """Return the manifest's entry of a task."""
    task = item.task
    info, binding = task.task.info, task.decoding.model_dump(mode="json", exclude={"seed"})
    record = TaskRecord(
        version=info.version,
        k=task.k,
        n=len(task.problems),
        of=len(task.problems) + len(task.left_out),
        role=task.entry.role,
        gating=task.entry.gating,
        margin=task.entry.margin,
        headline=info.headline,
        metrics=tuple(task.metrics),
        chance=task.chance,
        published=tuple(references(info.published, model, task.entry.reference)),
        decoding=binding,
        verifier=VerifierRecord(name=task.verifier, version=item.version, digest=item.verifier),
        data=dict(task.provenance),
        data_digest=task.provenance.get("digest"),
    )
    if info.unanswered != TaskRecord.model_fields["unanswered"].default:
        record = record.model_copy(update={"unanswered": info.unanswered})
    if task.entry.refused == "excluded":
        record = record.model_copy(update={"refused": task.entry.refused})
    if info.reported is not None:
        record = record.model_copy(update={"reported": info.reported})
    if info.sensitive:
        record = record.model_copy(update={"sensitive": True})
    if info.protocol != TaskRecord.model_fields["protocol"].default:
        record = record.model_copy(update={"protocol": info.protocol})
    if task.name not in judges:
        return record
    return record.model_copy(update={"judge": judges.record(task.name)})


def _adaptive_warnings(job: Job) -> list[str]:
    """Return the reservations about the plan of an adaptive run."""
    return [] if job.adaptive is None else job.adaptive.warnings


def _warnings(tasks: Mapping[str, VerifiedTask]) -> list[str]:
    """Return the warnings of the tasks' data and verifiers."""
    data = [
        str(item.task.provenance["warning"]) for item in tasks.values() if item.task.provenance.get("warning")
    ]
    return data + [item.warning for item in tasks.values() if item.warning]
