"""Replies on disk: what is kept, what survives a kill, and what makes another key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from genbench.judges.session import ReplyCache, judgment_key
from genbench.types import Message, Question


def question(text: str = "Is it 4?", **reply: object) -> Question:
    return Question((Message("user", text),), reply or {"choice": ["YES", "NO"]}, 16, 0)


def test_a_reply_is_there_for_the_next_run(tmp_path: Path) -> None:
    path = tmp_path / "task" / "judgments.jsonl"
    with ReplyCache(path) as cache:
        assert cache.get("key") is None
        cache.add("key", "judge", "p1", "YES", 7)
        assert cache.get("key") == "YES"
    with ReplyCache(path) as again:
        assert again.get("key") == "YES"
    assert json.loads(path.read_text()) == {
        "key": "key",
        "judge": "judge",
        "problem_id": "p1",
        "reply": "YES",
        "chars": 7,
    }


def test_a_torn_line_is_forgotten_and_the_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "judgments.jsonl"
    with ReplyCache(path) as cache:
        cache.add("a", "judge", "p1", "YES", 7)
        cache.add("b", "judge", "p2", "NO", 7)
    path.write_bytes(path.read_bytes()[:-20])
    with ReplyCache(path) as again:
        assert (again.get("a"), again.get("b")) == ("YES", None)
        again.add("b", "judge", "p2", "NO", 7)
    assert len(path.read_text().splitlines()) == 2


def test_the_key_is_24_hex_digits() -> None:
    key = judgment_key("judge", "p1", question())
    assert len(key) == 24 and int(key, 16) >= 0


@pytest.mark.parametrize(
    "other",
    [
        ("other", "p1", question()),
        ("judge", "p2", question()),
        ("judge", "p1", question("Is it 5?")),
        ("judge", "p1", question(regex="YES")),
    ],
)
def test_judge_problem_text_and_constraint_make_another_key(other: tuple[str, str, Question]) -> None:
    assert judgment_key(*other) != judgment_key("judge", "p1", question())


def test_the_seed_makes_no_other_key() -> None:
    seeded = Question(question().messages, question().structured, 16, 7)
    assert judgment_key("judge", "p1", seeded) == judgment_key("judge", "p1", question())
