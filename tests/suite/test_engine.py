"""The `engine:` block: its class is loaded by the name of its kind, and editors know the built-in keys."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from genbench.errors import ConfigError
from genbench.suite.config import SuiteConfig
from genbench.suite.engine import STORED, SuiteMistake, config_class, default_engine
from genbench.suite.judge import JudgeModel
from genbench.suite.suitefile import located, read_suite

TASK = {"name": "t", "kind": "math", "k": 1, "data": {"path": "r.jsonl"}}


def config(engine: object, **context: object) -> SuiteConfig:
    record = {"models": {"m": {"path": "x"}}, "tasks": [TASK], "engine": engine}
    return SuiteConfig.model_validate(record, context=context or None)


def test_a_suite_without_an_engine_has_vllm() -> None:
    found = SuiteConfig.model_validate({"models": {"m": {"path": "x"}}, "tasks": [TASK]})
    assert found.engine == default_engine() and found.engine.kind == "vllm"
    assert config({}).engine == default_engine()


@pytest.mark.parametrize(
    "engine",
    [
        {"kind": "vllm", "max_num_seqs": 3, "enforce_eager": True},
        {"kind": "http", "base_urls": ["http://h/v1"], "prompts": "chat"},
        {"kind": "tests.engines.rule_engine:RuleEngine", "off_by": 4},
    ],
)
def test_a_block_comes_back_from_its_own_record(engine: dict[str, object]) -> None:
    found = config(engine)
    dumped = found.model_dump(mode="json")
    assert engine.items() <= dumped["engine"].items()
    assert SuiteConfig.model_validate(dumped) == found


def test_mistakes_have_the_place_of_their_key() -> None:
    with pytest.raises(ValidationError) as caught:
        config({"kind": "http", "concurrency": 0, "retires": 1})
    assert {item["loc"] for item in caught.value.errors()} == {
        ("engine", "concurrency"),
        ("engine", "retires"),
    }


def test_an_unknown_kind_is_told_at_its_key() -> None:
    with pytest.raises(ValidationError, match="unknown engine 'htp'; did you mean 'http'") as caught:
        config({"kind": "htp"})
    assert caught.value.errors()[0]["loc"] == ("engine", "kind")


def test_a_class_that_is_no_engine_is_refused() -> None:
    with pytest.raises(ConfigError, match="no class 'Config' derived from"):
        config_class("tests.engines.rule_engine:NoConfig")


def test_a_stored_suite_needs_no_engine_installed() -> None:
    engine = {"kind": "gone.package:Engine", "anything": 1}
    found = SuiteConfig.model_validate(
        {"models": {"m": {"path": "x"}}, "tasks": [TASK], "engine": engine}, context=STORED
    )
    assert found.model_dump(mode="json")["engine"] == engine
    with pytest.raises(ValidationError, match="gone"):
        config(engine)


def test_a_judge_has_vllm_and_one_engine() -> None:
    assert JudgeModel(path="x").engine.kind == "vllm"
    with pytest.raises(ValidationError, match="wanted vllm, found 'http'"):
        JudgeModel.model_validate({"path": "x", "engine": {"kind": "http"}})
    with pytest.raises(ValidationError, match="a judge has one engine"):
        JudgeModel.model_validate({"path": "x", "engine": {"replicas": 2}})


def test_editors_know_the_keys_of_the_built_in_kinds_and_allow_others() -> None:
    schema = SuiteConfig.model_json_schema()
    kinds = schema["properties"]["engine"]["oneOf"]
    assert [kind["title"] for kind in kinds[:-1]] == ["VllmConfig", "HttpConfig"]
    assert "replicas" in kinds[0]["properties"] and "base_urls" in kinds[1]["properties"]
    assert kinds[0]["additionalProperties"] and not kinds[1]["additionalProperties"]
    assert kinds[-1]["properties"]["kind"]["not"] == {"enum": ["vllm", "http"]}
    assert schema["properties"]["engine"]["default"]["kind"] == "vllm"


@pytest.mark.slow
def test_the_configuration_imports_no_engine() -> None:
    code = "import sys, genbench.suite.config; print([m for m in sys.modules if 'genbench.engines' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_mistake_gets_file_and_line_of_its_key(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text("models: {m: {path: x}}\ndecoding:\n  top_k: 3\ntasks:\n  - aime24\n")
    suite = read_suite(path)
    with pytest.raises(ConfigError, match=rf"^{path}:3: decoding\.top_k: too small$"), located(suite):
        raise SuiteMistake(("decoding", "top_k"), "decoding.top_k: too small")


def test_a_model_with_a_server_needs_the_http_engine(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text("models:\n  m:\n    path: x\n    server: {model: y}\ntasks: [aime24]\n")
    with pytest.raises(ConfigError, match=r":4: models\.m\.server: needs engine: \{kind: http\}"):
        read_suite(path)
