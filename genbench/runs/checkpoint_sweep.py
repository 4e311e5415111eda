"""The checkpoints of a training run, as models of one command in the order of their steps."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from genbench.engines.weights import adapter_rank, read_weights
from genbench.errors import ConfigError
from genbench.runs.inputs import open_suite
from genbench.runs.options import RunOptions
from genbench.suite.suitefile import Suite, is_adapter, model_name

_BASE = "base"
_NOT_SETTINGS = {"path", "revision"}
"""Keys of a model that say which one it is, and not how it is drawn."""


@dataclass(frozen=True, slots=True)
class FoundCheckpoint:
    """A complete checkpoint: its folder, its training step, and its name as a model."""

    path: Path
    step: int
    name: str


@dataclass(frozen=True, slots=True)
class Sweep:
    """The checkpoints of a sweep by step, and a line for each folder that is left out."""

    checkpoints: tuple[FoundCheckpoint, ...]
    left_out: tuple[str, ...]


def expand(options: RunOptions) -> tuple[RunOptions, tuple[str, ...]]:
    """Return the options of a sweep with its checkpoints as models, and the folders that are left out.

    Checkpoints take all keys but the path from the suite's model that is not `base`. Adapters take its path
    too, because it is what they were trained on. `base` is drawn as well,
    once. Every run is in runs/<track>/<model>, so the same command later draws only new checkpoints.

    Raises:
        ConfigError: no complete checkpoint, two of one step or name, or models of the suite that differ.
    """
    if not options.models_from:
        return options, ()
    sweep = find_checkpoints(options.models_from)
    plain = replace(options, models_from=())
    like, drawn = None, tuple(options.models)
    track = options.track or "sweep"
    if options.suite is not None:
        suite, _ = open_suite(replace(plain, models=()))
        like = settings_model(suite)
        drawn = drawn or tuple(name for name in suite.written if name == _BASE)
        own = suite.config.track
        track = options.track or (own if isinstance(own, str) else own.name if own else suite.name)
    names = {model_name(text) for text in drawn}
    for checkpoint in sweep.checkpoints:
        if checkpoint.name in names:
            raise ConfigError(f"--models-from: {checkpoint.path} has the name of another model; rename it")
    return (
        replace(
            plain,
            models=(*drawn, *(f"{item.name}={item.path}" for item in sweep.checkpoints)),
            steps={item.name: item.step for item in sweep.checkpoints},
            like=like,
            track=track,
            run_dir=options.run_dir or Path("runs") / track,
        ),
        sweep.left_out,
    )


def find_checkpoints(patterns: Sequence[str]) -> Sweep:
    """Return the complete checkpoints that patterns of paths match, by step.

    A checkpoint is complete if its config and all its weights are there (see engines.weights). A folder
    without either, or still being written, is left out with the reason. Files are passed over.

    Raises:
        ConfigError: no complete checkpoint, no step in a name, or two checkpoints of one step or name.
    """
    found: dict[int, FoundCheckpoint] = {}
    left_out: list[str] = []
    for path in _folders(patterns):
        reason = _incomplete(path)
        if reason is not None:
            left_out.append(f"left out: {reason}")
            continue
        checkpoint = FoundCheckpoint(path, step_of(path), model_name(str(path)))
        for other in found.values():
            if other.step == checkpoint.step or other.name == checkpoint.name:
                what = f"step {other.step}" if other.step == checkpoint.step else f"name {other.name}"
                raise ConfigError(f"--models-from: {other.path} and {path} are both of {what}; give one")
        found[checkpoint.step] = checkpoint
    if not found:
        more = f"; {left_out[0]}" if left_out else ""
        raise ConfigError(f"--models-from {' '.join(patterns)}: no complete checkpoint there{more}")
    return Sweep(tuple(found[step] for step in sorted(found)), tuple(left_out))


def step_of(path: Path) -> int:
    """Return the training step of a checkpoint: global_step of trainer_state.json, else of its name.

    Raises:
        ConfigError: there is neither.
    """
    step = trainer_step(path)
    if step is not None:
        return step
    numbers = re.findall(r"\d+", path.name)
    if not numbers:
        raise ConfigError(f"{path}: no training step; wanted a number in its name, as in checkpoint-500")
    return int(numbers[-1])


def trainer_step(path: Path) -> int | None:
    """Return global_step of a checkpoint's trainer_state.json, or None if it names none."""
    try:
        step = json.loads((path / "trainer_state.json").read_text(encoding="utf-8"))["global_step"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return step if isinstance(step, int) and step >= 0 else None


def settings_model(suite: Suite) -> str | None:
    """Return the model of a suite whose keys the checkpoints take, or None if it has only `base`.

    Raises:
        ConfigError: it has several, and their keys differ.
    """
    others = {name: model for name, model in suite.written.items() if name != _BASE}
    settings = [model.model_dump(exclude=_NOT_SETTINGS) for model in others.values()]
    if any(one != settings[0] for one in settings):
        raise ConfigError(
            f"{suite.path}: models {', '.join(others)} differ in more than their path, and checkpoints of "
            "--models-from take the keys of one; leave one of them in the suite, next to `base`"
        )
    return next(iter(others), None)


def _folders(patterns: Sequence[str]) -> list[Path]:
    """Return the folders that patterns match, each once, in the order of names. A link keeps its own name.

    Raises:
        ConfigError: a pattern matches nothing.
    """
    found: dict[Path, Path] = {}
    for pattern in patterns:
        start = Path(pattern).expanduser()
        paths = sorted(Path(start.anchor or ".").glob(str(start.relative_to(start.anchor))))
        if not paths:
            raise ConfigError(f"--models-from {pattern}: matches nothing; quote it, as in 'ckpt/step-*'")
        for path in paths:
            if path.is_dir():
                found.setdefault(path.resolve(), path.absolute())
    return list(found.values())


def _incomplete(path: Path) -> str | None:
    """Return why a folder is not a complete checkpoint, or None if it is one. An adapter is one too."""
    if not (path / "config.json").is_file() and not is_adapter(path):
        return f"{path} has no config.json"
    try:
        if is_adapter(path):
            adapter_rank(path)
        else:
            read_weights(path)
    except ConfigError as error:
        return str(error)
    return None
