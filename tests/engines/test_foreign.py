"""Engines of other packages: a mistake in any of their methods is an error that names them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from genbench.engines.kind import ModelSource, PromptFacts
from genbench.engines.plugin_guard import ForeignEngine, ForeignKind, ForeignSettings, defects_of
from genbench.errors import DataError, EngineError, RequestFailedError
from genbench.suite.config import Decoding, ModelConfig
from genbench.types import Completion, Message, Request, SampleId
from tests.engines.rule_engine import BrokenEngine, RuleConfig, RuleEngine

DECODING = {"t": Decoding(max_tokens=16)}


def settings(kind: type[RuleEngine] | type[BrokenEngine], **keys: object) -> ForeignSettings:
    config = kind.Config.model_validate({"kind": "theirs", **keys})
    source = ModelSource("m", ModelConfig(path="any"), Path(), DECODING)
    model = ForeignKind("theirs", kind(config)).find(source)
    found: object = model.settings(PromptFacts(DECODING, DECODING["t"]))
    assert isinstance(found, ForeignSettings)
    return found


def ask(found: ForeignSettings) -> Completion:
    request = Request(SampleId("t", "p", 0), 0, (), 1, 16, "d", "2+3?", messages=(Message("user", "2+3?"),))

    async def work() -> Completion:
        engine = found.make()
        await engine.start()
        try:
            return await engine.generate(request, 1)
        finally:
            await engine.close()

    return asyncio.run(work())


def test_a_sound_engine_works_as_if_it_were_ours() -> None:
    assert ask(settings(RuleEngine, off_by=1)).text == "\\boxed{6}"


def test_its_settings_are_seen_through(tmp_path: Path) -> None:
    found = settings(RuleEngine)
    assert found.terms["engine"]["version"] == "3" and found.generates
    assert found.at(tmp_path).log.parent == tmp_path
    assert all(isinstance(member, ForeignSettings) for member in found.members.values())


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("start", r"engine 'theirs' failed: KeyError: 'start'"),
        ("generate", r"engine 'theirs' failed: ZeroDivisionError: no generate \(.*rule_engine\.py:\d+\)"),
        ("returns", r"engine 'theirs' returned str, wanted genbench\.types\.Completion"),
    ],
)
def test_a_defect_is_an_engine_error_that_names_it(where: str, message: str) -> None:
    with pytest.raises(EngineError, match=message):
        ask(settings(BrokenEngine, where=where))


def test_a_refusal_on_purpose_is_passed_on() -> None:
    with pytest.raises(RequestFailedError, match="cannot answer"):
        ask(settings(RuleEngine, fails_on="2+3"))


def test_errors_of_genbench_pass_and_others_become_engine_errors() -> None:
    with pytest.raises(DataError), defects_of("theirs"):
        raise DataError("no rows")
    with pytest.raises(EngineError, match="correct the engine"), defects_of("theirs"):
        raise TypeError("theirs")


def test_a_config_has_the_keys_of_its_own_class() -> None:
    assert RuleConfig.model_validate({"kind": "theirs", "off_by": 2}).off_by == 2
    assert isinstance(settings(RuleEngine).make(), ForeignEngine)


def test_what_settings_and_engine_do_not_tell_is_not_asked_of_them() -> None:
    found = settings(RuleEngine)
    assert found.first_workers == found.workers == 16 and not found.gives_way
    engine = found.make()
    assert isinstance(engine, ForeignEngine)
    assert engine.kv_tokens is None and engine.has_begun(SampleId("t", "p", 0)) and engine.facts == {}


def test_what_settings_and_engine_tell_is_passed_on() -> None:
    class Telling:
        first_workers, workers, kv_tokens = 5, 9, 640
        facts = MappingProxyType({"resolved": {"kv_tokens": 640}})

        def narrowed(self, needed: int) -> Telling:
            return self

        def has_begun(self, sample: SampleId) -> bool:
            return False

    inner: Any = Telling()
    seen = ForeignSettings("theirs", inner)
    assert seen.first_workers == 5
    assert isinstance(seen.narrowed(9), ForeignSettings)
    engine = ForeignEngine("theirs", inner)
    assert engine.kv_tokens == 640 and not engine.has_begun(SampleId("t", "p", 0))
    assert engine.facts == {"resolved": {"kv_tokens": 640}}
