"""The problems of a harness, as its own files list them: a folder of harbor's tasks, or tasks of tau2."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from genbench.errors import DataError

_REPOSITORY = re.compile(r"^(.+__.+)-\d+$")
"""An id of SWE-bench: owner__repository-number."""
_SCENARIO = ("reason_for_call", "known_info", "unknown_info", "task_instructions")


def listed_problems(source: Path) -> list[dict[str, Any]] | None:
    """Return the rows of a source that is no file of rows, or None if it is one.

    A folder has harbor's tasks, one in each folder below it. A .json file has a list of tau2's tasks.

    Raises:
        DataError: there is no task in it, or it cannot be read.
    """
    if source.is_dir():
        return _of_folder(source)
    return _of_list(source) if source.suffix == ".json" else None


def _of_folder(source: Path) -> list[dict[str, Any]]:
    folders = sorted(place.parent for place in source.glob("*/task.toml"))
    if not folders:
        raise DataError(f"{source}: no task of harbor: no folder in it has a task.toml")
    rows = []
    for folder in folders:
        try:
            text = (folder / "instruction.md").read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"{folder}: its instruction.md cannot be read: {error}") from None
        found = _REPOSITORY.match(folder.name)
        group = {"group": found[1]} if found else {}
        rows.append({"id": folder.name, "instruction": text, "path": folder.name, **group})
    return rows


def _of_list(source: Path) -> list[dict[str, Any]]:
    try:
        found = json.loads(source.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{source}: cannot be read: {error}") from None
    if not isinstance(found, list) or not found or not all(isinstance(row, dict) for row in found):
        raise DataError(f"{source}: wanted a list of tasks, as tau2-bench has it")
    return found


def with_instruction(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row with the text that readers see. A task of tau2 has the scenario of its user for it."""
    scenario = row.get("user_scenario")
    if "instruction" in row or not isinstance(scenario, dict):
        return row
    told = scenario.get("instructions")
    if isinstance(told, dict):
        told = "\n".join(str(told[key]) for key in _SCENARIO if told.get(key))
    return {**row, "instruction": str(told or row.get("ticket") or "")}
