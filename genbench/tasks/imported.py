"""Tasks that were imported from other tools: rows that were rendered once, and the rules of their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.errors import ConfigError
from genbench.protocols import Row, TaskInfo
from genbench.tasks.imported_scored import is_scored, listed_row, scored_ask
from genbench.tasks.lock import Lock, read_frozen, read_lock
from genbench.types import Ask, Message, Problem

_BY_CODE = "foreign_score"
_WITH_FILTERS = ("filtered_match", _BY_CODE)
_VERIFIERS = (*_WITH_FILTERS, "choice", "likelihood", "exact", "contains")
"""What a lock file may name. It comes from elsewhere, so that it must not choose what code runs."""
_OF_CODE = ("trust_task_code", "python", "definitions")


@dataclass(frozen=True, slots=True)
class ImportedTask:
    """A task of a lock file. Its rows are in a file next to it, and no foreign code is needed to ask them."""

    info: TaskInfo
    lock: Lock
    path: Path
    window: int | None = None
    """Tokens of a document that are scored at a time."""

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
            Problem(
                self.info.name,
                str(row["id"]),
                listed_row(self.lock, row),
                dict(row.get("strata", {})),
                row.get("group"),
            )
            for row in rows
        ]

    def ask(self, problem: Problem, sample_index: int, replies: Sequence[str]) -> Ask | None:
        """Return the rendered context as one message, or the texts to score. There is no second turn."""
        if replies:
            return None
        row = problem.row
        if self.info.is_scored:
            return scored_ask(self.lock, row, self.window)
        given = row.get("messages")
        if given:
            messages = tuple(Message(one["role"], one["content"]) for one in given)
        else:
            messages = (Message("user", row["context"]),)
        return Ask(messages, row["reference"])


def imported_task(path: Path, options: Mapping[str, Any]) -> ImportedTask:
    """Return the task of a lock file.

    Args:
        options: `filter` names the filter that makes the score, instead of the first. `window` is the number
            of tokens of a document that are scored at a time. A task that its own code scores (door 3) needs
            `trust_task_code: true` and `python`, and takes `definitions`, the folder of the definitions.

    Raises:
        ConfigError: the file is no lock file, or an option is unknown or has no meaning for the task.
    """
    lock = read_lock(path)
    if lock.verifier not in _VERIFIERS:
        raise ConfigError(f"{path}: verifier: found '{lock.verifier}', wanted one of {', '.join(_VERIFIERS)}")
    _check_options(lock, options)
    verifier_options = dict(lock.verifier_options)
    if is_scored(lock):
        verifier_options.pop("also", None)
    elif "filter" in options:
        verifier_options["headline"] = options["filter"]
    if lock.verifier == _BY_CODE:
        verifier_options |= _trusted(lock, options)
    return ImportedTask(_info(lock, verifier_options), lock, path, options.get("window"))


def _check_options(lock: Lock, options: Mapping[str, Any]) -> None:
    known: tuple[str, ...] = ("filter",) if lock.verifier in _WITH_FILTERS else ()
    if lock.output == "loglikelihood_rolling":
        known = ("window",)
    known += _OF_CODE if lock.verifier == _BY_CODE else ()
    unknown = [name for name in options if name not in known]
    if unknown:
        words = f"only '{', '.join(known)}'" if known else "no options"
        raise ConfigError(f"unknown option '{unknown[0]}'; this imported task ({lock.output}) has {words}")
    window = options.get("window")
    if window is not None and (isinstance(window, bool) or not isinstance(window, int) or window < 2):
        raise ConfigError(f"option window is {window!r}, wanted 2 tokens or more")


def _trusted(lock: Lock, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the verifier that runs the task's code.

    Raises:
        ConfigError: the suite does not allow the code to run, or names no interpreter.
    """
    if options.get("trust_task_code") is not True:
        raise ConfigError(
            f"{lock.task} is scored by code of {lock.origin.framework}, which runs in a sandbox; if you "
            "trust it, write options: {trust_task_code: true, python: PYTHON-WITH-LM-EVAL}"
        )
    if not isinstance(options.get("python"), str):
        raise ConfigError(f"option python is {options.get('python')!r}, wanted an interpreter with lm-eval")
    found = {"trust_task_code": True, "python": options["python"]}
    return found | ({"root": options["definitions"]} if "definitions" in options else {})


def _info(lock: Lock, verifier_options: dict[str, Any]) -> TaskInfo:
    scored = is_scored(lock)
    metrics = (str(verifier_options.get("rule", "acc")),) if scored else lock.metrics
    return TaskInfo(
        name=lock.task,
        version=lock.version,
        summary=f"{lock.task} of {lock.origin.framework}, imported",
        dataset=None,
        k=1 if scored else lock.k,
        verifier=lock.verifier,
        verifier_options=verifier_options,
        licence=_licences(lock),
        metrics=metrics,
        chance=lock.chance,
        headline=metrics[0] if scored else "avg@k",
        asks_alike=True,
        protocol=lock.origin.framework,
        is_scored=scored,
    )


def _licences(lock: Lock) -> str:
    """Return the licences of the rows and of the definition in words."""
    rows = "; ".join(dict.fromkeys(f"{part.repo}: {part.licence}" for part in lock.data))
    words = f"definition ({lock.origin.framework}): {lock.origin.licence}"
    return f"{rows}; {words}" if rows else words
