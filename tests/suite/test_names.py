"""Names of models and tasks become folders: no path, no name that genbench writes itself."""

from __future__ import annotations

import pytest

from genbench.suite.block import model_mistake, name_mistake, task_mistake
from tests.table import each_row

PATHS = [
    "",
    ".",
    "..",
    "a/b",
    "/etc",
    "../x",
    "a\\b",
    "a\0b",
    "-x",
    ".hidden",
    "a b",
    "\x1b[2J",
    "a\n",
    "\u202ex",
]


@each_row("name", PATHS)
def test_name_that_is_no_plain_folder_name_is_refused(name: str) -> None:
    assert name_mistake(name) and model_mistake(name) and task_mistake(name)


@pytest.mark.parametrize("name", ["base", "v1.2-rc_3", "pkg.module:attr", "aufgäbe", "7b", "_x"])
def test_plain_name_is_accepted(name: str) -> None:
    assert name_mistake(name) is model_mistake(name) is task_mistake(name) is None


def test_name_that_no_file_system_takes_is_refused() -> None:
    assert name_mistake("x" * 201) and name_mistake("ä" * 101)
    assert name_mistake("x" * 200) is None


@pytest.mark.parametrize("name", ["report.files", "report.html", "shard-1-of-2"])
def test_model_cannot_have_the_name_of_what_is_next_to_its_folder(name: str) -> None:
    assert "genbench writes itself" in str(model_mistake(name))


@pytest.mark.parametrize("name", ["engine", "lock", "manifest.json", "samples.parquet", "report.files"])
def test_task_cannot_have_the_name_of_a_file_of_the_run_folder(name: str) -> None:
    assert "genbench writes itself" in str(task_mistake(name))
