"""Lines of completions.jsonl and verdicts.jsonl: what is written comes back, and a wrong field is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from genbench.store.lines import (
    choice_from_record,
    completion_from_record,
    completion_to_record,
    renumbered,
    verdict_from_record,
    verdict_to_record,
)
from genbench.types import STATUSES
from tests.store.stored import completion, verdict
from tests.table import each_row


def test_a_completion_comes_back_with_every_field() -> None:
    item = completion(
        "p/1", 3, "a\u2028b", turn=1, trace_opened=True, prompt="earlier", finish_reason="length"
    )
    assert completion_from_record(completion_to_record(item)) == item


def test_the_prompt_is_a_key_of_later_turns_only() -> None:
    assert "prompt" not in completion_to_record(completion("p", 0))


def test_seconds_are_stored_to_a_tenth_of_a_millisecond() -> None:
    assert completion_to_record(completion("p", 0, seconds=0.123456))["seconds"] == 0.1235


def test_a_ready_response_may_lack_everything_but_its_identity_and_text() -> None:
    item = completion_from_record({"task": "t", "problem_id": "p", "sample_index": 0, "turn": 0, "text": ""})
    assert (item.seed, item.completion_tokens, item.attempt) == (None, None, 0)
    assert item.finish_reason == "stop" and not item.trace_opened


@each_row(
    "key, value, message",
    [
        ("text", 5, "'text' is 5, wanted text"),
        ("turn", -1, "'turn' is -1, wanted a whole number"),
        ("turn", True, "'turn' is True, wanted a whole number"),
        ("sample_index", "0", "'sample_index' is '0', wanted a whole number"),
        ("seed", 1.5, "'seed' is 1.5, wanted a whole number"),
        ("prompt_digest", [], r"'prompt_digest' is \[\], wanted text"),
        ("prompt", 7, "'prompt' is 7, wanted text"),
        ("finish_reason", ["stop"], r"'finish_reason' is \['stop'\], wanted one of stop, length"),
        ("seconds", "1", "'seconds' is '1', wanted a number from 0 to 1,000,000,000 or null"),
        ("seconds", float("inf"), "'seconds' is inf, wanted a number from 0 to 1,000,000,000 or null"),
    ],
)
def test_a_wrong_field_of_a_completion_is_named_with_what_was_found(
    key: str, value: object, message: str
) -> None:
    record = completion_to_record(completion("p", 0)) | {key: value}
    with pytest.raises(ValueError, match=message):
        completion_from_record(record)


@pytest.mark.parametrize("key", ["task", "problem_id", "sample_index", "turn", "text"])
def test_a_missing_field_of_a_completion_is_named(key: str) -> None:
    record = completion_to_record(completion("p", 0))
    del record[key]
    with pytest.raises(ValueError, match=f"'{key}' is missing"):
        completion_from_record(record)


def test_a_verdict_comes_back_with_parts_and_detail() -> None:
    item = replace(verdict("p", 1, 0.0), detail={"why": "x"}, parts={"a": 0.5}, truncated=True)
    assert verdict_from_record(verdict_to_record(item)) == item


def test_a_verdict_without_parts_has_no_key_for_them() -> None:
    assert "parts" not in verdict_to_record(verdict("p", 0))


@each_row("status", STATUSES)
def test_every_status_can_be_read_back(status: str) -> None:
    record = verdict_to_record(verdict("p", 0)) | {"status": status}
    assert verdict_from_record(record).status == status


@pytest.mark.parametrize("score", [-0.1, 1.5, "1", [1]])
def test_a_score_outside_0_to_1_is_refused(score: object) -> None:
    with pytest.raises(ValueError, match="wanted a number from 0 to 1 or null"):
        verdict_from_record(verdict_to_record(verdict("p", 0)) | {"score": score})


def test_an_unknown_status_is_refused() -> None:
    with pytest.raises(ValueError, match="'status' is 'fine'"):
        verdict_from_record(verdict_to_record(verdict("p", 0)) | {"status": "fine"})


def test_attempts_are_renumbered_but_ready_responses_keep_none() -> None:
    assert renumbered(completion("p", 0, attempt=2), 3).attempt == 5
    assert renumbered(completion("p", 0, attempt=0), 3).attempt == 0


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("score", float("nan"), "'score' is nan, wanted a number from 0 to 1 or null"),
        ("score", 10**40, "'score' is 10+, wanted a number"),
        ("status", ["wrong"], r"'status' is \['wrong'\]"),
        ("extracted", {"a": 1}, "'extracted' is {'a': 1}, wanted text"),
        ("detail", [1], r"'detail' is \[1\], wanted an object"),
        ("parts", {"a": "1"}, "'parts.a' is '1', wanted a number from 0 to 1"),
        ("trace_status", 3, "'trace_status' is 3, wanted one of absent, closed, unclosed"),
    ],
)
def test_a_wrong_field_of_a_verdict_is_named_with_what_was_found(
    key: str, value: object, message: str
) -> None:
    record = verdict_to_record(verdict("p", 0)) | {key: value}
    with pytest.raises(ValueError, match=message):
        verdict_from_record(record)


@pytest.mark.parametrize("wrong", [-1.7e308, -(10**400), float("nan"), 0.1])
def test_a_log_probability_that_no_text_has_is_refused(wrong: float) -> None:
    choice = {"logprob": -1.0, "tokens": 1, "chars": 1, "bytes": 1, "words": 1}
    assert choice_from_record(choice).logprob == -1.0
    with pytest.raises(ValueError, match=r"'logprob' is .* wanted a finite number up to 0"):
        choice_from_record(choice | {"logprob": wrong})
    with pytest.raises(ValueError, match=r"'prior' is .* wanted a finite number up to 0"):
        choice_from_record(choice | {"prior": wrong})
