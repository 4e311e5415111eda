"""Two efforts of a model make two prompts, with the chat templates of real models, or are refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import ConfigError, PromptError
from genbench.models.prepare import PreparedModel, prepare_model
from genbench.suite.suitefile import read_suite
from genbench.tasks.loading import load_all, tasks_at_effort
from tests.table import each_row

SUITE = """\
models:
  m: {path: "shipped:checkpoints/tiny-tuned", chat_template: t.jinja, effort: EFFORT}
decoding: {max_tokens: 32}
tasks:
  - {name: t, kind: math, data: {path: rows.jsonl}, prompt: "{question}", k: 1}
"""


def template_of(family: str) -> str:
    """The chat template of a model's release, as TRL has it."""
    spec = find_spec("trl")
    assert spec is not None and spec.submodule_search_locations
    return (Path(spec.submodule_search_locations[0]) / "chat_templates" / f"{family}.jinja").read_text()


def prepared(place: Path, template: str, effort: Mapping[str, Any], name: str) -> PreparedModel:
    (place / "t.jinja").write_text(template)
    (place / "rows.jsonl").write_text('{"id": "1", "question": "1+1?", "reference": "2"}\n')
    (place / "s.yaml").write_text(SUITE.replace("EFFORT", json.dumps(effort)))
    suite = read_suite(place / "s.yaml")
    tasks = load_all(suite, suite.config.tasks, None, None)
    return prepare_model(suite, name, tasks_at_effort(suite, name, tasks))


def prompt_of(model: PreparedModel, place: Path) -> str:
    suite = read_suite(place / "s.yaml")
    (task,) = load_all(suite, suite.config.tasks, None, None)
    request = model.maker.request(task, task.problems[0], 0, ())
    assert request is not None
    return request.prompt


THINK = {"off": {"enable_thinking": False}, "on": {"enable_thinking": True}}
LEVELS = {"low": {"reasoning_effort": "low"}, "high": {"reasoning_effort": "high"}}


@each_row(
    "family, effort, name, said",
    [
        ("gptoss", LEVELS, "low", "Reasoning: low"),
        ("gptoss", LEVELS, "high", "Reasoning: high"),
        ("qwen3", THINK, "off", "<think>\n\n</think>"),
        ("glm4moe", THINK, "off", "/nothink"),
        ("nemotron_3_nano", THINK, "off", "<think></think>"),
    ],
)
def test_the_templates_of_real_models_obey_their_switch(
    tmp_path: Path, family: str, effort: dict[str, Any], name: str, said: str
) -> None:
    prompts = {
        label: prompt_of(prepared(tmp_path, template_of(family), effort, f"m-{label}"), tmp_path)
        for label in effort
    }
    own = prompts.pop(name)
    (other,) = prompts.values()
    assert said in own and said not in other


def test_the_name_of_an_effort_is_a_term(tmp_path: Path) -> None:
    models = [prepared(tmp_path, template_of("gptoss"), LEVELS, f"m-{name}") for name in LEVELS]
    assert [model.terms["effort"] for model in models] == ["low", "high"]


@each_row(
    "family, effort, said",
    [
        # gpt-oss's default is medium, so a switch that says so changes nothing.
        ("gptoss", {"usual": {}, "medium": {"reasoning_effort": "medium"}}, "'medium' make the same request"),
        ("qwen3", {"on": {"enable_thinking": True}, "more": {"enable_thinking": 1}}, "changes nothing there"),
        ("qwen3", {"short": {"max_tokens": 4}, "long": {"max_tokens": 8}}, "max_tokens is a limit, and no"),
        ("qwen3", {"low": {"reasoning_effort": "low"}, "on": {}}, "template has no 'reasoning_effort'"),
        ("qwen3", {"off": {"enable_thinking": "no"}, "on": {}}, "write enable_thinking: false without"),
    ],
)
def test_efforts_that_ask_the_same_are_refused(
    tmp_path: Path, family: str, effort: dict[str, Any], said: str
) -> None:
    with pytest.raises((ConfigError, PromptError)) as error:
        prepared(tmp_path, template_of(family), effort, f"m-{next(iter(effort))}")
    assert said in str(error.value) and "s.yaml:2" in str(error.value)


def test_a_budget_of_thinking_makes_two_requests_of_one_prompt(tmp_path: Path) -> None:
    effort = {"short": {"thinking_token_budget": 8}, "free": {}}
    models = [prepared(tmp_path, template_of("qwen3"), effort, f"m-{name}") for name in effort]
    keys = [model.settings.share_key for model in models]
    assert keys[0] is not None and keys[0] == keys[1]
    budgets = [model.terms["decoding"]["t"]["thinking_token_budget"] for model in models]
    assert budgets == [8, None]
