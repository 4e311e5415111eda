"""Files that ship with genbench are found by name, and a wrong name gets the nearest one."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import ConfigError
from genbench.suite.shipped import folder, resolve, suite_path


@pytest.mark.parametrize("name", ["suites", "judges", "checkpoints", "data"])
def test_each_shipped_folder_is_there(name: str) -> None:
    assert any(folder(name).iterdir())


def test_an_installation_that_lacks_a_folder_says_what_to_do() -> None:
    with pytest.raises(ConfigError, match="lacks its 'recipes' folder; install genbench again"):
        folder("recipes")


def test_a_path_of_a_suite_starts_from_its_folder(tmp_path: Path) -> None:
    assert resolve("rows.jsonl", tmp_path) == tmp_path / "rows.jsonl"
    assert resolve("/data/rows.jsonl", tmp_path) == Path("/data/rows.jsonl")
    assert resolve("~/rows.jsonl", tmp_path) == Path.home() / "rows.jsonl"


def test_a_shipped_checkpoint_is_found_from_anywhere(tmp_path: Path) -> None:
    assert (resolve("shipped:checkpoints/tiny-base", tmp_path) / "config.json").is_file()


def test_a_misspelt_shipped_file_gets_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="did you mean 'shipped:checkpoints/tiny-base'"):
        resolve("shipped:checkpoints/tiny-bass", tmp_path)


def test_a_suite_is_a_path_or_a_shipped_name(tmp_path: Path) -> None:
    own = tmp_path / "mine.yaml"
    own.write_text("models: {}")
    assert suite_path(str(own)) == own
    assert suite_path("quickstart").name == "quickstart.yaml"
    with pytest.raises(ConfigError, match="no such file and no shipped suite; did you mean 'quickstart'"):
        suite_path("quickstrat")
