"""Perplexity of a model on documents of a file or a dataset, as a run with one task."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from genbench.data.local import READERS
from genbench.errors import ConfigError
from genbench.registry import names
from genbench.runs.options import RunOptions
from genbench.tasks.kinds import LIKELIHOOD

_HUB = re.compile(r"[\w.-]+/[\w.-]+")


def perplexity_options(
    data: str,
    options: RunOptions,
    *,
    column: str = "text",
    config: str = "default",
    split: str = "test",
    window: int | None = None,
) -> RunOptions:
    """Return the options of a run that scores documents.

    Args:
        data: a file of documents, the name of a built-in task of documents, or a dataset ORG/NAME.
        options: models, run folder and the like.
        column: the column of the documents.
        config, split: of a dataset.
        window: tokens that are scored at a time. None: as many as the model's context takes.

    Raises:
        ConfigError: there is no such file, task or dataset.
    """
    label = re.sub(r"[^A-Za-z0-9_.-]+", "_", Path(data).stem).strip("._-") or "documents"
    scored = {"metric": "byte_probability", "delimiter": ""} | ({} if window is None else {"window": window})
    source: dict[str, Any]
    if Path(data).suffix.lower() in READERS:
        if not Path(data).is_file():
            raise ConfigError(
                f"{data}: no such file; give a file, a dataset ORG/NAME, or a task of documents"
            )
        source = {"path": str(Path(data).resolve())}
    elif data in names("task"):
        own = {} if window is None else {"options": {"window": window}}
        return _with(options, data, {"task": data, **own})
    elif _HUB.fullmatch(data):
        source = {"hub": {"repo": data, "config": config, "split": split}}
    else:
        raise ConfigError(
            f"{data}: neither a file ({', '.join(sorted(READERS))}), nor a dataset ORG/NAME, nor a task of "
            "documents such as wikitext"
        )
    entry = {
        "name": label,
        "kind": LIKELIHOOD,
        "k": 1,
        "data": {**source, "fields": {"options": column}},
        "options": scored,
    }
    return _with(options, label, entry)


def _with(options: RunOptions, label: str, entry: dict[str, Any]) -> RunOptions:
    return replace(options, entry=entry, tasks=(label,))
