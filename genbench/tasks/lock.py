"""The lock file of an imported task: where each part of it came from, and how its answers are checked."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from genbench.errors import ConfigError, DataError

ENDING = ".lock.json"
Output = Literal["generate_until", "multiple_choice", "loglikelihood", "loglikelihood_rolling"]


class LockPart(BaseModel):
    """Base of the parts of a lock file: frozen, and unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Origin(LockPart):
    """The definition that was imported."""

    framework: str = Field(description="the tool whose definition it is, such as lm-eval")
    version: str | None = Field(None, description="version of the installed package that it is from")
    commit: str | None = Field(None, description="commit of the repository that it is from")
    files: tuple[str, ...] = Field((), description="files that were read, relative to their folder")
    digest: str = Field(description="SHA-256 of the resolved definition")
    task_version: str | None = Field(None, description="the version that the definition gives itself")
    licence: str = "not stated"


class RowsOrigin(LockPart):
    """The rows that were rendered."""

    repo: str = Field(description="repository of the hub, or a path")
    config: str | None = None
    split: str
    revision: str | None = Field(None, description="commit of the hub; null for a mirror")
    source: str = Field(description="hub, mirror or file")
    rows: int
    digest: str = Field(description="digest of all columns of all rows, as genbench computes it")
    licence: str = "not stated"


class FrozenFile(LockPart):
    """The file of rendered rows next to the lock file."""

    name: str = Field(pattern=r"^[^/\\]+$")
    rows: int
    sha256: str


class Lock(LockPart):
    """One imported task, complete: nothing else is read but its file of rows."""

    format: Literal[1] = 1
    task: str
    door: Literal[1, 2, 3] = Field(
        description="1: read as a definition; 2: rows made by foreign code once; 3: also scored by it"
    )
    level: str
    output: Output
    origin: Origin
    data: tuple[RowsOrigin, ...] = ()
    shots: str = Field("", description="how many exemplars there are, and how they were chosen")
    frozen: FrozenFile
    k: int = Field(1, ge=1)
    verifier: str
    verifier_options: dict[str, Any] = Field(default_factory=dict)
    metrics: tuple[str, ...] = ("avg@k", "pass@k", "maj@k")
    chance: float | None = None
    decoding: dict[str, Any] = Field(
        default_factory=dict, description="the definition's own decoding; a suite sets what is used"
    )
    changes: tuple[str, ...] = Field((), description="what differs from the original, and why")
    defects: tuple[str, ...] = Field((), description="known defects of the original")
    refused: dict[str, str] = Field(
        default_factory=dict, description="rows that could not be made, by place, with the reason"
    )
    definition: dict[str, Any] = Field(default_factory=dict, description="the resolved definition")

    @property
    def version(self) -> str:
        """Return the version of the task: the tool, its own version, and the digest of what was read."""
        own = f"@{self.origin.task_version}" if self.origin.task_version else ""
        return f"{self.origin.framework}:{self.task}{own}+{self.origin.digest[:12]}"


def read_lock(path: Path) -> Lock:
    """Return the lock file at a path.

    Raises:
        ConfigError: it cannot be read, or has a wrong or unknown key.
    """
    try:
        return Lock.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        key = ".".join(map(str, first["loc"])) or "the file"
        raise ConfigError(f"{path}: {key}: {first['msg']}; import the task again") from error


def write_lock(path: Path, lock: Lock) -> None:
    """Write a lock file."""
    text = json.dumps(lock.model_dump(mode="json"), indent=2, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def write_frozen(path: Path, rows: list[dict[str, Any]]) -> FrozenFile:
    """Write rendered rows as JSON Lines. Return what the lock file says of them."""
    data = "".join(json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n" for row in rows)
    encoded = data.encode("utf-8", "surrogatepass")
    path.write_bytes(encoded)
    return FrozenFile(name=path.name, rows=len(rows), sha256=hashlib.sha256(encoded).hexdigest())


def read_frozen(lock: Lock, path: Path) -> list[dict[str, Any]]:
    """Return the rendered rows of a lock file at `path`.

    Raises:
        DataError: the file is missing, or is not the one that was locked.
    """
    place = path.parent / lock.frozen.name
    try:
        data = place.read_bytes()
    except OSError as error:
        raise DataError(
            f"{place}: cannot be read: {error.strerror or error}; import the task again"
        ) from error
    found = hashlib.sha256(data).hexdigest()
    if found != lock.frozen.sha256:
        raise DataError(
            f"{place}: its digest is {found[:16]}…, and {path.name} says {lock.frozen.sha256[:16]}…; the "
            "rows were changed after the import; import the task again"
        )
    return [json.loads(line) for line in data.decode("utf-8", "surrogatepass").split("\n") if line]
