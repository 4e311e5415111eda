"""init, check, tasks and doctor as commands, and sandbox."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Outcome, ready_suite

Cli = Callable[..., Outcome]


@pytest.mark.slow
def test_doctor_reports_python_engine_and_sandbox(genbench: Cli) -> None:
    checks = json.loads(genbench("doctor", "--json").out)
    assert {"python", "cpu", "gpu", "engine", "sandbox", "disk"} <= {item["what"] for item in checks}
    assert {item["state"] for item in checks} <= {"ok", "warning", "error"}


def test_tasks_lists_every_built_in_with_its_dataset(genbench: Cli) -> None:
    table = genbench("tasks").out
    records = json.loads(genbench("tasks", "--json").out)
    assert {"aime25", "gpqa_diamond", "ifeval"} <= {record["name"] for record in records}
    assert all(record["name"] in table for record in records)
    assert next(record for record in records if record["name"] == "gpqa_diamond")["gated"] is True


def test_init_writes_a_suite_that_reads(genbench: Cli, tmp_path: Path) -> None:
    from genbench.suite.suitefile import read_suite

    path = tmp_path / "nightly.yaml"
    outcome = genbench("init", path)
    assert outcome.out == f"wrote {path}; edit it, then run: genbench check {path}\n"
    assert read_suite(path).name == "nightly"


def test_init_never_overwrites_a_file(genbench: Cli, tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text("mine")
    outcome = genbench("init", path)
    assert outcome.code == 2
    assert path.read_text() == "mine"


def test_check_exits_2_and_names_what_is_missing(
    genbench: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready_suite(tmp_path, "exact", 2, lambda problem, _: str(problem))
    monkeypatch.chdir(tmp_path)
    outcome = genbench("check", "suite.yaml", "--json")
    states = {item["what"]: item["state"] for item in json.loads(outcome.out)}
    assert outcome.code == 2
    assert (states["task mine"], states["model m"]) == ("ok", "error")


def test_check_passes_a_suite_whose_model_is_there(
    genbench: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready_suite(tmp_path, "exact", 2, lambda problem, _: str(problem))
    monkeypatch.chdir(tmp_path)
    outcome = genbench(
        "check", "suite.yaml", "--model", "m=shipped:checkpoints/tiny-base", "--set", "decoding.max_tokens=64"
    )
    assert outcome.code == 0, outcome.out
    assert "2 problems x k 2 = 4 samples" in outcome.out


def test_check_takes_a_model_and_a_task_as_run_does(
    genbench: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sums.yaml").write_text(
        "summary: sums\nlicence: MIT\nkind: exact\n"
        f"hub: {{repo: o/r, split: test, revision: {'a' * 40}, columns: [id, question, answer]}}\n"
        "fields: {id: id, question: question, reference: answer}\nprompt: '{question}'\n"
    )
    rows = tmp_path / "data" / "o" / "r" / "default" / "test.jsonl"
    rows.parent.mkdir(parents=True)
    rows.write_text('{"id": "1", "question": "1+1?", "answer": "2"}\n')
    monkeypatch.chdir(tmp_path)
    given = ("--task", "./sums.yaml", "--data-dir", "data", "--k", "2", "--set", "decoding.max_tokens=64")
    tiny = "shipped:checkpoints/tiny-base"
    for model, name in ((tiny, "tiny-base"), (f"m={tiny}", "m")):
        outcome = genbench("check", "--model", model, *given)
        assert outcome.code == 0, outcome.out
        assert "1 problems x k 2 = 2 samples" in outcome.out and f"model {name}: " in outcome.out
    lacking = genbench("check", "--model", "shipped:checkpoints/tiny-base")
    assert lacking.code == 2 and "give a suite, or both --model PATH and --task NAME" in lacking.err


def test_schema_is_a_json_schema_of_a_suite(genbench: Cli) -> None:
    schema = json.loads(genbench("init", "--schema").out)
    assert {"models", "engine", "decoding", "tasks"} <= set(schema["properties"])


@pytest.mark.parametrize(("option", "value"), [("--mode", "fast"), ("--tier", "c")])
def test_the_sandbox_refuses_a_value_that_it_does_not_know(genbench: Cli, option: str, value: str) -> None:
    outcome = genbench("sandbox", option, value)
    assert outcome.code == 2
    assert f"'{value}' is none of" in outcome.err


@pytest.mark.slow
def test_several_suites_are_checked_one_after_the_other(
    genbench: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready_suite(tmp_path, "exact", 2, lambda problem, _: str(problem))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.yaml").write_text((tmp_path / "suite.yaml").read_text())
    outcome = genbench("check", "suite.yaml", "other.yaml")
    assert outcome.code == 2
    assert "\nsuite.yaml cannot run as it is: 1 error above\n\n" in outcome.out
    assert outcome.out.endswith("other.yaml cannot run as it is: 1 error above\n\n")
    alone = genbench("check", "other.yaml").out
    assert alone.endswith("other.yaml cannot run as it is: 1 error above\n") and not alone.endswith("\n\n")
    found = json.loads(genbench("check", "suite.yaml", "other.yaml", "--json").out)
    assert list(found) == ["suite.yaml", "other.yaml"]
    assert {item["state"] for item in found["other.yaml"]} >= {"ok", "error"}


def test_plug_ins_are_listed_with_their_package(genbench: Cli) -> None:
    out = genbench("plugins").out
    assert "verifier" in out and "genbench.verifiers.text.exact:ExactVerifier" in out


def test_plug_ins_are_json_on_request(genbench: Cli) -> None:
    found = json.loads(genbench("plugins", "--json").out)
    assert {"category": "task", "name": "aime25"}.items() <= next(
        item for item in found["plug_ins"] if item["name"] == "aime25"
    ).items()
    assert found["mistakes"] == []
