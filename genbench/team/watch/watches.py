"""Watches and their checkpoints: their records, and their rows in the queue's database."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field
from sqlalchemy import Connection, delete, insert, select, update

from genbench.errors import InputError, nearest
from genbench.json_record import JsonRecord
from genbench.store.clock import wall_seconds
from genbench.store.continuation import now
from genbench.suite.block import NAME_PATTERN
from genbench.team.queue import tables
from genbench.team.queue.database import Queue
from genbench.team.queue.spec import JobSpec, PlacedSpec, checked_spec

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

    def job(self, checkpoint: Path, **more: Any) -> PlacedSpec:
        """Return the checked job that draws a checkpoint by these rules.

        Args:
            more: what the job has instead of what the rules say.

        Raises:
            InputError: the suite is wrong, or the checkpoint is not there any more.
        """
        return checked_spec(JobSpec.from_object(self, checkpoint=str(checkpoint), **more))


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
    """What `genbench watch list` prints."""

    format: Literal[1] = Field(description="version of this record")
    watches: tuple[Watch, ...] = Field(description="watches by name")


def save_watch(queue: Queue, name: str, rules: WatchRules, *, by: str) -> None:
    """Store the rules of a watch. A watch of that name continues with the new rules.

    Raises:
        InputError: the name is wrong, or a watch of that name watches another folder.
    """
    if not re.fullmatch(NAME_PATTERN, name):
        raise InputError(f"watch '{name}': use letters, digits, '.', '_' and '-'")
    table, text = tables.watch, json.dumps(rules.to_json(), sort_keys=True)
    with queue.write() as connection:
        known = connection.execute(select(table.c.rules).where(table.c.name == name)).scalar()
        if known is None:
            values: dict[str, Any] = {"name": name, "rules": text, "created_by": by, "created": now()}
            connection.execute(insert(table).values(values))
            return
        folder = WatchRules.from_json(json.loads(known), "queue").folder
        if folder != rules.folder:
            raise InputError(f"watch '{name}' is of {folder}; take another name for {rules.folder}: --name")
        connection.execute(update(table).where(table.c.name == name).values(rules=text))


def list_watches(queue: Queue, *, checkpoints: int = 200) -> list[Watch]:
    """Return all watches by name.

    Args:
        checkpoints: how many checkpoints of each are returned, the highest steps first.
    """
    with queue.read() as connection:
        rows = connection.execute(select(tables.watch).order_by(tables.watch.c.name)).all()
        return [_watch_of(connection, row, checkpoints) for row in rows]


def get_watch(queue: Queue, name: str, *, checkpoints: int = 200) -> Watch:
    """Return one watch.

    Raises:
        InputError: there is none of that name.
    """
    with queue.read() as connection:
        return _watch_of(connection, _require(connection, name), checkpoints)


def remove_watch(queue: Queue, name: str) -> list[str]:
    """Forget a watch and its checkpoints. Return the folders of its pins. Jobs and runs stay.

    Raises:
        InputError: there is none of that name.
    """
    table = tables.checkpoint
    with queue.write() as connection:
        _require(connection, name)
        pins = [row.pin for row in connection.execute(select(table).where(table.c.watch == name)) if row.pin]
        connection.execute(delete(table).where(table.c.watch == name))
        connection.execute(delete(tables.watch).where(tables.watch.c.name == name))
    return pins


def read_checkpoints(queue: Queue, name: str) -> list[Any]:
    """Return the rows of a watch's checkpoints with the state of their jobs, old to new."""
    table, job = tables.checkpoint, tables.job
    query = (
        select(table, job.c.state.label("job_state"), job.c.error.label("job_error"))
        .outerjoin(job, job.c.id == table.c.job_id)
        .where(table.c.watch == name)
        .order_by(table.c.id)
    )
    return list(queue.rows(query))


def add_checkpoint(queue: Queue, name: str, path: str, fingerprint: str) -> None:
    """Store that a checkpoint folder was seen, or was written again."""
    values = {
        **{"watch": name, "path": path, "fingerprint": fingerprint, "seen": now(), "state": "settling"},
        **dict.fromkeys(("reason", "identity", "pin", "pinned"), ""),
    }
    queue.run(insert(tables.checkpoint).values(values))


def change_checkpoint(queue: Queue, number: int, values: Mapping[str, Any]) -> None:
    """Change a row of a checkpoint."""
    with queue.write() as connection:
        change_row(connection, number, values)


def change_row(connection: Connection, number: int, values: Mapping[str, Any]) -> None:
    """Change a row of a checkpoint in an open transaction."""
    table = tables.checkpoint
    connection.execute(update(table).where(table.c.id == number).values(dict(values)))


def forget_checkpoint(queue: Queue, number: int) -> None:
    """Delete a row of a checkpoint, because its content turned out to be that of an earlier row."""
    queue.run(delete(tables.checkpoint).where(tables.checkpoint.c.id == number))


def note_poll(queue: Queue, name: str) -> None:
    """Store the time at which a watch was polled."""
    queue.run(update(tables.watch).where(tables.watch.c.name == name).values(polled=wall_seconds()))


def _require(connection: Connection, name: str) -> Any:
    table = tables.watch
    row = connection.execute(select(table).where(table.c.name == name)).first()
    if row is None:
        names = connection.scalars(select(table.c.name)).all()
        hint = nearest(name, names) or "; begin one with: genbench watch start DIR --suite SUITE --track NAME"
        raise InputError(f"there is no watch '{name[:100]}'{hint}")
    return row


def _watch_of(connection: Connection, row: Any, checkpoints: int) -> Watch:
    table = tables.checkpoint
    query = select(table).where(table.c.watch == row.name).order_by(table.c.step.desc(), table.c.id.desc())
    found = [_checkpoint_of(item) for item in connection.execute(query)]
    found.sort(key=lambda item: (item.step is not None, -(item.step or 0), -item.id))
    return Watch.from_object(
        row,
        rules=WatchRules.from_json(json.loads(row.rules), "queue"),
        polled_s=None if row.polled is None else round(max(0.0, wall_seconds() - row.polled), 1),
        counts=dict(sorted(Counter(item.state for item in found).items())),
        checkpoints=tuple(found[:checkpoints]),
    )


def _checkpoint_of(row: Any) -> WatchedCheckpoint:
    return WatchedCheckpoint.from_object(row, job=row.job_id)
