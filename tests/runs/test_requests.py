"""The requests of a suite as records."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import InputError
from genbench.pipeline import RunOptions, prompts
from genbench.runs.requests import MessageRecord, RequestRecord, request_records
from tests.ready_runs import SUITE, rows, write_lines


@pytest.fixture
def requests(tmp_path: Path) -> list[RequestRecord]:
    (tmp_path / "suite.yaml").write_text(SUITE)
    write_lines(tmp_path / "rows.jsonl", rows(3))
    asked = RunOptions(tmp_path / "suite.yaml", models=("m=shipped:checkpoints/tiny-base",))
    return list(prompts(asked))


def test_each_sample_has_one_record_with_its_own_seed(requests: list[RequestRecord]) -> None:
    assert request_records.__name__ == "request_records"
    assert [(item.problem_id, item.sample_index) for item in requests] == [
        (f"p{i:02}", j) for i in range(3) for j in range(4)
    ]
    assert len({item.seed for item in requests}) == 12
    assert {item.turn for item in requests} == {0} and {item.turns for item in requests} == {1}


def test_a_record_has_the_chat_before_and_after_the_template(requests: list[RequestRecord]) -> None:
    first = requests[0]
    assert first.messages == (MessageRecord(role="user", content="0+2-0?"),)
    assert "0+2-0?" in first.prompt and len(first.prompt_token_ids) > 3
    assert first.option_order is None and "seed" not in first.decoding


def test_a_record_is_the_json_that_the_command_prints(requests: list[RequestRecord]) -> None:
    record = requests[0].to_json()
    assert record["messages"] == [{"role": "user", "content": "0+2-0?"}]
    assert isinstance(record["prompt_token_ids"], list)
    assert RequestRecord.from_json(record, "stdin") == requests[0]


def test_a_record_of_another_shape_is_refused_with_the_key(requests: list[RequestRecord]) -> None:
    record = requests[0].to_json()
    del record["seed"]
    with pytest.raises(InputError, match="'seed' is missing"):
        RequestRecord.from_json(record, "requests.jsonl:1")
