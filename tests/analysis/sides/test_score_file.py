"""Score files: what a line must hold, and how each mistake is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genbench.analysis.sides.score_file import read_score_file
from genbench.errors import InputError


def lines(**change: Any) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = [
        {"task": "t", "problem_id": name, "sample_index": index, "score": 1}
        for name in "ba"
        for index in (1, 0)
    ]
    records[2] |= change
    return records


def written(path: Path, records: list[dict[str, Any]]) -> Path:
    file = path / "s.jsonl"
    file.write_text("\n".join(json.dumps(record) for record in records))
    return file


def test_a_file_is_read_by_identity_whatever_its_order(tmp_path: Path) -> None:
    task = read_score_file(written(tmp_path, lines(score=0.5))).tasks["t"]
    assert task.problem_ids == ("a", "b")
    assert task.scores == ((1.0, 0.5), (1.0, 1.0))
    assert (task.answers, task.groups, task.is_ragged) == (None, None, False)


def test_numbers_are_ids_and_null_is_an_excluded_sample(tmp_path: Path) -> None:
    task = read_score_file(written(tmp_path, [*lines(score=None), lines(problem_id=7)[2]])).tasks["t"]
    assert "7" in task.problem_ids
    assert task.excluded == 1
    assert task.is_ragged


def test_answers_and_groups_come_along(tmp_path: Path) -> None:
    records = [line | {"answer": "4", "group": "g"} for line in lines()]
    task = read_score_file(written(tmp_path, records)).tasks["t"]
    assert task.answers == (("4", "4"), ("4", "4"))
    assert task.groups == ("g", "g")
    assert "maj@k" in task.metrics


MISTAKES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "a second line": ({"sample_index": 0}, ("s.jsonl:4", "a second line", "problem a", "line 3")),
    "a score above 1": ({"score": 61.0}, ("s.jsonl:3", "61.0", "divide points of 100 by 100")),
    "a score below 0": ({"score": -0.1}, ("s.jsonl:3", "-0.1")),
    "no number": ({"score": float("nan")}, ("s.jsonl:3", "nan")),
    "a score as text": ({"score": "1"}, ("s.jsonl:3", "'1'")),
    "a negative index": ({"sample_index": -1}, ("s.jsonl:3", "'sample_index' is -1")),
    "a fractional index": ({"sample_index": 0.5}, ("s.jsonl:3", "'sample_index'")),
    "no task": ({"task": None}, ("s.jsonl:3", "'task' is None")),
    "an answer that is no text": ({"answer": 4}, ("s.jsonl:3", "'answer' is 4")),
    "two groups of one problem": ({"group": "g"}, ("s.jsonl:4", "'group'", "line 3")),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_by_its_line(tmp_path: Path, mistake: str) -> None:
    change, parts = MISTAKES[mistake]
    with pytest.raises(InputError) as caught:
        read_score_file(written(tmp_path, lines(**change)))
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "has no scores"),
        ("{", "s.jsonl:1: not valid JSON"),
        ("[1]", "s.jsonl:1: wanted an object, found list"),
        ('{"task": "t"}', "s.jsonl:1: 'problem_id' is missing"),
        ("[" * 100_000, "s.jsonl:1: not valid JSON"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, text: str, part: str) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text(text)
    with pytest.raises(InputError, match=part):
        read_score_file(file)


def test_line_separators_inside_an_answer_do_not_split_the_line(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    record = {"task": "t", "problem_id": "a", "sample_index": 0, "score": 1, "answer": "4\u2028"}
    file.write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8")
    assert read_score_file(file).tasks["t"].answers == (("4\u2028",),)
