"""Tasks that were imported from other tools: the lock file, rows that were rendered once, and the rules of
their answers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from genbench.data.local import without_nan
from genbench.errors import ConfigError, DataError
from genbench.protocols import Row, TaskInfo
from genbench.types import Ask, Choice, Message, Problem, Scoring

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
    return [
        without_nan(json.loads(line)) for line in data.decode("utf-8", "surrogatepass").split("\n") if line
    ]


GENERATED = "generate_until"
_DOCUMENT = "loglikelihood_rolling"
_CHOICES = "multiple_choice"
_PMI = "acc_pmi"
_BYTES = "byte_probability"


def is_scored(lock: Lock) -> bool:
    """Return whether a task scores given texts instead of drawing an answer."""
    return lock.output != GENERATED


def listed_row(lock: Lock, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with its choices under `options`, which the score of blind guessing is computed from."""
    return {**row, "options": row["choices"]} if lock.output == _CHOICES else dict(row)


def scored_ask(lock: Lock, row: Mapping[str, Any], window: int | None = None) -> Ask:
    """Return the texts of a row that a model scores, as lm-eval sends them.

    Args:
        row: one line of the file of rows.
        window: tokens of a document that are scored at a time. None: as many as fit.

    Raises:
        DataError: the row was made by a version of genbench that could not run such tasks.
    """
    document = lock.output == _DOCUMENT
    if lock.output == _CHOICES:
        choices = _choices(lock, row)
    else:
        text = row["continuation"]
        choices = (Choice("" if document else row["context"], text, text, ""),)
    reference: dict[str, Any] = {"gold": row.get("gold", [0]), "delimiter": len(choices[0].delimiter)}
    if lock.output == _CHOICES:
        reference["choices"] = row["choices"]
    elif lock.verifier_options.get("rule") == _BYTES and not document:
        reference["follows"] = True
    return Ask(
        (Message("user", choices[0].context),),
        reference,
        scoring=Scoring(choices, document, window if document else None),
    )


def _choices(lock: Lock, row: Mapping[str, Any]) -> tuple[Choice, ...]:
    """Return the choices of a row. Its length is that of the choice, even if it is in the context."""
    if "delimiter" not in row:
        raise DataError(f"row {row['id']} of {lock.frozen.name} has no 'delimiter'; import the task again")
    delimiter = row["delimiter"]
    contexts = row["contexts"] or [row["context"]] * len(row["choices"])
    texts = [continuation.removeprefix(delimiter) for continuation in row["continuations"]]
    prior = row.get("prior", "") if _PMI in (lock.verifier_options.get("also") or ()) else None
    return tuple(
        Choice(context, text, counted, delimiter, prior)
        for context, text, counted in zip(contexts, texts, row["choices"], strict=True)
    )


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
        ConfigError: the file is not a lock file, or an option is unknown or has no meaning for the task.
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
