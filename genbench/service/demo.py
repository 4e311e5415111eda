"""A ledger to look at: a simulated quarter of nights, a simulated training run, and a job for the tiny pair.

All scores are simulated, and every name says so. The run folders are real in form: the ledger, the trends and
the pages read them like any others.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

from genbench.errors import InputError
from genbench.ledger.add import add
from genbench.ledger.changes import annotate, pin_base
from genbench.ledger.database import Ledger
from genbench.queue.database import Queue
from genbench.queue.jobs import submit
from genbench.queue.spec import JobSpec, absolute_spec, checked_spec
from genbench.service.demo_run import SimulatedRun, write_run
from genbench.stats.scores import Floats
from genbench.store.track_record import TrackRecord, night_position
from genbench.store.walltime import wall_utc
from genbench.trend.detect import detect_changes

NIGHTLY, TRAINING = "simulated-nightly", "simulated-training"
NIGHTS, STEPS = 91, 14
_SIZES: Mapping[str, tuple[int, int, float]] = {
    "sim-competition": (30, 8, 0.37),
    "sim-science": (120, 4, 0.42),
    "sim-code": (80, 4, 0.31),
    "sim-instructions": (150, 1, 0.71),
}
"""Problems, samples of each, and mean score of the simulated tasks."""
_MISSING = 47
"""The night without a run."""


@dataclass(frozen=True, slots=True)
class _Drop:
    """A planted drop: the task, its nights, and how far it falls."""

    task: str
    nights: range
    size: float


_DROPS = (_Drop("sim-code", range(30, 39), 0.08), _Drop("sim-science", range(NIGHTS - 4, NIGHTS), 0.07))


def fill(ledger: Ledger, queue: Queue, folder: Path, *, by: str, say: Callable[[str], None]) -> None:
    """Fill an empty ledger below a folder. One that has the tracks already stays as it is.

    Args:
        folder: run folders are made below `folder/runs`.
        say: called with a line for each step.

    Raises:
        InputError: the folder has other runs, or cannot be written.
    """
    runs = folder / "runs"
    if (runs / NIGHTLY).is_dir():
        say(f"{folder}: is there already; delete it to begin anew")
    else:
        say(f"{folder}: writing {NIGHTS - 1} simulated nights and {STEPS} simulated checkpoints")
        try:
            base = _write(runs)
        except OSError as error:
            raise InputError(f"{folder}: cannot be written: {error.strerror}") from error
        add(ledger, [runs])
        pin_base(ledger, NIGHTLY, base, "the first night", by="demo")
        note = "a new driver on the machine (simulated)"
        annotate(ledger, NIGHTLY, _first_night() + 60, "engine", note, by="demo")
        say("looking for changes")
    for track in (NIGHTLY, TRAINING):
        detect_changes(ledger, track)
    spec = absolute_spec(JobSpec(suite="quickstart"), Path.cwd())
    job, _ = submit(queue, checked_spec(spec), runs, by=by)
    say(f"job {job.id} waits: it draws the tiny pair of checkpoints with a real engine")


def _first_night() -> int:
    return night_position((wall_utc() - timedelta(days=NIGHTS)).date())


def _write(runs: Path) -> str:
    """Write all run folders. Return the uid of the first night."""
    rng = np.random.default_rng(20)
    abilities = {name: rng.normal(_logit(mean), 1.5, size=n) for name, (n, _, mean) in _SIZES.items()}
    base = ""
    for night, run in _nights(abilities, rng):
        written = write_run(runs / NIGHTLY / f"night-{night:03}" / run.model, run)
        base = base or written
    for run in _steps(abilities, rng):
        write_run(runs / TRAINING / run.model, run)
    return base


def _nights(abilities: Mapping[str, Floats], rng: np.random.Generator) -> Iterator[tuple[int, SimulatedRun]]:
    """Yield a quarter of nights. Each night's model is a new one of about equal ability."""
    first, start = _first_night(), wall_utc() - timedelta(days=NIGHTS)
    for night in range(NIGHTS):
        moved = {name: own + rng.normal(0, 0.2, size=len(own)) for name, own in abilities.items()}
        for drop in _DROPS:
            if night in drop.nights:
                moved[drop.task] = moved[drop.task] - 6 * drop.size
        if night == _MISSING:
            continue
        place = TrackRecord(name=NIGHTLY, kind="night", position=first + night)
        yield night, _run(moved, rng, place, f"simulated-{night:03}", start + timedelta(days=night))


def _steps(abilities: Mapping[str, Floats], rng: np.random.Generator) -> Iterator[SimulatedRun]:
    """Yield the checkpoints of a training run that learns, and falls back a little at its end."""
    start = wall_utc() - timedelta(days=2)
    for number in range(STEPS):
        gain = 1.2 * (1 - np.exp(-number / 4)) - (0.4 if number > STEPS - 3 else 0.0)
        moved = {
            name: own - 0.8 + gain + rng.normal(0, 0.2, size=len(own)) for name, own in abilities.items()
        }
        place = TrackRecord(name=TRAINING, kind="step", position=500 * (number + 1))
        yield _run(moved, rng, place, f"checkpoint-{place.position}", start + timedelta(hours=number))


def _run(
    abilities: Mapping[str, Floats], rng: np.random.Generator, place: TrackRecord, model: str, created: Any
) -> SimulatedRun:
    scores = {}
    for name, (n, k, _) in _SIZES.items():
        chance = 1 / (1 + np.exp(-abilities[name]))
        scores[name] = (rng.random((n, k)) < chance[:, None]).astype(float)
    return SimulatedRun(
        uid=str(uuid.UUID(bytes=rng.bytes(16), version=4)),
        suite="simulated",
        model=model,
        place=place,
        created=created.strftime("%Y-%m-%dT%H:%M:%S+0000"),
        scores=scores,
    )


def _logit(mean: float) -> float:
    """Return the mean ability at which a task of difficulties that spread by 1.5 has this mean score."""
    return float(1.35 * np.log(mean / (1 - mean)))
