"""Tasks that were imported from other tools: rows that were rendered once, and the rules of their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.errors import ConfigError
from genbench.protocols import Row, TaskInfo
from genbench.tasks.lock import Lock, read_frozen, read_lock
from genbench.types import Ask, Message, Problem


@dataclass(frozen=True, slots=True)
class ImportedTask:
    """A task of a lock file. Its rows are in a file next to it, and no foreign code is needed to ask them."""

    info: TaskInfo
    lock: Lock
    path: Path

    def rows(self) -> tuple[list[Row], dict[str, Any]]:
        """Return the rendered rows, and where they came from.

        Raises:
            DataError: the file of rows is missing, or was changed after the import.
        """
        found: list[Row] = list(read_frozen(self.lock, self.path))
        origin = self.lock.origin
        return found, {
            "source": "import",
            "path": str(self.path),
            "rows": len(found),
            "columns": ["id", "context", "reference"],
            "digest": self.lock.frozen.sha256,
            "framework": origin.framework,
            "framework_version": origin.version,
            "commit": origin.commit,
            "definition": origin.digest,
            "datasets": [part.model_dump(mode="json") for part in self.lock.data],
            "licence": _licences(self.lock),
        }

    def problems(self, rows: Sequence[Row]) -> list[Problem]:
        """Return one problem for each row."""
        return [
            Problem(self.info.name, str(row["id"]), row, dict(row.get("strata", {})), row.get("group"))
            for row in rows
        ]

    def ask(self, problem: Problem, sample_index: int, replies: Sequence[str]) -> Ask | None:
        """Return the rendered context as one message. There is no second turn."""
        if replies:
            return None
        row = problem.row
        given = row.get("messages")
        if given:
            messages = tuple(Message(one["role"], one["content"]) for one in given)
        else:
            messages = (Message("user", row["context"]),)
        return Ask(messages, row["reference"])


def imported_task(path: Path, options: Mapping[str, Any]) -> ImportedTask:
    """Return the task of a lock file.

    Args:
        options: `filter` names the filter that makes the score, instead of the first.

    Raises:
        ConfigError: the file is no lock file, its answers need what no engine is asked for, or an option is
            unknown.
    """
    lock = read_lock(path)
    unknown = [name for name in options if name != "filter"]
    if unknown:
        raise ConfigError(f"unknown option '{unknown[0]}'; an imported task has only 'filter'")
    if lock.output != "generate_until":
        raise ConfigError(
            f"{path}: {lock.task} is scored by the log-probabilities of given continuations "
            f"({lock.output}), which genbench does not ask an engine for yet; import it as a task that "
            "generates its answer: genbench import-task … --generate"
        )
    verifier_options = dict(lock.verifier_options)
    if "filter" in options:
        verifier_options["headline"] = options["filter"]
    return ImportedTask(_info(lock, verifier_options), lock, path)


def _info(lock: Lock, verifier_options: dict[str, Any]) -> TaskInfo:
    return TaskInfo(
        name=lock.task,
        version=lock.version,
        summary=f"{lock.task} of {lock.origin.framework}, imported",
        dataset=None,
        k=lock.k,
        verifier=lock.verifier,
        verifier_options=verifier_options,
        licence=_licences(lock),
        metrics=lock.metrics,
        chance=lock.chance,
        asks_alike=True,
        protocol=lock.origin.framework,
    )


def _licences(lock: Lock) -> str:
    """Return the licences of the rows and of the definition in words."""
    rows = "; ".join(dict.fromkeys(f"{part.repo}: {part.licence}" for part in lock.data))
    words = f"definition ({lock.origin.framework}): {lock.origin.licence}"
    return f"{rows}; {words}" if rows else words
