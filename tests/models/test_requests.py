"""Requests: seeds that depend on the sample alone, prompts rendered once, limits that fit the context."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from genbench.errors import PromptError
from genbench.models.prompts import Rendered, Renderer, fit
from genbench.models.requests import RequestMaker, sample_seed
from genbench.suite.suitefile import read_suite
from genbench.tasks.loaded_task import LoadedTask
from genbench.tasks.loading import load_task
from genbench.types import Message, SampleId, ToolOffer

SUITE = """\
models: {m: {path: x}}
decoding: {max_tokens: 50}
tasks:
  - name: t
    kind: exact
    data: {path: rows.jsonl, fields: {id: id, question: question, reference: a}}
    prompt: "{question}"
    turns: ["And then?"]
    k: 3
"""


@pytest.fixture
def task(tmp_path: Path) -> LoadedTask:
    """Three problems of two turns."""
    (tmp_path / "s.yaml").write_text(SUITE)
    rows = [{"id": f"q{i}", "question": f"Question {i}?", "a": "x"} for i in range(3)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    suite = read_suite(tmp_path / "s.yaml")
    return load_task(suite, suite.config.tasks[0], None, None)


class Counted:
    """Renders prompts as text, one token a character, and counts how often."""

    def __init__(self, tokens: bool = True) -> None:
        self.rendered = 0
        self._renderer, self._tokens = Renderer(None), tokens

    def __call__(self, task: str, messages: tuple[Message, ...], tools: ToolOffer | None) -> Rendered:
        self.rendered += 1
        found = self._renderer.render(messages)
        ids = tuple(range(len(found.text))) if self._tokens else None
        return Rendered(found.text, ids, False, found.digest, found.messages)


def test_a_seed_depends_on_every_part_of_the_identity() -> None:
    base = (0, SampleId("t", "p", 0), 0)
    others = [
        (1, SampleId("t", "p", 0), 0),
        (0, SampleId("u", "p", 0), 0),
        (0, SampleId("t", "q", 0), 0),
        (0, SampleId("t", "p", 1), 0),
        (0, SampleId("t", "p", 0), 1),
    ]
    seeds = {sample_seed(*base), *(sample_seed(*other) for other in others)}
    assert len(seeds) == 6 and all(0 <= seed < 2**63 for seed in seeds)
    assert sample_seed(*base) == 8190011888444107107


def test_samples_of_one_problem_share_a_rendered_prompt(task: LoadedTask) -> None:
    render = Counted()
    maker = RequestMaker(render, lambda prompt, wanted: (wanted, False), 0)
    requests = [
        maker.request(task, problem, index, ()) for problem in task.problems for index in range(task.k)
    ]
    assert render.rendered == 3 and len({request.seed for request in requests if request}) == 9


def test_only_so_many_prompts_are_kept(task: LoadedTask) -> None:
    render = Counted()
    maker = RequestMaker(render, lambda prompt, wanted: (wanted, False), 0, keep=2)
    for name in (0, 1, 0, 1, 2, 1, 0):
        maker.request(task, task.problems[name], 0, ())
    assert render.rendered == 4  # 0, 1, 2 and 0 again, which made room for 2


def test_a_later_turn_shows_the_reply_and_the_conversation_ends(task: LoadedTask) -> None:
    maker = RequestMaker(Counted(), lambda prompt, wanted: (wanted, False), 0)
    second = maker.request(task, task.problems[0], 0, ["my reply"])
    assert second is not None and second.turn == 1
    assert [message.content for message in second.messages] == ["Question 0?", "my reply", "And then?"]
    assert maker.request(task, task.problems[0], 0, ["a", "b"]) is None


def test_the_limit_is_lowered_to_the_context(task: LoadedTask) -> None:
    maker = RequestMaker(Counted(), lambda prompt, wanted: fit(prompt, wanted, 40), 0)
    first = maker.request(task, task.problems[0], 0, ())
    assert first is not None and first.clamped and first.max_tokens == 40 - len("Question 0?")


def test_a_first_prompt_that_does_not_fit_names_task_and_problem(task: LoadedTask) -> None:
    maker = RequestMaker(Counted(), lambda prompt, wanted: fit(prompt, wanted, 5), 0)
    with pytest.raises(PromptError, match="task t, problem q0: the prompt has 11 tokens and the context 5"):
        maker.request(task, task.problems[0], 0, ())


def test_a_conversation_that_fills_the_context_gets_no_tokens(task: LoadedTask) -> None:
    maker = RequestMaker(Counted(), lambda prompt, wanted: fit(prompt, wanted, 40), 0)
    request = maker.request(task, task.problems[0], 0, ["long " * 20])
    assert request is not None and request.max_tokens == 0 and request.clamped


def test_without_token_ids_nothing_is_measured(task: LoadedTask) -> None:
    def unused(prompt: int, wanted: int) -> tuple[int, bool]:
        raise AssertionError("nothing to measure")

    request = RequestMaker(Counted(tokens=False), unused, 0).request(task, task.problems[0], 0, ())
    assert request is not None and request.token_ids == () and request.max_tokens == 50
