"""The index of the page's browser: questions, answers and statuses of each sample."""

from __future__ import annotations

import json
import pickle
from array import array
from typing import Any

from genbench.reports.page.data import PackedParts, TaskColumns, page_index


def columns(ids: tuple[str, ...], k: int, said: list[int], answers: list[str]) -> TaskColumns:
    made = TaskColumns("t", ids, k)
    made.status = array("b", [0] * (len(ids) * k))
    made.scores = array("d", [1.0] * (len(ids) * k))
    made.said, made.answers = array("i", said), {text: at for at, text in enumerate(answers)}
    made.questions = [f"question of {name}" for name in ids]
    return made


def tasks(runs: dict[str, dict[str, TaskColumns]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads("".join(page_index(runs, "files")))["tasks"]
    return found


def test_the_parts_are_one_json_text_with_a_part_for_each_task() -> None:
    runs = {"m": {name: columns(("a",), 1, [0], ["7"]) for name in ("t", "u", "v")}}
    parts = list(page_index(runs, None))
    index = json.loads("".join(parts))
    assert len(parts) == 5 and len(index["tasks"]) == 3
    assert (index["runs"], index["folder"], index["statuses"][0]) == (["m"], None, "correct")
    assert json.loads("".join(page_index({"m": {}}, "files")))["tasks"] == []


def test_answers_are_kept_once_and_named_by_their_place() -> None:
    found = tasks({"m": {"t": columns(("a", "b"), 2, [0, 1, 0, -1], ["7", "8"])}})[0]
    assert found["runs"][0]["answers"] == ["7", "8"] and found["runs"][0]["said"] == [0, 1, 0, -1]
    assert found["questions"] == ["question of a", "question of b"]


def test_packed_columns_give_the_same_index() -> None:
    made = {"m": {"t": columns(("a", "\ud800b"), 2, [0, 1, 0, -1], ["7", "8"])}}
    before = list(page_index(made, None))
    made["m"]["t"].pack()
    assert made["m"]["t"].questions == [] and list(page_index(made, None)) == before


def test_packed_parts_are_read_as_they_were_given_more_than_once() -> None:
    made = {"m": {"t": columns(tuple(f"\ud800{i}" for i in range(500)), 2, [0] * 1000, ["7"])}}
    parts = list(page_index(made, None))
    packed = PackedParts(parts)
    assert list(packed) == parts and list(packed) == parts
    assert len(pickle.dumps(packed)) < len("".join(parts)) / 4


def test_runs_of_different_problems_and_k_are_aligned() -> None:
    runs = {
        "base": {"t": columns(("a",), 1, [0], ["7"])},
        "tuned": {"t": columns(("b", "a"), 2, [0, 0, 1, -1], ["8", "9"])},
        "other": {},
    }
    task = tasks(runs)[0]
    assert task["ids"] == ["a", "b"] and task["k"] == 2
    assert [run and run["said"] for run in task["runs"]] == [[0, -1, -1, -1], [1, -1, 0, 0], None]
    assert task["questions"] == ["question of a", "question of b"]
    assert task["runs"][0]["status"] == "0..."
