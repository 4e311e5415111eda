"""Samples drawn turn by turn: what is kept, what the next turn sees, and what no engine can answer."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from genbench.draw.capacity import Capacity
from genbench.draw.draw_queue import Draw
from genbench.draw.generation import Generation, failed, unanswered
from genbench.errors import EngineDiedError, EngineError, RequestFailedError
from genbench.models.prompts import Renderer
from genbench.models.requests import RequestMaker
from genbench.models.traces import given_trace_tokens
from genbench.protocols import Engine
from genbench.suite.suitefile import read_suite
from genbench.tasks.loading import load_task
from genbench.types import Answer, Completion, Request, SampleId

SUITE = """\
models: {m: {path: x}}
tasks:
  - name: t
    kind: exact
    data: {path: rows.jsonl, fields: {id: id, question: question, reference: a}}
    prompt: "{question}"
    turns: ["And {question}"]
    k: 2
"""


@pytest.fixture
def draws(tmp_path: Path) -> list[Draw]:
    """Six samples of two turns."""
    (tmp_path / "s.yaml").write_text(SUITE)
    rows = [{"id": f"q{i}", "question": f"{i}?", "a": "x"} for i in range(3)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    suite = read_suite(tmp_path / "s.yaml")
    task = load_task(suite, suite.config.tasks[0], None, None)
    return [Draw(task, problem, index) for problem in task.problems for index in range(2)]


@dataclass
class Repeater(Engine):
    """An engine that repeats the last message in capitals; some requests fail."""

    fails: str = ""
    dies: str = ""
    asked: list[Request] = field(default_factory=list)
    closed: int = 0
    frozen: int = 0
    """Objects that garbage collections leave out while the engine draws."""

    async def start(self) -> None:
        await asyncio.sleep(0)

    async def generate(self, request: Request, attempt: int) -> Completion:
        self.asked.append(request)
        self.frozen = gc.get_freeze_count()
        question = request.messages[-1].content
        if self.fails and self.fails in question:
            raise RequestFailedError("refused")
        if self.dies and self.dies in question:
            raise EngineDiedError("gone")
        return unanswered(request, attempt, f"<think>hm</think>{question.upper()}", "stop")

    async def close(self) -> None:
        self.closed += 1


@dataclass
class Kept:
    """What a generation hands over."""

    completions: list[Completion] = field(default_factory=list)
    offered: list[tuple[SampleId, int]] = field(default_factory=list)
    started: int = 0
    synced: int = 0
    said: list[str] = field(default_factory=list)

    def append_completion(self, item: Completion) -> None:
        self.completions.append(item)

    def sync(self) -> None:
        self.synced += 1


def split(item: Completion) -> Answer:
    return Answer(item.text.rpartition("</think>")[2], "closed", "hm", False)


def run(
    engine: Repeater,
    draws: Sequence[Draw],
    *,
    context: int | None = None,
    stored: dict[SampleId, list[Completion]] | None = None,
    stopped: bool = False,
) -> Kept:
    kept, renderer = Kept(), Renderer(None)

    def begun(engine: Engine) -> None:
        kept.started += 1

    async def work() -> None:
        stop = asyncio.Event()
        if stopped:
            stop.set()
        maker = RequestMaker(
            lambda task, messages, tools: renderer.render(messages), lambda p, w: (w, False), 7
        )
        generation = Generation(
            engines={"one": lambda: engine},
            maker=maker,
            sink=kept,
            split=split,
            offer=lambda draw, done, answers: kept.offered.append((draw.sample, len(done))),
            progress=lambda item: None,
            limit=Capacity(2),
            attempt=4,
            stop=stop,
            stored={} if stored is None else stored,
            started=begun,
            tell=kept.said.append,
            count_trace=given_trace_tokens,
        )
        await generation.run(draws)

    asyncio.run(work())
    return kept


@pytest.mark.slow
def test_every_sample_is_drawn_once_and_offered_whole(draws: list[Draw]) -> None:
    engine = Repeater()
    kept = run(engine, draws)
    assert sorted(kept.offered, key=str) == sorted([(draw.sample, 2) for draw in draws], key=str)
    assert len(kept.completions) == 12 and kept.started == 1 and kept.synced >= 1 and engine.closed == 1
    assert {item.attempt for item in kept.completions} == {4}
    assert len({item.seed for item in kept.completions}) == 12


@pytest.mark.slow
def test_garbage_collections_leave_out_what_was_loaded_before_the_first_sample(draws: list[Draw]) -> None:
    engine = Repeater()
    run(engine, draws)
    assert engine.frozen > 10_000 and gc.get_freeze_count() == 0


@pytest.mark.slow
def test_a_later_turn_sees_the_answer_without_its_trace(draws: list[Draw]) -> None:
    engine = Repeater()
    kept = run(engine, draws[:1])
    first, second = engine.asked
    assert [message.content for message in second.messages] == ["0?", "0?", "And 0?"]
    assert first.turn == 0 and second.turn == 1
    prompts = [item.prompt for item in kept.completions]
    assert prompts[0] is None and prompts[1] is not None and "And 0?" in prompts[1]


def test_a_stored_turn_is_not_drawn_again(draws: list[Draw]) -> None:
    engine = Repeater()
    sample = draws[0].sample
    stored = Completion(sample, 0, 1, "", "<think></think>earlier", "stop", 1, 1, 0, 9, 1, None)
    kept = run(engine, draws[:1], stored={sample: [stored]})
    (asked,) = engine.asked
    assert asked.turn == 1 and asked.messages[1].content == "earlier"
    assert kept.offered == [(sample, 2)] and len(kept.completions) == 1


@pytest.mark.slow
def test_a_refused_request_ends_its_conversation_as_an_error(draws: list[Draw]) -> None:
    kept = run(Repeater(fails="1?"), draws)
    errors = [item for item in kept.completions if item.finish_reason == "error"]
    assert {item.sample.problem_id for item in errors} == {"q1"} and len(errors) == 2
    assert {item.text for item in errors} == {"refused"}
    assert [count for sample, count in kept.offered if sample.problem_id == "q1"] == [1, 1]


@pytest.mark.slow
def test_an_engine_that_always_dies_ends_the_run_with_its_reason(draws: list[Draw]) -> None:
    engine = Repeater(dies="?")
    with pytest.raises(EngineError, match="died with nothing finished between them; gone"):
        run(engine, draws)
    assert engine.closed == 3


def test_a_stopped_run_draws_nothing(draws: list[Draw]) -> None:
    engine = Repeater()
    kept = run(engine, draws, stopped=True)
    assert kept.completions == [] and engine.asked == [] and kept.synced == 1


def test_a_completion_without_tokens_says_why() -> None:
    request = Request(SampleId("t", "p", 0), 1, (1, 2), 5, 0, "d", prompt="whole", trace_opened=True)
    full, error = unanswered(request, 1, "", "length"), failed(request, 1, "refused")
    assert (full.finish_reason, full.completion_tokens, full.prompt_tokens) == ("length", 0, 2)
    assert (error.finish_reason, error.text, error.trace_opened) == ("error", "refused", True)
    assert full.prompt == "whole" and full.seconds is None
