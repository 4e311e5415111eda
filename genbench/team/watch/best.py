"""The best checkpoints of a training run, drawn again with a fresh seed.

The largest of several scores is too high on average, because the luckiest checkpoint is chosen with it. A
second draw with another seed was not chosen by its score, so it is right on average.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from genbench.engines.checkpoint import folder_digest
from genbench.errors import GenbenchError, InputError
from genbench.json_record import JsonRecord
from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.history import recent, track_names
from genbench.team.queue.database import Queue
from genbench.team.queue.jobs import get_job, submit
from genbench.team.watch.watches import WatchedCheckpoint, WatchRules, get_watch

_ALL = 1_000_000


class DrawnAgain(JsonRecord):
    """One of the best checkpoints: its first score, and its second."""

    step: int = Field(description="training step")
    path: str = Field(description="the folder, relative to the watched one")
    first: float = Field(description="mean of the tasks' scores by which it was chosen; too high on average")
    again: float | None = Field(description="the same of the second draw; null until that is in the ledger")
    job: int | None = Field(description="number of the job that draws it again; null if there is none")
    state: str = Field(description="state of the job, or why there is none")


class BestAgain(JsonRecord):
    """What `genbench watch best` prints."""

    format: Literal[1] = Field(description="version of this record")
    watch: str = Field(description="name of the watch")
    track: str = Field(description="track of the first draws")
    again: str = Field(description="track of the second draws")
    seed: int = Field(description="run seed of the second draws")
    tasks: tuple[str, ...] = Field(description="tasks of the mean: the gating ones, or all if none is")
    checkpoints: tuple[DrawnAgain, ...] = Field(description="the best first")


def draw_best_again(ledger: Ledger, queue: Queue, name: str, *, top: int = 3, by: str) -> BestAgain:
    """Put a job for each of the best checkpoints of a watch into the queue, once. Return their two scores.

    Args:
        top: how many.
        by: who asks for it.

    Raises:
        InputError: there is no such watch, or none of its checkpoints is drawn yet.
    """
    watch = get_watch(queue, name, checkpoints=_ALL)
    rules = watch.rules
    tasks, first = _means(ledger, rules.track)
    if not first:
        raise InputError(f"watch {name}: no checkpoint of track {rules.track} is drawn yet")
    again_track = f"{rules.track}-again"
    _, again = _means(ledger, again_track) if again_track in track_names(ledger) else ((), {})
    seed = _seed(rules.track)
    drawn = {item.step: item for item in reversed(watch.checkpoints) if item.state == "done"}
    found = []
    for step in sorted(first, key=lambda one: (-first[one], one))[:top]:
        item = drawn.get(step)
        job, state = (
            (None, "the watch did not draw it") if item is None else _submit(queue, rules, item, seed, by)
        )
        path = "" if item is None else item.path
        found.append(
            DrawnAgain(step=step, path=path, first=first[step], again=again.get(step), job=job, state=state)
        )
    return BestAgain(
        format=1,
        watch=name,
        track=rules.track,
        again=again_track,
        seed=seed,
        tasks=tasks,
        checkpoints=tuple(found),
    )


def _means(ledger: Ledger, track: str) -> tuple[tuple[str, ...], Mapping[int, float]]:
    """Return the tasks that count, and the mean of their scores by step. Steps that lack one are left out."""
    series = recent(ledger, track, _ALL).series
    gating = [name for name, item in sorted(series.items()) if item.gating]
    tasks = tuple(gating or sorted(series))
    scores: dict[int, dict[str, float]] = {}
    for name in tasks:
        for step, value in zip(series[name].positions, series[name].value, strict=True):
            scores.setdefault(int(step), {})[name] = float(value)
    means = {
        step: float(np.mean(list(own.values()))) for step, own in scores.items() if len(own) == len(tasks)
    }
    return tasks, {step: mean for step, mean in means.items() if not np.isnan(mean)}


def _seed(track: str) -> int:
    """Return a run seed that no suite has by default, the same at each call."""
    return int.from_bytes(hashlib.sha256(f"again {track}".encode()).digest()[:4], "big") >> 1 | 1


def _submit(
    queue: Queue, rules: WatchRules, item: WatchedCheckpoint, seed: int, by: str
) -> tuple[int | None, str]:
    """Queue the second draw of a checkpoint. Return the job, and its state or why there is none."""
    folder = Path(rules.folder) / item.path
    try:
        if not folder.is_dir() or f"sha256:{folder_digest(folder)}" != item.identity:
            return None, "its files are gone or were written again"
        overrides = (*rules.overrides, f"decoding.seed={seed}")
        placed = rules.job(folder, track=f"{rules.track}-again", overrides=overrides)
        job, _ = submit(queue, placed, Path(rules.runs), by=by, priority=rules.priority)
    except GenbenchError as error:
        return None, str(error)
    return job.id, get_job(queue, job.id).state
