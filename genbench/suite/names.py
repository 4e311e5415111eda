"""Names of models and tasks, which become folders of a run."""

from __future__ import annotations

import re

FOLDER_RULE = "becomes a folder: use letters, digits, '.', '_' and '-'"
LONGEST = 200
"""Bytes of a name. File systems take 255."""
_FOLDER_NAME = re.compile(r"\w[\w.:-]*")
_TASKS_RESERVED = frozenset(
    {"engine", "engine.log", "lock", "report.files", "report.html", "samples.parquet"}
)
_MODELS_RESERVED = frozenset({"report.files", "report.html"})
_SHARD = re.compile(r"shard-\d+-of-\d+")


def name_mistake(name: str) -> str | None:
    """Return why a name cannot be the name of a folder, or None."""
    if len(name.encode("utf-8", "surrogatepass")) > LONGEST:
        return f"is longer than {LONGEST} bytes"
    if not _FOLDER_NAME.fullmatch(name):
        return FOLDER_RULE
    return None


def model_mistake(name: str) -> str | None:
    """Return why a model cannot have this name, or None. Its folder is next to the report of the run."""
    if name in _MODELS_RESERVED or _SHARD.fullmatch(name):
        return "is the name of a file or folder that genbench writes itself; choose another"
    return name_mistake(name)


def task_mistake(name: str) -> str | None:
    """Return why a task cannot have this name, or None. Its folder is in the run folder."""
    if name in _TASKS_RESERVED or name.endswith(".json"):
        return "is the name of a file or folder that genbench writes itself; choose another"
    return name_mistake(name)
