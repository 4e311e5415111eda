"""What could stop a run, found without an engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import UnavailableError
from genbench.runs.doctor import doctor
from genbench.runs.execution.preflight import Check, check_suite
from genbench.runs.options import RunOptions
from genbench.runs.requests import request_records
from genbench.sandbox.selftest import open_cage

SUITE = """\
models: {m: {path: "shipped:checkpoints/tiny-tuned"}}
decoding: {max_tokens: 16}
tasks:
  - name: sums
    kind: exact
    data: {path: rows.jsonl, fields: {id: id, question: question, reference: sum}}
    prompt: "{question}"
    k: 2
"""


def checks(place: Path, *overrides: str, **options: Any) -> dict[str, Check]:
    (place / "suite.yaml").write_text(SUITE)
    rows = [{"id": f"q{i}", "question": f"{i}+1", "sum": str(i + 1)} for i in range(3)]
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = check_suite(RunOptions(str(place / "suite.yaml"), overrides=overrides, **options))
    return {f"{item.what}{'' if item.state == 'ok' else ' ' + item.state}": item for item in found}


def test_a_good_suite_passes_every_check(tmp_path: Path) -> None:
    found = checks(tmp_path)
    assert all(item.state == "ok" for item in found.values()), [str(item) for item in found.values()]
    assert "3 problems x k 2 = 6 samples" in found["task sums"].detail
    assert "vllm" in found["engine"].detail and "longest prompt" in found["model m"].detail


@pytest.mark.slow
def test_an_error_does_not_hide_the_others(tmp_path: Path) -> None:
    found = checks(tmp_path, "models.m.path=none", "engine.max_num_sequences=3")
    assert "did you mean" in found["engine error"].detail
    assert "no such folder" in found["model m error"].detail
    assert found["task sums"].state == "ok"


OWN = """\
from genbench.types import Finding


class Own:
    def __init__(self, *, gives):
        self.gives = gives

    def verify(self, case):
        if self.gives == "a finding":
            return Finding(float(case.answer.text == case.reference))
        if self.gives == "a bool":
            return True
        return Finding(2.0) if self.gives == "a two" else case.reference["x"]
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gives", "said"),
    [
        ("a finding", None),
        ("a bool", "own.py:4): verify() returned True, wanted genbench.types.Finding"),
        ("a two", "verify() returned the score 2.0, wanted a number from 0 to 1"),
        ("an exception", "TypeError: string indices must be integers"),
    ],
)
def test_an_own_verifier_is_tried_on_the_first_problem(tmp_path: Path, gives: str, said: str | None) -> None:
    (tmp_path / "own.py").write_text(OWN)
    own = f"tasks.0.verifier={{use: 'own:Own', gives: '{gives}'}}"
    found = checks(tmp_path, own, "tasks.0.kind=null", trust_code="folder")
    if said is None:
        assert "verifiers error" not in found
    else:
        detail = found["verifiers error"].detail
        assert "tried on problem q0: " in detail and said in detail


def test_a_limit_that_the_context_lowers_is_a_warning(tmp_path: Path) -> None:
    found = checks(tmp_path, "engine.max_model_len=64", "decoding.max_tokens=60")
    assert "max_tokens is lowered to the context for 3 problems" in found["model m warning"].detail


@pytest.mark.slow
def test_a_prompt_that_does_not_fit_is_an_error(tmp_path: Path) -> None:
    found = checks(tmp_path, "engine.max_model_len=16", "models.m.system_prompt=" + "one two " * 30)
    assert "none is left for an answer" in found["model m error"].detail


@pytest.mark.slow
def test_a_template_whose_tags_are_unknown_is_an_error_that_names_the_key(tmp_path: Path) -> None:
    template = tmp_path / "ponder.jinja"
    template.write_text(
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}{{ '<|assistant|><ponder>' }}"
    )
    found = checks(tmp_path, f"models.m.chat_template={template}")
    assert "<ponder>" in found["model m error"].detail
    assert "set reasoning to the two tags" in found["model m error"].detail
    tags = "reasoning={open: <ponder>, close: </ponder>}"
    assert "model m" in checks(tmp_path, f"models.m.chat_template={template}", tags)
    assert "which has no response_template" in checks(tmp_path, "reasoning=hf")["model m error"].detail


def test_completions_beyond_the_disk_are_a_warning(tmp_path: Path) -> None:
    found = checks(tmp_path, "tasks.sums.k=1000000000")
    assert "completions take" in found["disk warning"].detail


def test_an_engine_of_another_package_is_checked_too(tmp_path: Path) -> None:
    found = checks(tmp_path, "engine={kind: 'tests.engines.rule_engine:RuleEngine'}")
    assert found["engine"].detail.endswith("RuleEngine 3") and found["model m"].state == "ok"
    broken = checks(tmp_path, "engine={kind: 'tests.engines.rule_engine:BrokenEngine', where: check}")
    assert "ZeroDivisionError: no check" in broken["engine error"].detail


@pytest.mark.slow
def test_the_doctor_names_what_this_machine_has() -> None:
    found = {item.what: item for item in doctor()}
    assert {"python", "cpu", "gpu", "engine", "packages", "sandbox", "hub", "data mirror", "disk"} <= set(
        found
    )
    assert "cores" in found["cpu"].detail and str(found["python"]).startswith("ok")


@pytest.mark.slow
def test_records_of_requests_have_one_line_a_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from genbench.models.prepare import prepare_prompts
    from genbench.runs.inputs import open_suite
    from genbench.runs.selection import load_tasks

    checks(tmp_path)
    options = RunOptions(str(tmp_path / "suite.yaml"))
    suite, _ = open_suite(options)
    tasks = load_tasks(suite, options)
    records = list(request_records(prepare_prompts(suite, "m", tasks), tasks))
    assert [(item.problem_id, item.sample_index) for item in records] == [
        (f"q{i}", index) for i in range(3) for index in range(2)
    ]
    assert len({item.seed for item in records}) == 6 and json.dumps([item.to_json() for item in records])
    assert records[0].decoding["max_tokens"] == 16 and "seed" not in records[0].decoding
    assert [(item.role, item.content) for item in records[0].messages] == [("user", "0+1")]


@pytest.mark.slow
@pytest.mark.parametrize("without", [True, False])
def test_the_doctor_names_a_python_that_keeps_no_byte_code(
    monkeypatch: pytest.MonkeyPatch, without: bool
) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", without)
    found = [item for item in doctor() if item.what == "byte code"]
    assert [item.state for item in found] == (["warning"] if without else [])
    assert all("unset it" in item.detail for item in found)


@pytest.mark.slow
def test_the_doctor_tries_the_namespaces_that_harnesses_would_get(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {item.what: item for item in doctor()}["agents"]
    assert (found.state, "nothing but the gateway" in found.detail) == ("ok", True)

    async def refused() -> None:
        raise UnavailableError("agent tasks need namespaces")

    monkeypatch.setattr("genbench.runs.doctor.check_namespaces", refused)
    found = {item.what: item for item in doctor()}["agents"]
    assert (found.state, found.detail) == ("warning", "agent tasks need namespaces")


@pytest.mark.slow
def test_the_doctor_tries_the_sandbox_that_code_would_get(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")  # no bubblewrap
    found = {item.what: item for item in doctor()}["sandbox"]
    try:
        cage, worker = open_cage()
    except UnavailableError:
        assert found.state == "warning" and "code tasks cannot run here" in found.detail
    else:
        worker.close()
        assert found.state == "ok" and cage.label in found.detail
