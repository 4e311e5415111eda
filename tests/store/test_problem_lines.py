"""Lines of problems.jsonl and asks.jsonl: a wrong one is a message with its place, never a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import RunFolderError
from genbench.store.folder import RunFolder
from genbench.store.lines import ask_places, problem_lines
from tests.store.stored import ask_line, problem_line


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_lines_as_genbench_writes_them_are_read(tmp_path: Path) -> None:
    lines = [problem_line("p0"), problem_line("p\ud800", turns=3)]
    assert list(problem_lines(write(tmp_path / "problems.jsonl", *lines))) == lines


def test_asks_are_read_with_their_places(tmp_path: Path) -> None:
    path = write(tmp_path / "asks.jsonl", ask_line("p0", [0]), ask_line("p1", [0, 1]))
    (first, _), (second, ask) = ask_places(path)
    assert first == 0 and second == path.read_text().index("\n") + 1
    assert ask == ask_line("p1", [0, 1])


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("problem_id", 7, "wanted text"),
        ("problem_id", None, "wanted text"),
        ("turns", 0, "wanted a number from 1 to 1000"),
        ("turns", 10**30, "wanted a number from 1 to 1000"),
        ("turns", True, "wanted a number"),
        ("max_tokens", "x", "wanted a number"),
        ("max_tokens", None, "wanted a number"),
        ("prompt_tokens", -1, "wanted a number or null"),
        ("strata", ["x"], "wanted a mapping to texts"),
        ("strata", {"level": 3}, "wanted a mapping to texts"),
        ("group", {"a": 1}, "wanted text or null"),
        ("prompt_digest", 1.5, "wanted text or null"),
    ],
)
def test_wrong_value_of_a_problem_names_file_line_and_key(
    tmp_path: Path, key: str, value: Any, words: str
) -> None:
    path = write(tmp_path / "problems.jsonl", problem_line("p0"), problem_line("p1") | {key: value})
    with pytest.raises(RunFolderError, match=rf"problems\.jsonl:2: '{key}' is .*{words}"):
        list(problem_lines(path))


@pytest.mark.parametrize(
    ("key", "value"), [("samples", float("inf")), ("samples", [-1]), ("samples", ["0"]), ("prompt", 1.5)]
)
def test_wrong_value_of_an_ask_names_file_line_and_key(tmp_path: Path, key: str, value: Any) -> None:
    path = write(tmp_path / "asks.jsonl", ask_line("p0", [0]) | {key: value})
    with pytest.raises(RunFolderError, match=rf"asks\.jsonl:1: '{key}' is"):
        list(ask_places(path))


@pytest.mark.parametrize("line", ["null", "[]", "{}", "[" * 100_000, '{"a":' * 100_000, "\x00", "{"])
def test_damaged_line_is_a_message_for_every_reader(tmp_path: Path, line: str) -> None:
    folder = RunFolder(tmp_path)
    for kind in ("problems", "asks", "completions", "verdicts"):
        folder.file("t", kind).parent.mkdir(exist_ok=True)
        folder.file("t", kind).write_text(line + "\n")
    for read in (folder.problems, folder.asks, folder.completions, folder.verdicts):
        with pytest.raises(RunFolderError, match=r"t/\w+\.jsonl:1: "):
            list(read("t"))


@pytest.mark.parametrize("key", ["prompt", "reference"])
def test_missing_key_of_an_ask_is_named_although_it_may_be_null(tmp_path: Path, key: str) -> None:
    line = {name: value for name, value in ask_line("p", [0]).items() if name != key}
    path = tmp_path / "asks.jsonl"
    path.write_text(json.dumps(line) + "\n")
    with pytest.raises(RunFolderError, match=rf"asks\.jsonl:1: '{key}' is nothing, wanted text or null"):
        list(ask_places(path))


@pytest.mark.parametrize("key", ["prompt_digest", "prompt_tokens", "group"])
def test_missing_key_of_a_problem_is_named_although_it_may_be_null(tmp_path: Path, key: str) -> None:
    line = {name: value for name, value in problem_line("p").items() if name != key}
    path = tmp_path / "problems.jsonl"
    path.write_text(json.dumps(line) + "\n")
    with pytest.raises(RunFolderError, match=rf"problems\.jsonl:1: '{key}' is nothing, wanted"):
        list(problem_lines(path))
