"""Pages of groups: which group of a suite a published score belongs to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from genbench.errors import ConfigError
from genbench.suite.config import TaskEntry
from genbench.tasks.pages import page_names
from genbench.tasks.published import FOLDER, group_page, read_group_page

PAGE = """
summary: "Two tasks"
mean: micro
tasks: [{task: aime24}, {task: ruler, options: {length: 8192}}]
published:
  - {source: a paper, decoding: greedy, k: 1, scores: {M: 40.0}}
"""


def entries(**changes: Any) -> list[TaskEntry]:
    """Return the tasks of the group, the second with changes."""
    second = {"task": "ruler", "name": "long", "group": "two", "options": {"length": 8192}, **changes}
    return [TaskEntry(task="aime24", group="two", k=4), TaskEntry.model_validate(second)]


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    (tmp_path / "two.yaml").write_text(PAGE)
    return tmp_path


def test_a_group_of_the_same_tasks_has_the_published_scores(pages: Path) -> None:
    page = group_page("two", list(reversed(entries())), pages)
    assert page is not None and page.mean == "micro"
    (score,) = page.scores
    assert (score.model, score.value, score.k) == ("M", 0.4, 1)


@pytest.mark.parametrize(
    "changes", [{"options": {"length": 4096}}, {"options": {}}, {"task": "niah"}, {"protocol": "other"}]
)
def test_other_tasks_options_or_words_make_another_mean(pages: Path, changes: dict[str, Any]) -> None:
    assert group_page("two", entries(**changes), pages) is None


def test_a_part_of_the_tasks_makes_another_mean(pages: Path) -> None:
    assert group_page("two", entries()[:1], pages) is None


def test_a_group_of_another_name_has_no_page(pages: Path) -> None:
    assert group_page("three", entries(), pages) is None


def test_a_mistake_names_file_key_and_value(tmp_path: Path) -> None:
    (tmp_path / "wrong.yaml").write_text(PAGE.replace("micro", "median"))
    with pytest.raises(ConfigError, match=r"wrong\.yaml: mean: .*'macro' or 'micro', found 'median'"):
        read_group_page(tmp_path / "wrong.yaml")


def test_every_shipped_page_names_known_tasks() -> None:
    known = set(page_names())
    for path in FOLDER.glob("*.yaml"):
        assert {item.task for item in read_group_page(path).tasks} <= known, path.name
