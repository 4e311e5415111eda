"""The lines of problems.jsonl and asks.jsonl, checked as they are read: a folder may come from anyone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from genbench.errors import RunFolderError
from genbench.store.jsonlines import read_lines, read_places

_MOST_TURNS = 1000
_LONGEST_SHOWN = 60

Test = Callable[[Any], bool]
Wanted = Mapping[str, tuple[Test, str]]
"""For each key the test of its value, and what is wanted in words."""


def problem_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of problems.jsonl.

    Raises:
        RunFolderError: a line is damaged, or a key is missing or wrong. Names the line.
    """
    for number, record in read_lines(path):
        _check(record, _PROBLEM, path, number)
        yield record


def ask_places(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (byte offset of the line, line) of asks.jsonl.

    Raises:
        RunFolderError: a line is damaged, or a key is missing or wrong. Names the line.
    """
    for number, place, record in read_places(path):
        _check(record, _ASK, path, number)
        yield place, record


def asks_by_problem(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the lines of asks.jsonl by problem.

    Raises:
        RunFolderError: a line is damaged, or a key is missing or wrong. Names the line.
    """
    found: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for _, record in ask_places(path):
        found[record["problem_id"]].append(record)
    return found


def _check(record: Mapping[str, Any], wanted: Wanted, path: Path, number: int) -> None:
    for key, (test, words) in wanted.items():
        if not test(record.get(key)) or (key not in record and key not in _OPTIONAL):
            found = repr(record[key])[:_LONGEST_SHOWN] if key in record else "nothing"
            raise RunFolderError(f"{path}:{number}: '{key}' is {found}, wanted {words}; restore the file")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_text_or_none(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_count_or_none(value: Any) -> bool:
    return value is None or _is_count(value)


def _is_turns(value: Any) -> bool:
    return _is_count(value) and 1 <= value <= _MOST_TURNS


def _is_strata(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def _is_mapping_or_none(value: Any) -> bool:
    return value is None or isinstance(value, dict)


def _is_samples(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_count, value))


_PROBLEM: Wanted = {
    "problem_id": (_is_text, "text"),
    "prompt_digest": (_is_text_or_none, "text or null"),
    "reference_digest": (_is_text, "text"),
    "prompt_tokens": (_is_count_or_none, "a number or null"),
    "max_tokens": (_is_count, "a number"),
    "turns": (_is_turns, f"a number from 1 to {_MOST_TURNS}"),
    "strata": (_is_strata, "a mapping to texts"),
    "group": (_is_text_or_none, "text or null"),
}
_ASK: Wanted = {
    "problem_id": (_is_text, "text"),
    "samples": (_is_samples, "a list of numbers"),
    "prompt": (_is_text_or_none, "text or null"),
    "reference": (_is_text_or_none, "text or null"),
    "recipe": (_is_mapping_or_none, "a mapping or null"),
    "scored": (_is_mapping_or_none, "a mapping or null"),
}
_OPTIONAL = frozenset({"recipe", "scored"})
"""Keys that a line need not have. The others are there also if they are null, because readers index them."""
