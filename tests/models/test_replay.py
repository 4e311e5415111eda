"""Ready responses as an engine: lines are found by sample, and come back as they were written."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from genbench.engines.kind import ModelSource, PromptFacts
from genbench.errors import EngineDiedError, ResponsesError
from genbench.models.responses import (
    ReplayEngine,
    ReplayKind,
    ReplaySettings,
    ResponseIndex,
    completion_of,
    response_lines,
)
from genbench.suite.config import Decoding, ModelConfig
from genbench.types import Completion, Request, SampleId


def record(problem: str, index: int = 0, **more: Any) -> dict[str, Any]:
    return {"task": "t", "problem_id": problem, "sample_index": index, "text": f"{problem}/{index}", **more}


def write(path: Path, records: list[dict[str, Any]]) -> ReplaySettings:
    """Write a file and index it for two problems with two samples each."""
    path.write_text("".join(json.dumps(item) + "\n\n" for item in records))
    index = ResponseIndex(2, {"a": 1, "b": 1})
    for _, offset, item in response_lines(path):
        assert index.add(item["problem_id"], item["sample_index"], item.get("turn", 0), offset)
    return ReplaySettings(path, {"t": index}, ("t",))


def ask(settings: ReplaySettings, problem: str, index: int = 0) -> Completion:
    async def work() -> Completion:
        engine = settings.make()
        await engine.start()
        try:
            return await engine.generate(Request(SampleId("t", problem, index), 0, (), 1, 8, ""), 3)
        finally:
            await engine.close()

    return asyncio.run(work())


def test_each_request_gets_its_own_line_with_the_counts_of_the_file(tmp_path: Path) -> None:
    counts = {"prompt_tokens": 4, "completion_tokens": 9, "trace_tokens": 5, "seed": 11}
    records = [record("b", 1), record("a", 0, finish_reason="length", **counts), record("a", 1), record("b")]
    settings = write(tmp_path / "r.jsonl", records)
    found = ask(settings, "a")
    assert (found.text, found.finish_reason, found.seed, found.attempt) == ("a/0", "length", 11, 0)
    assert (found.prompt_tokens, found.completion_tokens, found.trace_tokens) == (4, 9, 5)
    assert [ask(settings, "b", index).text for index in (0, 1)] == ["b/0", "b/1"]


def test_a_file_that_changes_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    settings = write(tmp_path / "r.jsonl", [record("a"), record("b")])
    (tmp_path / "r.jsonl").write_text(json.dumps(record("b")) + "\n")
    with pytest.raises(ResponsesError, match="no longer has the line of task t, problem a, sample 0"):
        ask(settings, "a")


def test_a_line_that_was_never_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ResponsesError, match="problem b, sample 1"):
        ask(write(tmp_path / "r.jsonl", [record("a")]), "b", 1)


def test_a_closed_reader_answers_nothing(tmp_path: Path) -> None:
    settings = write(tmp_path / "r.jsonl", [record("a")])
    with pytest.raises(EngineDiedError):
        asyncio.run(ReplayEngine(settings).generate(Request(SampleId("t", "a", 0), 0, (), 1, 8, ""), 1))


def test_a_file_that_is_gone_cannot_be_started(tmp_path: Path) -> None:
    settings = write(tmp_path / "r.jsonl", [record("a")])
    (tmp_path / "r.jsonl").unlink()
    with pytest.raises(ResponsesError, match=r"r\.jsonl: cannot be read"):
        ask(settings, "a")


def test_an_index_takes_each_line_once_and_knows_what_is_whole() -> None:
    index = ResponseIndex(2, {"a": 1, "b": 2})
    assert index.add("b", 1, 1, 70) and not index.add("b", 1, 1, 90)
    assert index.find("b", 1, 1) == 70 and index.find("b", 0, 1) is None and index.find("z", 0, 0) is None
    assert not index.is_whole("b")
    for place, (sample, turn) in enumerate([(0, 0), (0, 1), (1, 0)]):
        assert index.add("b", sample, turn, place)
    assert index.is_whole("b") and not index.is_whole("a")


def test_offsets_count_bytes_and_only_newlines_separate_lines(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    first = json.dumps(record("ä\u2028b"), ensure_ascii=False)
    path.write_text(first + "\n \n" + json.dumps(record("c")) + "\n", encoding="utf-8")
    found = [(number, offset, item["problem_id"]) for number, offset, item in response_lines(path)]
    assert found == [(1, 0, "ä\u2028b"), (3, len(first.encode()) + 3, "c")]


@pytest.mark.parametrize(
    ("line", "said"), [("{", ":2: not valid JSON"), ("[1]", ":2: wanted an object, found list")]
)
def test_a_line_that_is_no_object_is_named_by_its_number(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "r.jsonl").write_text(json.dumps(record("a")) + f"\n{line}\n")
    with pytest.raises(ResponsesError, match=said):
        list(response_lines(tmp_path / "r.jsonl"))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"finish_reason": "done"}, "'finish_reason' is 'done'"),
        ({"text": 4}, "'text' is int, wanted text"),
        ({"sample_index": True}, "'sample_index' is True, wanted a whole number"),
        ({"turn": -1}, "'turn' is -1"),
        ({"prompt_tokens": 1.5}, "'prompt_tokens' is 1.5"),
    ],
)
def test_a_field_of_the_wrong_kind_is_named(more: dict[str, Any], said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        completion_of(record("a") | more)


def test_the_model_of_a_file_is_the_file(tmp_path: Path) -> None:
    settings = write(tmp_path / "r.jsonl", [record("a")])
    decoding = Decoding()
    kind = ReplayKind(settings.path, settings.index)
    source = ModelSource("m", ModelConfig(path="x"), tmp_path, {"t": decoding})
    found = kind.find(source)
    assert found.identity.startswith("responses:") and found.tokenizer is None and found.context is None
    made = found.settings(PromptFacts({"t": decoding}, decoding))
    assert made.terms == {"engine": {"name": "responses"}, "decoding": {"t": "as the responses were drawn"}}
    assert made.circumstances is None and not made.generates and made.workers == 1
    assert str(settings.path) in kind.check() and found.warnings(PromptFacts({}, decoding)) == ()
    (tmp_path / "r.jsonl").write_text(json.dumps(record("b")) + "\n")
    assert kind.find(source).identity != found.identity
