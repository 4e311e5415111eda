"""The keys `effort:` of a model and of a task."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import ConfigError
from genbench.runs.inputs import open_suite
from genbench.runs.options import RunOptions
from genbench.runs.track_position import track_position
from genbench.suite.config import SuiteConfig
from genbench.suite.suitefile import Suite, read_suite
from genbench.tasks.loading import load_all, tasks_at_effort

SUITE = """\
models:
  base: {path: ./b}
  m:
    path: ./m
    system_prompt: Be brief.
    chat_template_kwargs: {builtin_tools: []}
    effort:
      off: {enable_thinking: false}
      low: {reasoning_effort: low, max_tokens: 16}
      high: {reasoning_effort: high, system_prompt: Think., thinking_token_budget: 64}
decoding: {max_tokens: 128}
tasks:
  - {name: a, kind: math, data: {path: rows.jsonl}, prompt: "{question}", k: 1}
  - {name: b, kind: math, data: {path: rows.jsonl}, prompt: "{question}", k: 1, effort: [off, high]}
"""
SERVED = """\
engine: {kind: http, base_urls: ["http://127.0.0.1:1/v1"], api: API, prompts: PROMPTS, body: {user: me}}
models:
  m: {path: ORG/NAME, effort: {low: {reasoning_effort: low, thinking: false}, high: {reasoning_effort: high}}}
tasks: [gsm8k]
"""


def read(tmp_path: Path, text: str = SUITE, *overrides: str) -> Suite:
    (tmp_path / "s.yaml").write_text(text)
    (tmp_path / "rows.jsonl").write_text('{"id": "1", "question": "1+1?", "reference": "2"}\n')
    return read_suite(tmp_path / "s.yaml", overrides)


def test_each_effort_is_a_model_of_its_own_with_what_it_sets(tmp_path: Path) -> None:
    models = read(tmp_path).config.models
    assert list(models) == ["base", "m-off", "m-low", "m-high"]
    assert models["m-off"].chat_template_kwargs == {"builtin_tools": [], "enable_thinking": False}
    assert models["m-low"].chat_template_kwargs == {"builtin_tools": [], "reasoning_effort": "low"}
    assert models["m-low"].system_prompt == "Be brief."
    assert models["m-high"].system_prompt == "Be brief.\n\nThink."
    assert models["m-high"].path == "./m" and models["base"].effort == {}


def test_a_stored_suite_is_not_expanded_again(tmp_path: Path) -> None:
    config = read(tmp_path).config
    again = SuiteConfig.model_validate(config.model_dump(mode="json"))
    assert again == config


def test_a_suite_without_efforts_is_stored_as_before(tmp_path: Path) -> None:
    record = read(tmp_path, "models: {m: {path: ./m}}\ntasks: [gsm8k]\n").config.model_dump(mode="json")
    assert "effort" not in record["models"]["m"] and "effort" not in record["tasks"][0]


def test_a_task_is_drawn_at_its_efforts_with_their_limits(tmp_path: Path) -> None:
    suite = read(tmp_path)
    tasks = load_all(suite, suite.config.tasks, None, None)
    drawn = {
        name: {task.name: task.decoding for task in tasks_at_effort(suite, name, tasks)}
        for name in suite.config.models
    }
    assert {name: list(own) for name, own in drawn.items()} == {
        "base": ["a", "b"],
        "m-off": ["a", "b"],
        "m-low": ["a"],
        "m-high": ["a", "b"],
    }
    assert drawn["m-low"]["a"].max_tokens == 16
    assert (drawn["m-high"]["a"].max_tokens, drawn["m-high"]["a"].thinking_token_budget) == (128, 64)


def test_the_name_of_a_model_chooses_all_its_efforts_or_one(tmp_path: Path) -> None:
    path = str(read(tmp_path).path)
    chosen = {name: open_suite(RunOptions(path, models=[name]))[1] for name in ("m", "m-low", "base")}
    assert chosen == {"m": ["m-off", "m-low", "m-high"], "m-low": ["m-low"], "base": ["base"]}
    assert open_suite(RunOptions(path, models=["m-high", "m"]))[1] == ["m-high", "m-off", "m-low"]
    suite, names = open_suite(RunOptions(path, models=["m=./other"]))
    assert names == ["m-off", "m-low", "m-high"]
    assert suite.config.models["m-low"].path.endswith("other")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "effort: [off, high]",
            "effort: [of]",
            r"s\.yaml:14: task 'b': no model has the effort 'of'; did you",
        ),
        (
            "base: {path: ./b}",
            "m-low: {path: ./b}",
            r"s\.yaml:7: models\.m: an effort makes 'm-low', which is",
        ),
        ("max_tokens: 16", "max_token: 0, max_tokens: 0", r"s\.yaml:9: models\.m\.effort\.low\.max_tokens"),
        ("      low: {", "      a/b: {", r"models\.m\.effort\.a/b.*pattern"),
        ("decoding: {", "decoding: {min_tokens: 20, ", r"m-low: max_tokens is 16, below min_tokens 20"),
    ],
)
def test_mistakes_name_the_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        suite = read(tmp_path, SUITE.replace(old, new))
        tasks_at_effort(suite, "m-low", load_all(suite, suite.config.tasks, None, None))


@pytest.mark.parametrize(
    ("api", "prompts", "variables", "body"),
    [
        # vLLM and SGLang hand reasoning_effort to the template, or to gpt-oss's own encoder.
        ("vllm", "chat", {"thinking": False}, {"reasoning_effort": "low"}),
        ("vllm", "token_ids", {"reasoning_effort": "low", "thinking": False}, {}),
        ("openai", "chat", {}, {"reasoning_effort": "low", "thinking": False}),
        ("openai_reasoning", "chat", {}, {"reasoning_effort": "low", "thinking": False}),
    ],
)
def test_a_server_that_renders_prompts_gets_the_effort_in_the_request(
    tmp_path: Path, api: str, prompts: str, variables: dict[str, object], body: dict[str, object]
) -> None:
    model = read(tmp_path, SERVED.replace("API", api).replace("PROMPTS", prompts)).config.models["m-low"]
    assert model.chat_template_kwargs == variables
    assert (model.server.body if model.server else {}) == body


def test_a_field_that_genbench_sends_is_no_switch_of_a_server(tmp_path: Path) -> None:
    text = SERVED.replace("PROMPTS", "chat").replace("API", "openai")
    said = r"s\.yaml:3: models\.m\.effort\.low: 'temperature' is sent by genbench"
    with pytest.raises(ConfigError, match=said):
        read(tmp_path, text.replace("thinking: false", "temperature: 1"))


def test_a_track_watches_one_effort(tmp_path: Path) -> None:
    options = RunOptions(night=True, night_of="2026-11-22", track="n")
    with pytest.raises(ConfigError, match=r"s\.yaml:7: a track watches one model.*leave one effort of m"):
        track_position(read(tmp_path), options, "m-low")
    one = SUITE[: SUITE.index("      low:")] + SUITE[SUITE.index("decoding:") :].replace(
        ", effort: [off, high]", ""
    )
    assert track_position(read(tmp_path, one), options, "m-off") is not None
