"""What the blocks of a suite share: their base class, the types of values that several of them have, and the
names of models and tasks, which become folders of a run.
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
"""Names that can be a folder on every file system."""

BaseUrl = Annotated[
    str,
    Field(
        pattern=r"^https?://[^\s@?#]+$",
        description="address of the API up to /completions, usually ending in /v1; without a key",
    ),
]
ApiKeyEnv = Annotated[
    str,
    Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", description="name of the environment variable with the key"),
]


class Strict(BaseModel):
    """Base of a block of a suite: frozen, and unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


FOLDER_RULE = "becomes a folder: use letters, digits, '.', '_' and '-'"
LONGEST = 200
"""Bytes of a name. File systems take 255."""
_FOLDER_NAME = re.compile(r"\w[\w.:-]*")  # with a colon, since a task may be `package.module:attribute`
_TASKS_RESERVED = frozenset(
    {"engine", "engine.log", "lock", "report.files", "report.html", "samples.parquet"}
)
_MODELS_RESERVED = frozenset({"report.files", "report.html"})
_SHARD = re.compile(r"shard-\d+-of-\d+")  # the folder of a part of a job array, see data.subset.Shard


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
