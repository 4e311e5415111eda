"""A suite from the command line: one or more models and tasks, without a file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from genbench.errors import ConfigError
from genbench.suite.suitefile import Suite, checked_suite

_PLACE = "command-line"
"""The name of the suite in messages, which has no file. Relative paths start from the working folder."""
_NAME_CHARS = 60


def quick_suite(
    models: Sequence[str],
    tasks: Sequence[str],
    k: int | None,
    overrides: Sequence[str] = (),
    entry: Mapping[str, Any] | None = None,
) -> Suite:
    """Return the suite of `genbench run --model M --task T --k K`.

    Args:
        models: texts PATH or NAME=PATH. A path can be a hub id. Its last part names the model.
        tasks: names of tasks.
        k: samples of each problem. None means each task's own.
        overrides: `key=value` texts, as in `--set`.
        entry: a task of the command's own, instead of tasks by name. Its models get plain prompts.

    Raises:
        ConfigError: no model or no task, two models of one name, or a wrong value.
    """
    if not models or not tasks:
        raise ConfigError("give a suite, or both --model PATH and --task NAME (see `genbench tasks`)")
    paths: dict[str, str] = {}
    for text in models:
        name, path = _named(text)
        if name in paths:
            raise ConfigError(f"--model {text}: two models are called '{name}'; write --model NAME=PATH")
        paths[name] = path
    style = {} if entry is None else {"prompt_style": "plain"}
    sizes: dict[str, Any] = {} if k is None else {"k": k}
    raw = {
        "name": _plain("-".join(tasks))[:_NAME_CHARS],
        "models": {name: {"path": path, **style} for name, path in paths.items()},
        "tasks": [{"task": task, **sizes} for task in tasks] if entry is None else [dict(entry)],
    }
    lines: dict[tuple[str | int, ...], int | str] = {("models",): "--model", ("tasks",): "--task"}
    return checked_suite(raw, Path(_PLACE), overrides, lines)


def model_name(text: str) -> str:
    """Return the name of the model that an option gives: NAME of NAME=PATH, or the last part of PATH."""
    return _named(text)[0]


def _named(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if equals:
        return name, path
    return _plain(text.rstrip("/").rpartition("/")[2]) or "model", text


def _plain(text: str) -> str:
    """Return a text as a name of files: letters, digits, dots, dashes."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).lstrip("._-")
