"""Scores that others report, and which of them a run is shown with."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.errors import ConfigError
from genbench.registry import load
from genbench.suite.config import ModelConfig, Reference
from genbench.tasks.published import is_in_mode, named_scores, references

KNOWN = load("task", "aime25")().info.published


def test_scores_are_fractions_with_a_source_and_a_decoding() -> None:
    assert KNOWN and all(0 < item.value < 1 and item.source and item.decoding for item in KNOWN)


def test_a_task_without_scores_has_none() -> None:
    assert load("task", "multi_if")().info.published == ()


@pytest.mark.parametrize(
    ("path", "of"),
    [
        ("Qwen/Qwen3-4B", "this model"),
        ("./checkpoints/Qwen3-4B/", "this model"),
        ("/cache/models--Qwen--Qwen3-4B/snapshots/abc", "this model"),
        ("me/Qwen3-4B-tuned", "its family"),
    ],
)
def test_a_model_is_known_by_the_name_in_its_path(path: str, of: str) -> None:
    found = references(KNOWN, ModelConfig(path=path), None)
    assert {item.model for item in found} == {"Qwen3-4B"}
    assert {item.of for item in found} == {of}


def test_an_adapter_is_never_the_model_itself() -> None:
    found = references(KNOWN, ModelConfig(path="Qwen/Qwen3-4B", adapter="./lora"), None)
    assert {item.of for item in found} == {"its family"}


def test_another_model_has_no_references() -> None:
    assert references(KNOWN, ModelConfig(path="me/unknown"), None) == []


def test_a_suite_may_name_a_score_of_its_own() -> None:
    [found] = references(KNOWN, ModelConfig(path="me/unknown"), Reference(model="Old", value=40.5))
    assert (found.model, found.value, found.of) == ("Old", 0.405, "the suite")


def test_a_named_model_without_a_known_score_needs_a_value() -> None:
    with pytest.raises(ConfigError, match=r"no score of 'Qwen3-5B' is known; did .*give its 'value'"):
        named_scores(KNOWN, Reference(model="Qwen3-5B"))


def test_a_score_of_one_revision_is_not_that_of_another() -> None:
    known = load("task", "piqa")().info.published
    path = "HuggingFaceTB/SmolLM2-1.7B-intermediate-checkpoints"
    found = references(known, ModelConfig(path=path, revision="step-125000"), None)
    assert [(item.value, item.of) for item in found] == [(0.7481, "this model")]
    other = references(known, ModelConfig(path=path, revision="step-250000"), None)
    assert all(item.of != "this model" for item in other)


@pytest.mark.parametrize(
    ("asked", "fits"),
    [
        ({"chat_template_kwargs": {"enable_thinking": True}}, {"thinking; k 4", "temperature 0"}),
        ({"chat_template_kwargs": {"enable_thinking": False}}, {"no thinking; k 4", "temperature 0"}),
        ({"system_prompt": "/think"}, {"thinking; k 4", "temperature 0"}),
        ({"system_prompt": "/no_think"}, {"no thinking; k 4", "temperature 0"}),
        ({"system_prompt": "Be brief."}, {"thinking; k 4", "no thinking; k 4", "temperature 0"}),
        (
            {"chat_template_kwargs": {"reasoning_effort": "high"}},
            {"thinking; k 4", "no thinking; k 4", "temperature 0", "effort high; k 4"},
        ),
        (
            {"effort": {"max": {"thinking": True}}},
            {"thinking; k 4", "no thinking; k 4", "temperature 0", "effort max; k 4"},
        ),
    ],
)
def test_a_score_of_the_other_mode_is_no_score_of_the_run(asked: dict[str, Any], fits: set[str]) -> None:
    decodings = ("thinking; k 4", "no thinking; k 4", "temperature 0", "effort high; k 4", "effort max; k 4")
    model = ModelConfig.model_validate({"path": "m", **asked})
    assert {decoding for decoding in decodings if is_in_mode(decoding, model)} == fits
