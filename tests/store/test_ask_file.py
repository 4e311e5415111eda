"""Prompts and references of stored problems, read one problem at a time."""

from __future__ import annotations

from pathlib import Path

from genbench.store.folder import RunFolder
from genbench.store.stored_run import AskFile
from tests.store.stored import TASK, ask_line


def written(place: Path, lines: list[dict[str, object]]) -> RunFolder:
    with RunFolder.writer(place) as folder:
        folder.write_asks(TASK, lines)
    return RunFolder(place)


def test_a_sample_gets_the_line_of_its_own_prompt(tmp_path: Path) -> None:
    first, second = ask_line("p", [0, 2]), ask_line("p", [1]) | {"prompt": "options in another order"}
    folder = written(tmp_path, [first, ask_line("q", [0]), second])
    with AskFile(folder, TASK, ["p", "q"]) as asks:
        assert asks.of("p") == [first, second]
        assert asks.of_sample("p", 1) == second
        assert asks.of_sample("p", 2) == first
        assert asks.of_sample("q", 0) == ask_line("q", [0])


def test_a_sample_without_a_line_has_none(tmp_path: Path) -> None:
    with AskFile(written(tmp_path, [ask_line("p", [0])]), TASK, ["p"]) as asks:
        assert asks.of_sample("p", 5) is None


def test_problems_that_are_not_wanted_are_ignored(tmp_path: Path) -> None:
    folder = written(tmp_path, [ask_line("p", [0]), ask_line("q", [0])])
    with AskFile(folder, TASK, ["q"]) as asks:
        assert asks.of("p") == [] and len(asks.of("q")) == 1


def test_a_folder_of_an_older_version_has_no_lines(tmp_path: Path) -> None:
    with AskFile(RunFolder(tmp_path), TASK, ["p"]) as asks:
        assert asks.of("p") == []
