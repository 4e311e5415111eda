"""Logs for Inspect: names that it lists, turns, decoding, tokens, scores and the interval."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genbench.interop.logs.export import export, write_parts
from genbench.interop.logs.export_inspect import inspect_sample
from genbench.pipeline import RunOptions
from genbench.types import Answer, Completion, SampleId
from tests.interop.logs.talks import TALK, write_talk
from tests.ready_runs import run_bare


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The log of a conversation of two turns, and the run folder."""
    place = tmp_path_factory.mktemp("talk")
    write_talk(place)
    options = RunOptions(place / "suite.yaml", responses=place / "r.jsonl", run_dir=place / "out", quiet=True)
    folder = run_bare(options).folders["m"]
    (written,) = export(folder, "inspect", place / "logs")
    return written, json.loads(written.read_bytes())


@pytest.mark.slow
def test_the_name_is_one_that_inspect_lists(log: tuple[Path, dict[str, Any]]) -> None:
    time, task, run_id = log[0].stem.split("_")
    assert len(time) == 19 and ":" not in time and task == "talk-x" and run_id == log[1]["eval"]["run_id"]


def test_decoding_tokens_and_the_interval_are_in_the_head(log: tuple[Path, dict[str, Any]]) -> None:
    head = log[1]
    assert head["eval"]["model_generate_config"]["temperature"] == 0.6
    assert head["eval"]["model_generate_config"]["seed"] == 0
    assert head["stats"]["model_usage"]["m"]["output_tokens"] == 4 * TALK * 5
    metrics = head["results"]["scores"][0]["metrics"]
    assert next(iter(metrics)) == "avg@2"
    assert metrics["ci_low"]["value"] <= metrics["avg@2"]["value"] <= metrics["ci_high"]["value"]


def test_each_turn_is_a_question_and_a_reply(log: tuple[Path, dict[str, Any]]) -> None:
    sample = next(item for item in log[1]["samples"] if (item["id"], item["epoch"]) == ("p0", 1))
    assert [message["role"] for message in sample["messages"]] == ["user", "assistant"] * 2
    assert [block["type"] for block in sample["messages"][1]["content"]] == ["reasoning", "text"]
    assert "Again." in sample["messages"][2]["content"] and "0?" not in sample["messages"][2]["content"]
    assert sample["model_usage"]["m"] == {
        "input_tokens": 6,
        "output_tokens": 10,
        "total_tokens": 16,
        "reasoning_tokens": 4,
    }
    assert sample["turn_count"] == 2 and sample["metadata"]["status"] == "correct"
    assert sample["scores"]["genbench"]["value"] == 1.0


def test_each_turn_is_a_model_event_with_the_messages_before_it(log: tuple[Path, dict[str, Any]]) -> None:
    sample = next(item for item in log[1]["samples"] if (item["id"], item["epoch"]) == ("p0", 1))
    first, second = sample["events"]
    assert [len(event["input"]) for event in (first, second)] == [1, 3]
    assert second["input"] == sample["messages"][:3]
    assert second["output"]["choices"][0]["message"] == sample["messages"][3]
    assert second["output"]["usage"]["output_tokens"] == 5 and first["timestamp"] == log[1]["eval"]["created"]
    assert len({event["uuid"] for item in log[1]["samples"] for event in item["events"]}) == 4 * TALK


def test_half_a_surrogate_pair_is_replaced(log: tuple[Path, dict[str, Any]]) -> None:
    text = log[0].read_text(encoding="utf-8")
    assert "\ufffd" in text and "\\ud800" not in text


def test_a_sample_without_a_verdict_has_no_score() -> None:
    from genbench.store.stored_run import Sample, Turn

    item = Completion(SampleId("t", "p", 3), 0, 1, "d", "x", "abort", None, None, None, 9, 1, None)
    answer = Answer("x", "absent", "", False)
    record = inspect_sample(
        Sample("t", "p", 3, (Turn(item, answer),), None, None, None, {}),
        "m",
        "r",
        "2026-01-01T00:00:00+00:00",
    )
    assert "scores" not in record and record["epoch"] == 4 and "total_time" not in record
    assert record["output"]["choices"][0]["stop_reason"] == "unknown"
    assert record["model_usage"]["m"]["total_tokens"] == 0


def test_a_file_appears_only_when_it_is_complete(tmp_path: Path) -> None:
    def parts() -> Any:
        yield b"one"
        raise ValueError("stopped")

    with pytest.raises(ValueError, match="stopped"):
        write_parts(tmp_path / "a.json", parts())
    assert not (tmp_path / "a.json").exists()
    write_parts(tmp_path / "a.json", [b"one", b"two"])
    assert (tmp_path / "a.json").read_bytes() == b"onetwo"
