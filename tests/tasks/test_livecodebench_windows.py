"""Releases and windows of LiveCodeBench."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from genbench.errors import ConfigError
from genbench.tasks.python.livecodebench import PUBLISHED, livecodebench, read_window


def window(release: str | None = None, first: Any = None, last: Any = None, name: str | None = None) -> Any:
    return read_window(release, first, last, name, "v4_v5")


@pytest.mark.parametrize(
    ("release", "rows", "files"),
    [
        (None, 268, ("test4.jsonl", "test5.jsonl")),
        ("release_v1", 400, ("test.jsonl",)),
        ("v5", 167, ("test5.jsonl",)),
        ("v6", 175, ("test6.jsonl",)),
        ("v2_v3", 212, ("test2.jsonl", "test3.jsonl")),
    ],
)
def test_a_release_has_its_files_and_rows(release: str | None, rows: int, files: tuple[str, ...]) -> None:
    found = window(release)
    assert (found.rows, found.files, found.is_whole) == (rows, files, True)


def test_months_are_whole_and_both_ends_inside() -> None:
    found = window("v5", "2024-09", datetime.date(2025, 2, 1))
    inside = ["2024-09-01", "2024-12-31", "2025-02-01"]
    outside = ["2024-08-31", "2025-02-02"]
    days = [datetime.date.fromisoformat(day) for day in (*inside, *outside)]
    assert [found.has(day) for day in days] == [True] * 3 + [False] * 2
    assert str(found) == "v5 from 2024-09-01 to 2025-02-01"
    assert window("v5", None, "2024-02").last == datetime.date(2024, 2, 29)


@pytest.mark.parametrize("name", list(PUBLISHED))
def test_every_published_window_can_be_asked_for(name: str) -> None:
    found = window(name=name)
    assert found.name == name and found.first is not None and found.last is not None
    assert f"{found.first:%y%m}_{found.last:%y%m}" in name.replace("-", "_")
    assert 0 < PUBLISHED[name].problems < found.rows


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"release": "v7"}, "release is 'v7'"),
        ({"first": "2024-13"}, "from is '2024-13'"),
        ({"first": "2024-09", "last": "2024-08"}, "before it begins"),
        ({"name": "qwen3"}, "window is 'qwen3'"),
        ({"name": "2410-2502", "first": "2024-10"}, "give only the window"),
    ],
)
def test_what_is_not_there_is_refused(given: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        window(**given)


def test_every_window_has_a_version_of_its_own_so_that_two_are_never_compared() -> None:
    asked: list[dict[str, Any]] = [
        {},
        {"release": "v5"},
        {"release": "v6"},
        {"from": "2024-10"},
        {"to": "2024-10"},
        {"window": "2410-2502"},
    ]
    versions = [livecodebench(**options).info.version for options in asked]
    assert versions[0] == "1" and len(set(versions)) == len(asked)
    assert livecodebench(since="2024-10").info.version == livecodebench(**{"from": "2024-10"}).info.version


def test_published_scores_belong_to_their_window() -> None:
    models = {score.model: score.value for score in livecodebench(window="2410-2502").info.published}
    assert models["Qwen3-4B"] in (0.542, 0.213) and "DeepSeek-R1" not in models
    assert any(score.value == 0.659 for score in livecodebench(window="2408-2501").info.published)
    assert livecodebench(release="v5").info.published == ()
