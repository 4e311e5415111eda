"""An engine in one class, of another package: a suite names it, and its runs are like all others."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from genbench import pipeline
from genbench.engines.simple import SimpleConfig, SimpleModel, SimpleSettings
from genbench.errors import ConfigError, EngineError, RunFolderError
from genbench.store.folder import RunFolder
from genbench.types import Request, SampleId
from tests.engines.rule_engine import RuleConfig, RuleEngine

RULE = "tests.engines.rule_engine:RuleEngine"
SUITE = """\
models:
  m: {path: any}
engine: {kind: "KIND", MORE}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - name: sums
    kind: math
    data: {path: rows.jsonl, fields: {id: id, question: question, reference: sum}}
    prompt: "{question}"
    k: 2
"""
Write = Callable[..., pipeline.RunOptions]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a suite of five sums for an engine, and return the options of its run."""

    def made(kind: str = RULE, more: str = "concurrency: 2") -> pipeline.RunOptions:
        (tmp_path / "suite.yaml").write_text(SUITE.replace("KIND", kind).replace("MORE", more))
        rows = [{"id": f"q{i}", "question": f"{i}+{i}=?", "sum": str(2 * i)} for i in range(5)]
        (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return pipeline.RunOptions(str(tmp_path / "suite.yaml"), run_dir=tmp_path / "runs", quiet=True)

    return made


def request(question: str) -> Request:
    from genbench.types import Message

    sample = SampleId("sums", "q", 0)
    return Request(sample, 0, (), 5, 16, "digest", question, messages=(Message("user", question),))


@pytest.mark.slow
def test_a_suite_is_drawn_and_verified_with_it_and_its_keys_are_terms(write: Write) -> None:
    report = pipeline.run(write(more="concurrency: 2, fails_on: '4+4'"))
    task = report.results["m"].tasks["sums"]
    assert task.status_counts == {"correct": 8, "engine_error": 2}
    folder = RunFolder(report.folders["m"])
    manifest = folder.require_manifest()
    assert manifest.model_identity == f"{RULE} any"
    assert manifest.terms["engine"] == {
        "name": RULE,
        "version": "3",
        "options": {"off_by": 0, "fails_on": "4+4"},
    }
    assert manifest.terms["decoding"]["sums"]["temperature"] == 0.6
    assert manifest.attempts[0].circumstances["engine"] == {"concurrency": 2}
    texts = {item.sample.problem_id: item.text for item in folder.completions("sums")}
    assert texts["q3"] == r"\boxed{6}" and "cannot answer 4+4" in texts["q4"]
    with pytest.raises(RunFolderError, match="off_by"):
        pipeline.run(write(more="off_by: 1"))
    scored = pipeline.score(report.folders["m"], again=True, quiet=True)
    assert scored.results["m"].tasks["sums"].status_counts == task.status_counts


def test_a_module_in_the_suites_folder_is_found(write: Write, tmp_path: Path) -> None:
    (tmp_path / "own_rule.py").write_text(
        "from genbench.engines.simple import SimpleEngine\n"
        "class Zero(SimpleEngine):\n"
        "    async def generate(self, request, attempt):\n"
        "        return self.completion(request, attempt, r'\\boxed{0}')\n"
    )
    report = pipeline.run(write("own_rule:Zero"))
    assert report.results["m"].tasks["sums"].status_counts == {"correct": 2, "wrong": 8}


@pytest.mark.parametrize(
    ("kind", "more", "said"),
    [
        (RULE, "off_bye: 1", r"suite\.yaml:3: unknown key 'engine\.off_bye'; did you mean 'off_by'"),
        (RULE, "off_by: -1", r"suite\.yaml:3: engine\.off_by: .*greater than or equal to 0"),
        ("tests.engines.rule_engine:Rule", "concurrency: 1", r"suite\.yaml:3: engine\.kind: .*no 'Rule'"),
        ("tests.engines.nowhere:Rule", "concurrency: 1", r"suite\.yaml:3: engine\.kind: .*no module"),
        ("tests.engines.rule_engine:NoConfig", "concurrency: 1", r"suite\.yaml:3: .*no class 'Config'"),
        ("vlm", "concurrency: 1", r"suite\.yaml:3: engine\.kind: unknown engine 'vlm'; did you mean 'vllm'"),
    ],
)
def test_mistakes_in_the_suite_name_file_line_and_remedy(
    write: Write, kind: str, more: str, said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        pipeline.run(write(kind, more))


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("check", r"failed: ZeroDivisionError: no check \(.*rule_engine\.py:\d+\); correct the engine"),
        ("start", r"failed: KeyError: 'start' \(.*rule_engine\.py:\d+\)"),
        ("generate", r"failed: ZeroDivisionError: no generate \(.*rule_engine\.py:\d+\)"),
        ("returns", r"returned str, wanted genbench\.types\.Completion"),
    ],
)
def test_a_defect_of_the_engine_is_an_error_that_names_its_file_and_line(
    write: Write, where: str, said: str
) -> None:
    with pytest.raises(EngineError, match=said):
        pipeline.run(write("tests.engines.rule_engine:BrokenEngine", f"where: {where}"))


def test_a_model_is_named_by_the_engine_and_its_path() -> None:
    engine = RuleEngine(RuleConfig(kind=RULE))
    found = SimpleModel(engine, identity="identity")
    settings = found.settings(None)  # type: ignore[arg-type]  # it looks at no prompt
    assert settings == SimpleSettings(RuleEngine, engine.config)
    assert found.tokenizer is None and found.context is None and not found.warnings(None)  # type: ignore[arg-type]
    assert engine.check() == f"{RULE} 3"


def test_settings_tell_what_shapes_completions_from_what_costs_only_time() -> None:
    settings = SimpleSettings(RuleEngine, RuleConfig(kind=RULE, concurrency=7, off_by=2))
    assert "concurrency" not in json.dumps(dict(settings.terms)) and settings.workers == 7
    assert settings.circumstances == {"concurrency": 7}
    assert settings.generates and settings.share_key is None and settings.max_model_len is None
    assert settings.at(Path("run")).log == Path("run/engine.log")
    assert list(settings.members) == ["engine"] and isinstance(settings.make(), RuleEngine)


async def _answer(engine: RuleEngine, question: str) -> str:
    await engine.start()
    completion = await engine.generate(request(question), 1)
    await engine.close()
    assert completion.seed == 5 and completion.attempt == 1 and completion.finish_reason == "stop"
    return completion.text


def test_a_completion_belongs_to_its_request() -> None:
    import asyncio

    assert asyncio.run(_answer(RuleEngine(RuleConfig(kind=RULE)), "20+3")) == r"\boxed{23}"


def test_the_default_keys_are_kind_and_concurrency() -> None:
    assert SimpleConfig(kind="x").model_dump() == {"kind": "x", "concurrency": 16}
