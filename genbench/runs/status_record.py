"""The record of `genbench status`: the state of each run of a folder."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from genbench.analysis.records import Count
from genbench.store.jsonrecord import JsonRecord

RunState = Literal[
    "starting",
    "loading the engine",
    "drawing",
    "verifying",
    "finished",
    "stopped",
    "failed",
    "killed",
]
"""The state of a run. The first four mean that a process is writing it. `stopped` is by a signal or a
limit."""


class WriterRecord(JsonRecord):
    """The process that writes a run folder, or that wrote it last."""

    host: str = Field(description="host of the process")
    pid: Count = Field(description="process id")
    started: str = Field(description="time at which the process started")
    alive: bool | None = Field(description="whether it is running; null if this host cannot tell")


class TaskProgress(JsonRecord):
    """Samples of one task."""

    done: Count = Field(description="samples with all turns drawn")
    total: Count = Field(description="samples of the run")
    verified: Count = Field(description="samples with a verdict")
    status_counts: dict[str, Count] = Field(description="verdicts by status, most frequent first")


class RunProgress(JsonRecord):
    """One run. Values are of the writer while it is running, else of the last attempt."""

    path: str = Field(description="the run folder")
    model: str = Field(description="the model's name")
    suite: str = Field(description="the suite's name")
    shard: str | None = Field(description="I/N if the folder is one part of a job array")
    state: RunState = Field(description="what the run is doing, or how it ended")
    writer: WriterRecord | None = Field(
        description="the process that writes the folder; null if it ended cleanly"
    )
    attempt: Count = Field(description="number of the last attempt")
    stopped_by: str | None = Field(description="the signal or limit that stopped the last attempt")
    done: Count = Field(description="samples with all turns drawn")
    total: Count = Field(description="samples of the run")
    verified: Count = Field(description="samples with a verdict")
    tasks: dict[str, TaskProgress] = Field(description="progress by task")
    drawn_now: Count | None = Field(description="samples that the last attempt has drawn")
    completion_tokens: Count | None = Field(description="tokens that the last attempt has drawn")
    tokens_per_s: float | None = Field(description="completion tokens per second")
    left_s: float | None = Field(description="seconds of drawing left at the rate so far, without verifying")
    elapsed_s: float | None = Field(description="seconds of the last attempt")
    updated: str | None = Field(description="time of this report by the writer")


class RunsStatus(JsonRecord):
    """All runs of a folder."""

    format: Literal[1] = Field(description="version of this record")
    runs: tuple[RunProgress, ...] = Field(description="one entry for each model or shard")
