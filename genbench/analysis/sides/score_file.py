"""The reader of score files: JSON Lines with `task`, `problem_id`, `sample_index`, `score` …"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.analysis.sides.side import Side, SideTask
from genbench.errors import InputError
from genbench.store.json_files import lines_of

_KEYS = ("task", "problem_id", "sample_index", "score")
"""The keys that every line must have."""


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of a score file."""

    number: int
    task: str
    problem_id: str
    sample_index: int
    score: float | None
    answer: str | None
    has_answer: bool
    group: str | None
    imported: tuple[str, tuple[str, ...]] | None
    """The tool whose log the line was imported from, and what that log does not record."""


def read_score_file(path: Path) -> Side:
    """Read a score file as one side of a comparison. A score of null is an excluded sample.

    Problems are sorted by id, so that the order of the lines does not change any bound. Other keys are
    ignored.

    Raises:
        InputError: the file cannot be read or has no scores, or a line is damaged, a duplicate, or has a
            score outside [0, 1]. The message names the line.
    """
    tasks = _lines_by_task(path)
    if not tasks:
        raise InputError(f"{path}: has no scores; wanted lines with task, problem_id, sample_index, score")
    found = {name: _task(name, list(lines.values())) for name, lines in sorted(tasks.items())}
    run_id = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    origins = {line.imported for lines in tasks.values() for line in lines.values() if line.imported}
    return Side(path, path.name, run_id, found, imported=tuple(sorted(origins)))


def _lines_by_task(path: Path) -> Mapping[str, dict[tuple[str, int], _Line]]:
    """Return the lines by task, then by problem and sample.

    Raises:
        InputError: two lines are of one sample, or give one problem two groups.
    """
    tasks: defaultdict[str, dict[tuple[str, int], _Line]] = defaultdict(dict)
    groups: dict[tuple[str, str], _Line] = {}
    for line in _lines(path):
        known = tasks[line.task].setdefault((line.problem_id, line.sample_index), line)
        if known is not line:
            raise InputError(
                f"{path}:{line.number}: a second line for task {line.task}, problem {line.problem_id}, "
                f"sample {line.sample_index} (the first is line {known.number}); remove one of them"
            )
        first = groups.setdefault((line.task, line.problem_id), line)
        if first.group != line.group:
            raise InputError(
                f"{path}:{line.number}: 'group' is {line.group!r}, but {first.group!r} in line "
                f"{first.number} of the same problem"
            )
    return tasks


def _task(name: str, lines: list[_Line]) -> SideTask:
    """Return the task of these lines. It has maj@k if every line has an answer."""
    rows: defaultdict[str, list[_Line]] = defaultdict(list)
    for line in sorted(lines, key=lambda line: (line.problem_id, line.sample_index)):
        rows[line.problem_id].append(line)
    groups = tuple(row[0].group for row in rows.values())
    answered = all(line.has_answer for line in lines)
    return SideTask(
        name=name,
        problem_ids=tuple(rows),
        scores=tuple(tuple(line.score for line in row) for row in rows.values()),
        metrics=("avg@k", "pass@k", "maj@k") if answered else ("avg@k", "pass@k"),
        answers=tuple(tuple(line.answer for line in row) for row in rows.values()) if answered else None,
        groups=groups if any(group is not None for group in groups) else None,
    )


def _lines(path: Path) -> Iterator[_Line]:
    """Yield the checked lines. Only newlines separate them, because answers may contain U+2028."""
    try:
        with path.open("rb") as file:
            for number, text in lines_of(file, path):
                if text.strip():
                    yield _line(number, _record(path, number, text), f"{path}:{number}")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error


def _record(path: Path, number: int, text: bytes) -> dict[str, Any]:
    """Parse one line as a JSON object."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}:{number}: not valid JSON: {error}") from error
    if not isinstance(record, dict):
        raise InputError(f"{path}:{number}: wanted an object, found {type(record).__name__}")
    return record


def _line(number: int, record: dict[str, Any], where: str) -> _Line:
    """Check the keys of one line."""
    for key in _KEYS:
        if key not in record:
            raise InputError(f"{where}: '{key}' is missing; a line of a score file has {', '.join(_KEYS)}")
    index = record["sample_index"]
    if not isinstance(index, int) or isinstance(index, bool) or index < 0:
        raise InputError(f"{where}: 'sample_index' is {index!r}, wanted a whole number from 0")
    problem = record["problem_id"]
    if isinstance(problem, int) and not isinstance(problem, bool):
        problem = str(problem)
    return _Line(
        number=number,
        task=_text(record["task"], "task", where),
        problem_id=_text(problem, "problem_id", where),
        sample_index=index,
        score=_score(record["score"], where),
        answer=_optional_text(record, "answer", where),
        has_answer="answer" in record,
        group=_optional_text(record, "group", where),
        imported=_imported(record.get("imported"), where),
    )


def _score(value: Any, where: str) -> float | None:
    """Check a score: a number in [0, 1], or null."""
    if value is None:
        return None
    # The comparison is false for NaN, which json accepts.
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InputError(
            f"{where}: 'score' is {value!r}, wanted a number from 0 to 1 (or null: not scored); "
            "divide points of 100 by 100"
        )
    return float(value)


def _text(value: Any, key: str, where: str) -> str:
    """Check a text that must not be empty."""
    if not isinstance(value, str) or not value:
        raise InputError(f"{where}: '{key}' is {value!r}, wanted text")
    return value


def _imported(value: Any, where: str) -> tuple[str, tuple[str, ...]] | None:
    """Return the tool that a line was imported from, with what its log does not record."""
    if value is None:
        return None
    lacks = value.get("lacks") if isinstance(value, dict) else None
    if not isinstance(lacks, list) or not isinstance(value.get("from"), str):
        raise InputError(f"{where}: 'imported' is {value!r:.80}, wanted what `genbench import log` writes")
    return value["from"], tuple(map(str, lacks))


def _optional_text(record: dict[str, Any], key: str, where: str) -> str | None:
    """Check a text that may be null or absent."""
    value = record.get(key)
    if value is not None and not isinstance(value, str):
        raise InputError(f"{where}: '{key}' is {value!r}, wanted text or null")
    return value
