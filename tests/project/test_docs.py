"""The YAML of docs/suites.md is what the program takes."""

from __future__ import annotations

import re
from pathlib import Path

from ruamel.yaml import YAML

from genbench.suite.config import ModelConfig, TaskEntry
from genbench.tasks.conversation import Conversation
from genbench.tasks.custom import custom_task

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_every_example_of_the_suite_reference_is_valid() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", (DOCS / "suites.md").read_text(), re.DOTALL)
    tasks, models = [], []
    for block in blocks:
        parsed = YAML(typ="safe").load(block)
        if isinstance(parsed, list):
            tasks += [TaskEntry.model_validate(entry) for entry in parsed]
        else:
            models += [ModelConfig.model_validate(entry) for entry in parsed["models"].values()]
    assert {type(custom_task(entry)).__name__ for entry in tasks} == {"SingleTurn", Conversation.__name__}
    assert {model.adapter for model in models} == {None, "./lora"}
