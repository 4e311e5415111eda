"""How fast this machine draws a model: as an earlier run measured it, or as its processors let expect."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from genbench.engines import devices
from genbench.errors import GenbenchError
from genbench.models.prepare import PreparedModel
from genbench.store.folder import RunFolder

_MOST_RUNS = 200
"""Run folders that are looked at, the newest first."""
_FEWEST_TOKENS = 2_000
"""A run of fewer tokens mostly measures how long its engine took to start."""
_SIDE, _TRIES = 1024, 3
_OF_PEAK = 1 / 3
"""Share of the speed of a product of matrices that drawing reaches on a CPU. One measurement: SmolLM2-135M
draws 130 tokens a second on two cores that multiply at about 100 GFLOP/s."""


@dataclass(frozen=True, slots=True)
class Speed:
    """Completion tokens per second of all requests together, tokens of a sample if known, and the source."""

    tokens_per_s: float
    mean_tokens: int | None
    source: str


def speed_here(model: PreparedModel, runs: Path) -> Speed | None:
    """Return how fast a model is drawn on this machine, or None if nothing is known.

    Args:
        runs: the folder with run folders, such as `runs`.
    """
    found = measured_speed(model.identity, runs)
    if found is not None:
        return found
    settings = model.settings
    own = {field.name for field in fields(settings)} if is_dataclass(settings) else set()
    weights = next((getattr(settings, name) for name in ("weights", "model") if name in own), None)
    if devices.smallest() is not None or not isinstance(weights, Path) or not weights.is_dir():
        return None
    parameters = _parameters(weights)
    return None if parameters is None else cpu_speed(parameters, _products_per_s())


def measured_speed(identity: str, runs: Path) -> Speed | None:
    """Return the speed of the newest run of a model on this host, or None if there is none."""
    for path in _newest(runs):
        folder = RunFolder(path)
        try:
            manifest, results = folder.manifest(), folder.results()
        except GenbenchError:
            continue
        if manifest is None or results is None or manifest.model_identity != identity:
            continue
        hosts = {_host(attempt.circumstances) for attempt in manifest.attempts}
        speed, samples, tokens = _totals(results)
        if hosts == {socket.gethostname()} and speed and tokens >= _FEWEST_TOKENS:
            return Speed(speed, round(tokens / samples), f"measured: {path}")
    return None


def _newest(runs: Path) -> Iterator[Path]:
    """Yield the run folders below a folder, the newest first."""
    found = [file for depth in ("*", "*/*", "*/*/*") for file in runs.glob(f"{depth}/results.json")]
    found.sort(key=lambda file: file.stat().st_mtime, reverse=True)
    yield from (file.parent for file in found[:_MOST_RUNS])


def _host(circumstances: Any) -> Any:
    machine = circumstances.get("machine")
    return machine.get("host") if isinstance(machine, dict) else None


def _totals(results: Any) -> tuple[float, int, int]:
    """Return tokens per second, samples and completion tokens of a results.json, 0 for what it lacks."""
    totals = results.get("totals") or {}
    tokens = (totals.get("tokens") or {}).get("completion") or 0
    return float(totals.get("tokens_per_s") or 0.0), max(1, int(totals.get("samples") or 0)), int(tokens)


def _parameters(folder: Path) -> int | None:
    """Return how many numbers the weights of a checkpoint are, or None if they cannot be read."""
    from genbench.engines.weights import read_weights  # noqa: PLC0415

    try:
        tensors = read_weights(folder)
    except GenbenchError:
        return None
    return sum(int(np.prod(tensor.shape)) for tensor in tensors.values()) or None


def cpu_speed(parameters: int, products_per_s: float) -> Speed:
    """Return the speed that a CPU may reach: each token multiplies and adds once for each parameter.

    Args:
        products_per_s: floating-point operations per second of a product of matrices.
    """
    per_s = _OF_PEAK * products_per_s / (2 * parameters)
    return Speed(
        per_s, None, f"this CPU at {products_per_s / 1e9:,.0f} GFLOP/s, {_short(parameters)} parameters"
    )


def _short(count: int) -> str:
    return f"{count / 1e9:,.1f}B" if count >= 1e9 else f"{count / 1e6:,.0f}M"


def _products_per_s() -> float:
    """Measure the best of a few products of matrices. It takes 0.1 s."""
    left = np.ones((_SIDE, _SIDE), dtype=np.float32)
    took = []
    for _ in range(_TRIES):
        started = time.monotonic()
        left @ left
        took.append(time.monotonic() - started)
    return float(2 * _SIDE**3 / min(took))
