"""A suite from the command line, without a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import ConfigError
from genbench.runs.inputs import open_suite
from genbench.runs.options import RunOptions
from genbench.suite.suitefile import model_name, quick_suite


def test_models_and_tasks_make_a_suite() -> None:
    suite = quick_suite(["./runs/ckpt-500/", "base=org/Base-1B"], ["gsm8k", "aime25"], 4)
    assert {name: model.path for name, model in suite.config.models.items()} == {
        "ckpt-500": "./runs/ckpt-500/",
        "base": "org/Base-1B",
    }
    assert [(entry.task, entry.k) for entry in suite.config.tasks] == [("gsm8k", 4), ("aime25", 4)]
    assert suite.name == "gsm8k-aime25" and suite.folder == Path.cwd()


def test_each_task_has_its_own_k_by_default() -> None:
    (entry,) = quick_suite(["m"], ["gsm8k"], None).config.tasks
    assert entry.k is None


@pytest.mark.parametrize(
    ("text", "name"),
    [("org/Name", "Name"), ("a=b", "a"), ("/x/y z/", "y-z"), (".", "model"), ("..", "model")],
)
def test_a_model_is_named_after_its_path(text: str, name: str) -> None:
    assert model_name(text) == name


def test_overrides_apply_as_in_a_file() -> None:
    suite = quick_suite(["m"], ["gsm8k"], 2, ["decoding.temperature=1", "tasks.gsm8k.limit=3"])
    assert suite.config.decoding.temperature == 1 and suite.config.tasks[0].limit == 3
    with pytest.raises(ConfigError, match=r"--set decoding\.sed=1: unknown key"):
        quick_suite(["m"], ["gsm8k"], 2, ["decoding.sed=1"])


@pytest.mark.parametrize(
    ("models", "tasks", "said"),
    [
        ([], ["gsm8k"], "give a suite, or both --model PATH and --task NAME"),
        (["m"], [], "give a suite, or both"),
        (["a/m", "b/m"], ["gsm8k"], "two models are called 'm'; write --model NAME=PATH"),
        (["m"], ["gsm8k", "gsm8k"], "two tasks are called 'gsm8k'"),
    ],
)
def test_what_is_missing_or_doubled_is_named(models: list[str], tasks: list[str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        quick_suite(models, tasks, None)


def test_options_without_a_suite_open_one() -> None:
    suite, chosen = open_suite(RunOptions(models=("shipped:checkpoints/tiny-base",), tasks=("gsm8k",), k=3))
    assert chosen == ["tiny-base"] and suite.config.tasks[0].k == 3
    with pytest.raises(ConfigError, match="--k goes without a suite file"):
        open_suite(RunOptions("quickstart", k=3))
