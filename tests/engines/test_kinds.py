"""The kind of engine that a suite names: genbench's own, or a guarded one of another package."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.engines.http.kind import HttpKind
from genbench.engines.plugin_guard import ForeignKind, engine_kind
from genbench.engines.vllm.kind import VllmKind
from genbench.errors import ConfigError, EngineError
from genbench.suite.engine import EngineConfig, config_class

RULE = "tests.engines.rule_engine:RuleEngine"
BROKEN = "tests.engines.rule_engine:BrokenEngine"


def config(kind: str, **keys: object) -> EngineConfig:
    return config_class(kind).model_validate({"kind": kind, **keys})


def test_a_built_in_kind_is_made_with_the_suites_block() -> None:
    assert isinstance(engine_kind(config("vllm")), VllmKind)
    assert isinstance(engine_kind(config("http", base_urls=["http://h/v1"])), HttpKind)


def test_a_kind_of_another_package_is_guarded() -> None:
    kind = engine_kind(config(RULE))
    assert isinstance(kind, ForeignKind) and "3" in kind.check()


def test_a_defect_of_another_package_names_engine_file_and_line() -> None:
    kind = engine_kind(config(BROKEN, where="check"))
    with pytest.raises(EngineError, match=r"BrokenEngine' failed: ZeroDivisionError: no check .*rule_engine"):
        kind.check()


def test_a_kind_that_does_not_exist_gets_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="unknown engine 'vlm'; did you mean 'vllm'"):
        config_class("vlm", tmp_path)
