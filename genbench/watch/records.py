"""The records of watches: what is watched, and what became of each checkpoint."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from genbench.store.jsonrecord import JsonRecord

CheckpointState = Literal[
    "settling", "ready", "queued", "done", "failed", "same", "skipped", "vanished", "replaced"
]
PinKind = Literal["auto", "copy"]
PATTERNS = ("checkpoint-*", "step_*", "global_step*", "iter_*")
"""Names of checkpoint folders as trainers give them: Transformers, prime-rl, DeepSpeed and verl, Megatron."""
AUTO, NO_MARKER = "auto", "none"


class WatchRules(JsonRecord):
    """What is watched, and how its checkpoints are drawn. Paths are absolute."""

    folder: str = Field(max_length=4096, description="the folder that the trainer writes to")
    patterns: tuple[str, ...] = Field(
        default=PATTERNS, min_length=1, max_length=20, description="checkpoints in it"
    )
    suite: str = Field(max_length=4096, description="a suite file")
    track: str = Field(max_length=100, description="the track that the checkpoints are points of")
    runs: str = Field(max_length=4096, description="folder below which run folders are made")
    every: int = Field(default=1, ge=1, description="only steps that this number divides")
    until: int | None = Field(default=None, ge=0, description="the last step; it is drawn in any case")
    most_pending: int = Field(default=2, ge=1, le=1000, description="jobs that wait or run at the same time")
    settle_s: float = Field(default=60.0, ge=0, le=86_400, description="seconds without a change of any file")
    marker: str = Field(
        default=AUTO, max_length=100, description="file that the trainer writes last; auto, or none"
    )
    pin: PinKind = Field(default="auto", description="auto: share or link the files; copy: always copy them")
    tasks: tuple[str, ...] = Field(default=(), max_length=1000, description="only these tasks")
    overrides: tuple[str, ...] = Field(default=(), max_length=200, description="KEY=VALUE, as --set")
    data_dir: str | None = Field(default=None, max_length=4096, description="mirror of datasets")
    responses: str | None = Field(default=None, max_length=4096, description="ready responses to score")
    priority: int = Field(default=5, ge=0, le=9, description="priority of the jobs")


class WatchedCheckpoint(JsonRecord):
    """One state of a checkpoint folder. A folder that was written again has several, old to new."""

    id: int = Field(description="number of the entry")
    path: str = Field(description="the folder, relative to the watched one")
    step: int | None = Field(description="training step; null until the folder is complete")
    state: CheckpointState = Field(
        description="settling: incomplete, or still changing; ready: kept, waits for earlier jobs; queued: "
        "has a job; done: drawn; failed: see `reason`, and it may be retried; same: its weights are those of "
        "another one; skipped: by a rule; vanished: deleted before it was complete; replaced: written over "
        "while it was kept"
    )
    reason: str = Field(description="why it is in this state; empty if there is nothing to say")
    identity: str = Field(description="digest of its weights, config and tokenizer; empty until it is known")
    job: int | None = Field(description="number of its job; null if it has none")
    pin: str = Field(description="folder in which its files are kept; empty if they are not")
    seen: str = Field(description="when it was first seen, local time with offset")


class Watch(JsonRecord):
    """A watched folder with its checkpoints."""

    name: str = Field(description="its name")
    rules: WatchRules = Field(description="what is watched")
    created_by: str = Field(description="who began it")
    created: str = Field(description="local time with offset")
    polled_s: float | None = Field(description="seconds since it was last looked at; null if never")
    counts: dict[str, int] = Field(description="number of checkpoints by state")
    checkpoints: tuple[WatchedCheckpoint, ...] = Field(description="checkpoints, the highest step first")


class WatchList(JsonRecord):
    """What `genbench watches` prints."""

    format: Literal[1] = Field(description="version of this record")
    watches: tuple[Watch, ...] = Field(description="watches by name")
