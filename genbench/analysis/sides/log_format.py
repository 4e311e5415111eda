"""The interface of log formats: how samples that another tool has logged become score files and runs.

`registry.LOG_FORMATS` names the formats.
"""

from __future__ import annotations

import json
import math
import re
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import pyarrow.parquet as pq

from genbench import registry
from genbench.errors import InputError
from genbench.store.json_files import lines_of
from genbench.suite.suitefile import plain_name

Line = dict[str, Any]
"""A line of a score file. SAID is what the log has besides."""
SAID = "said"
"""Key of a line: the prompt, the text of the reply, the target and the tokens of the reply, as far as the log
has them. Score files do not have it."""
Records = Sequence[tuple[int, Line]]
"""Lines of JSON Lines with their numbers."""
Say = Callable[[str], None]
_MOST_PLAIN_BYTES = 2 << 30
_STAMP = re.compile(r"_\d{4}-\d{2}-\d{2}T[\d:.-]+$")  # samples_gsm8k_2026-01-01T00-00-00.123
_STAMPS = (
    (re.compile(r"(\d{4}-\d{2}-\d{2})T(\d{2})[:-](\d{2})[:-](\d{2})"), "%Y-%m-%d %H:%M:%S"),
    (re.compile(r"(?<!\d)(\d{8})_(\d{2})(\d{2})(\d{2})(?!\d)"), "%Y%m%d %H:%M:%S"),
)
"""Times in names of files and folders: lm-eval, lighteval and Inspect write the first, others the second."""


@dataclass(frozen=True, slots=True)
class ImportChoice:
    """The choice of what is imported from a file.

    `metric` and `filter` (of lm-eval) are required if the file contains several, unless `takes_first`: then
    the first one is taken where it has none of that name. `task` selects a task of a samples.parquet. For
    other files it replaces the task name that the file name gives.
    """

    task: str | None = None
    metric: str | None = None
    filter: str | None = None
    takes_first: bool = False
    taken: dict[str, list[str]] = field(default_factory=dict, compare=False)
    """What was taken of a file: of `metric` and `filter` the chosen name, then the others."""


@dataclass
class LogFile:
    """A file or a folder that may be a log. Its content is read once, however many formats look at it."""

    path: Path

    @property
    def kind(self) -> Literal["object", "columns", "lines"]:
        """Return what a file of this name is read as: one JSON object, Parquet, or else JSON Lines."""
        if self.path.suffix in (".eval", ".json"):
            return "object"
        return "columns" if self.path.suffix == ".parquet" else "lines"

    @property
    def at(self) -> datetime:
        """Return the last time in its path, or else when it was written."""
        return time_in(self.path) or datetime.fromtimestamp(self.path.stat().st_mtime)

    @cached_property
    def is_packed(self) -> bool:
        """Return whether it is a zip archive."""
        return zipfile.is_zipfile(self.path)

    @cached_property
    def content(self) -> Any:
        """Return the content of a JSON file.

        Raises:
            InputError: it is none.
        """
        try:
            return json.loads(read_whole(self.path))
        except (ValueError, RecursionError) as error:
            raise InputError(f"{self.path}: not valid JSON: {error}") from error

    @cached_property
    def columns(self) -> Sequence[str]:
        """Return the names of the columns of a Parquet file."""
        return list(pq.read_schema(self.path).names)

    @cached_property
    def records(self) -> Records:
        """Return the number and the content of each line of a file of JSON Lines.

        Raises:
            InputError: a line is not a JSON object with the key of a known format.
        """
        return list(self._records())

    def _records(self) -> Iterator[tuple[int, Line]]:
        tools = {form.line_key: form.tool for form in log_formats() if form.line_key is not None}
        with self.path.open("rb") as file:
            for number, text in lines_of(file, self.path):
                if not text.strip():
                    continue
                try:
                    record = json.loads(text)
                except (ValueError, RecursionError) as error:
                    raise InputError(f"{self.path}:{number}: not valid JSON: {error}") from error
                if not isinstance(record, dict) or not tools.keys() & record.keys():
                    *others, (key, tool) = tools.items()
                    nor = ", nor ".join(f"'{other}', as in {its_tool}" for other, its_tool in others)
                    raise InputError(
                        f"{self.path}:{number}: no '{key}': not a samples file of {tool} (nor {nor})"
                    )
                yield number, record

    @cached_property
    def first_line(self) -> Mapping[str, Any]:
        """Return the first line of a file of JSON Lines. Empty if it is not a JSON object."""
        try:
            with self.path.open(encoding="utf-8") as file:
                found = json.loads(next((line for line in file if line.strip()), "null"))
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True)
class LoggedTask(ABC):
    """One task of one log: who answered, when, and its samples as lines of a score file with SAID.

    Derive from it to say what a suite, its rows and its ready responses have of a format.
    """

    source: Path
    tool: str
    model: str
    at: datetime
    metric: str
    lines: Sequence[Line]
    total: float | None = None
    """The tool's own mean of the metric, if it is next to the log."""

    @property
    def name(self) -> str:
        """Return the name of the task, as suites may have it."""
        return safe_name(str(self.lines[0]["task"]))

    @property
    def mean(self) -> float | None:
        """Return the mean of all scores, None if there are none."""
        scores = [line["score"] for line in self.lines if line["score"] is not None]
        return math.fsum(scores) / len(scores) if scores else None

    @abstractmethod
    def entry(self, rows_file: str) -> dict[str, Any]:
        """Return what a suite says of the task besides its name and k."""

    @abstractmethod
    def row(self, line: Line) -> Line:
        """Return the row of a problem without its id, made of its first line."""

    @abstractmethod
    def responses(self, line: Line | None) -> Iterator[Line]:
        """Yield the ready responses of a sample without its ids. None: the log lacks the sample."""


