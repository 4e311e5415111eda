"""The run folders at or below a folder. Links are never followed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from genbench.errors import InputError

_DEEPEST = 12
"""Levels of folders below the root that are looked at."""


def run_folders_below(root: Path) -> Iterator[Path]:
    """Yield the folders with a manifest.json, in the order of their names.

    Nothing is looked for inside a run folder. Hidden folders are left out.

    Raises:
        InputError: `root` is no folder that can be read.
    """
    if not root.is_dir():
        raise InputError(f"{root}: no such folder; wanted a run folder, or a folder that contains some")
    real = root.resolve()
    yield from _below(real, _DEEPEST)


def _below(folder: Path, levels: int) -> Iterator[Path]:
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        raise InputError(f"{folder}: cannot be read: {error.strerror}") from error
    if any(entry.name == "manifest.json" for entry in entries):
        yield folder
        return
    for entry in entries:
        if levels and not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
            yield from _below(Path(entry.path), levels - 1)
