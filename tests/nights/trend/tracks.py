"""Ledgers with a track of ready run folders, drawn from rates that are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from genbench.nights.ledger.database import Ledger, open_ledger
from genbench.nights.ledger.ingest import add
from genbench.stats.scores import Floats
from tests.nights.ledger.synthetic import make_run

FIRST = 20_000
"""The position of the first night."""
RATES: Floats = np.random.default_rng(0).beta(0.8, 0.8, size=60)


def rows(loss: float, seed: int, k: int = 4) -> list[list[float]]:
    """Return scores (problems, k) for RATES, lowered by a share of themselves."""
    draws = np.random.default_rng(seed).random((len(RATES), k)) < (RATES * (1 - loss))[:, None]
    return [[float(score) for score in problem] for problem in draws]


def night(folder: Path, number: int, losses: Floats, **how: object) -> Path:
    """Write the run of one night of the tasks gpqa and aime. Return its folder."""
    scores = {
        task: rows(float(losses[number]), 1000 * seed + number) for seed, task in enumerate(("gpqa", "aime"))
    }
    return make_run(folder / f"night-{number:03}", scores, position=FIRST + number, **how)  # type: ignore[arg-type]


def opened(folder: Path) -> Ledger:
    """Return a new ledger in a folder, or the one that is there."""
    return open_ledger(folder / "ledger.sqlite3")


def filled(folder: Path, losses: Floats) -> Ledger:
    """Return a ledger with a base and one night for each entry of `losses`."""
    base = {task: rows(0, seed, k=8) for seed, task in ((91, "gpqa"), (92, "aime"))}
    make_run(folder / "base", base, position=FIRST, role="anchor", model="base")
    for number in range(len(losses)):
        night(folder, number, losses)
    ledger = opened(folder)
    add(ledger, [folder])
    return ledger