class LogFormat(ABC):
    """What one tool logs. `LOG_FORMATS` of the registry has the order in which formats are asked."""

    tool: ClassVar[str]
    line_key: ClassVar[str | None] = None
    """A key of each line, if its files are JSON Lines."""

    def claimed(self, place: Path) -> Iterator[Path]:
        """Yield logs at a place and below it into which no other format looks, such as whole folders."""
        return iter(())

    @abstractmethod
    def is_log(self, log: LogFile) -> bool:
        """Return whether a file is such a log, among files of any other kind."""

    @abstractmethod
    def lines(self, log: LogFile, choice: ImportChoice, say: Say) -> Iterable[Line] | None:
        """Return the lines of the score file of what a user calls a log, or None if it is another format's.

        Args:
            say: called with a line for what was decided without being told.

        Raises:
            InputError: it is such a log, and cannot be read.
        """

    @abstractmethod
    def task(self, log: LogFile, choice: ImportChoice, say: Say) -> LoggedTask | None:
        """Return the task of what `is_log`, or None if it has no samples. Raises as `lines`."""


def log_formats() -> list[LogFormat]:
    """Return all formats, in the order in which they are asked."""
    return [registry.load_object(target)() for target in registry.LOG_FORMATS.values()]


def read_whole(source: Path) -> bytes:
    """Return a log that is not packed. A file with holes could be larger than any memory."""
    with source.open("rb") as file:
        data = file.read(_MOST_PLAIN_BYTES + 1)
    if len(data) > _MOST_PLAIN_BYTES:
        raise InputError(
            f"{source}: is larger than {_MOST_PLAIN_BYTES:,} bytes; write the log packed, as .eval"
        )
    return data


def json_object(value: Any, where: str) -> Mapping[str, Any]:
    """Return a JSON object of a log. None is an empty one.

    Raises:
        InputError: it is something else.
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f"{where} is {value!r:.80}, wanted a JSON object")
    return value


def is_number(value: Any) -> bool:
    """Return whether a value of a log is a number."""
    return isinstance(value, int | float)


def time_in(where: Path | str) -> datetime | None:
    """Return the last time in a path or text."""
    for part in reversed(where.parts) if isinstance(where, Path) else [where]:
        for pattern, form in _STAMPS:
            found = pattern.search(part)
            if found is not None:
                try:
                    return datetime.strptime(f"{found[1]} {found[2]}:{found[3]}:{found[4]}", form)
                except ValueError:
                    continue
    return None


def without_time(name: str) -> str:
    """Return the name of a log without the time at its end."""
    return _STAMP.sub("", name)


def safe_name(text: str) -> str:
    """Return a text as suites and folders may have it for a name."""
    return plain_name(text) or "unnamed"
