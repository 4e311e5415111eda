"""The readers of completions.jsonl and verdicts.jsonl name the line that they cannot use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from genbench.errors import RunFolderError
from genbench.store.lines import completion_to_record, read_completions, read_verdicts, verdict_to_record
from tests.store.stored import TASK, completion, verdict


def lines(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_completions_come_in_the_order_of_the_file(tmp_path: Path) -> None:
    items = [completion("q", 1), completion("p", 0), completion("p", 0, turn=1)]
    path = lines(tmp_path / "c.jsonl", *map(completion_to_record, items))
    assert list(read_completions(path, TASK)) == items


def test_a_file_that_does_not_exist_has_no_lines(tmp_path: Path) -> None:
    assert list(read_completions(tmp_path / "c.jsonl", TASK)) == []
    assert list(read_verdicts(tmp_path / "v.jsonl", TASK)) == []


def test_the_second_text_of_a_turn_is_refused(tmp_path: Path) -> None:
    record = completion_to_record(completion("p", 3))
    path = lines(tmp_path / "c.jsonl", record, record)
    with pytest.raises(RunFolderError, match=r"c\.jsonl:2: a second line for task t, problem p, sample 3"):
        list(read_completions(path, TASK))


def test_a_line_of_another_task_is_refused(tmp_path: Path) -> None:
    path = lines(tmp_path / "v.jsonl", verdict_to_record(verdict("p", 0)))
    with pytest.raises(RunFolderError, match=r"v\.jsonl:1: task 't' in the folder of 'u'"):
        list(read_verdicts(path, "u"))


def test_a_wrong_field_is_named_with_its_line_and_remedy(tmp_path: Path) -> None:
    good = verdict_to_record(verdict("p", 0))
    path = lines(tmp_path / "v.jsonl", good, good | {"status": "odd"})
    with pytest.raises(RunFolderError, match=r"v\.jsonl:2: 'status' is 'odd'; delete the file"):
        list(read_verdicts(path, TASK))


def test_a_verdict_is_found_again_at_its_place(tmp_path: Path) -> None:
    items = [verdict("p", 0), verdict("ö", 1, 0.0), verdict("q", 0)]
    path = lines(tmp_path / "v.jsonl", *map(verdict_to_record, items))
    with path.open("rb") as file:
        for place, item in read_verdicts(path, TASK):
            file.seek(place)
            assert json.loads(file.readline())["problem_id"] == item.sample.problem_id
