"""Whether a checkpoint folder is complete: its structure, and the file that its trainer writes last.

The suite of a watch says whether a checkpoint must contain its tokenizer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from pathlib import Path

from genbench.engines.weights import adapter_rank, read_weights
from genbench.errors import ConfigError
from genbench.runs.checkpoint_sweep import settings_model, trainer_step
from genbench.runs.inputs import open_suite
from genbench.runs.options import RunOptions
from genbench.suite.suitefile import is_adapter
from genbench.tasks.loading import selected_entries
from genbench.team.watch.watches import AUTO, NO_MARKER, WatchRules

STABLE, TRAINER_STATE = "STABLE", "trainer_state.json"
"""Files that prime-rl and Transformers write into a checkpoint after everything else in it."""
_LATEST = "latest_checkpointed_iteration.txt"
"""The file next to the checkpoints in which verl and Megatron note the last complete step."""
_UNFINISHED = (".tmp", ".incomplete", ".lock", ".partial")
_OF_TRANSFORMERS = ("training_args.bin", "optimizer.pt", "scheduler.pt", "optimizer.bin")
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "tokenizer_config.json", "vocab.json", "tekken.json")


def known_markers(folders: Collection[Path]) -> frozenset[str]:
    """Return the markers that some checkpoints of a training run have. So the others will get them too."""
    return frozenset(
        name for name in (STABLE, TRAINER_STATE) if any((path / name).exists() for path in folders)
    )


def training_step(folder: Path, root: Path) -> int:
    """Return the training step of a checkpoint: that of its trainer, else of its path below `root`.

    Raises:
        ConfigError: there is neither.
    """
    step = trainer_step(folder)
    if step is not None:
        return step
    for part in folder.relative_to(root).parts:
        numbers = re.findall(r"\d+", part)
        if numbers:
            return int(numbers[-1])
    raise ConfigError(f"{folder}: no training step; wanted a number in its name, as in checkpoint-500")


def incomplete_reason(
    folder: Path, root: Path, *, marker: str = AUTO, markers: Collection[str] = (), tokenizer: bool = True
) -> str | None:
    """Return why a folder is not a complete checkpoint, or None if it is one.

    config.json alone says nothing: Transformers writes it before the weights.

    Args:
        root: the watched folder.
        marker: a file that must be there, `auto`, or `none`.
        markers: the markers that other checkpoints of the training run have.
        tokenizer: whether the tokenizer must be in the folder.
    """
    try:
        return _structure(folder, tokenizer) or _marker(folder, root, marker, markers)
    except ConfigError as error:
        return str(error)
    except OSError as error:
        return f"{folder} is being changed ({error.strerror})"


def _structure(folder: Path, tokenizer: bool) -> str | None:
    of_adapter = is_adapter(folder)
    config = folder / ("adapter_config.json" if of_adapter else "config.json")
    if not config.is_file():
        return f"{folder} has no config.json"
    try:
        json.loads(config.read_bytes())
    except ValueError:
        return f"{config} is not JSON yet"
    for file in folder.iterdir():
        if file.suffix in _UNFINISHED:
            return f"{file} is the file of a copy that has not ended"
    if of_adapter:
        adapter_rank(folder)
        return None
    read_weights(folder)
    if tokenizer and not any((folder / name).is_file() for name in _TOKENIZERS):
        return f"{folder} has no tokenizer; save it with the model, or set `tokenizer` of the suite's model"
    return None


def _marker(folder: Path, root: Path, marker: str, markers: Collection[str]) -> str | None:
    """Return which file of the trainer is lacking, or None."""
    if marker == NO_MARKER:
        return None
    if marker != AUTO:
        return None if (folder / marker).exists() else f"{folder} has no {marker} yet"
    wanted = set(markers)
    if any((folder / name).exists() for name in _OF_TRANSFORMERS):
        wanted.add(TRAINER_STATE)
    for name in sorted(wanted):
        if not (folder / name).exists():
            return f"{folder} has no {name} yet; if its trainer writes none, use --marker none"
    if TRAINER_STATE in wanted and trainer_step(folder) is None:
        return f"{folder / TRAINER_STATE} names no step yet"
    return _latest(folder, root, bool(wanted))


def _latest(folder: Path, root: Path, is_marked: bool) -> str | None:
    """Return what is lacking next to the checkpoints, or None.

    Args:
        is_marked: whether the checkpoint has a marker of its own.
    """
    latest = root / _LATEST
    if latest.is_file():
        text = latest.read_text(encoding="utf-8", errors="replace").strip()
        is_late = not text.isdecimal() or int(text) < training_step(folder, root)
        return f"{latest} does not name its step yet" if is_late else None
    if not is_marked and not list(folder.glob("*.safetensors")):
        return f"{folder} has pickled weights, whose end cannot be checked; name a file with --marker"
    return None


def needs_tokenizer(rules: WatchRules) -> bool:
    """Check the suite of a watch. Return whether checkpoints must contain their tokenizer.

    Raises:
        InputError: the suite, a task or an override is wrong, in the words of `genbench run`.
    """
    suite, _ = open_suite(RunOptions(suite=rules.suite, overrides=rules.overrides))
    selected_entries(suite, rules.tasks, False)
    like = settings_model(suite)
    return rules.responses is None and (like is None or suite.written[like].tokenizer is None)
