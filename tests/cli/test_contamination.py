"""contamination text and contamination runs as commands: text, JSON, and messages for wrong input."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import pytest

from genbench.reports.schemas import record_schema

from .conftest import Outcome

Cli = Callable[..., Outcome]
QUESTION = "How many of the seventeen sheep are left after the farmer has sold nine of them at the market?"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("suite.yaml").write_text(
        "models:\n  m: {path: ./none}\ntasks:\n  - name: mine\n    kind: exact\n"
        "    data: {path: rows.jsonl, fields: {id: id, question: question, reference: answer}}\n"
        '    prompt: "{question}"\n    k: 1\n'
    )
    Path("rows.jsonl").write_text(json.dumps({"id": "p0", "question": QUESTION, "answer": "8"}) + "\n")
    for name in ("a.jsonl", "b.jsonl"):
        Path(name).write_text(json.dumps({"text": f"{name} {QUESTION}"}) + "\n")
    return tmp_path


def valid(name: str, text: str) -> None:
    schema = record_schema()
    jsonschema.validate(json.loads(text), {"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})


def test_overlap_prints_the_table_and_the_hit(genbench: Cli, place: Path) -> None:
    done = genbench("contamination", "text", "suite.yaml", "--corpus", "a.jsonl", "--quiet")
    assert done.code == 0
    assert "problem p0, question: 100%" in done.out
    assert done.err == ""


@pytest.mark.slow
def test_files_of_a_shell_pattern_are_all_searched(genbench: Cli, place: Path) -> None:
    done = genbench(
        "contamination", "text", "suite.yaml", "--corpus", "a.jsonl", "b.jsonl", "--json", "--quiet"
    )
    found = json.loads(done.out)
    assert [file["path"] for file in found["corpus"]] == ["a.jsonl", "b.jsonl"]
    assert found["tasks"]["mine"]["lines"] == 2
    valid("overlap", done.out)


def test_progress_goes_to_stderr(genbench: Cli, place: Path) -> None:
    done = genbench("contamination", "text", "suite.yaml", "--corpus", "a.jsonl", "--json")
    json.loads(done.out)
    assert done.err.startswith("searched ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("suite.yaml",), "one training file (--corpus)"),
        (("suite.yaml", "--corpus", "gone.jsonl"), "gone.jsonl: no such file or folder"),
        (("suite.yaml", "--corpus", "suite.yaml"), "cannot read '.yaml' files"),
        (("nope", "--corpus", "a.jsonl"), "suite 'nope': no such file and no shipped suite"),
        (("gsm8kk", "--corpus", "a.jsonl"), "and no task; did you mean 'gsm8k'?"),
        (("suite.yaml", "--corpus", "a.jsonl", "--n", "1"), "--n 1: wanted words of an n-gram, 2 to 100"),
    ],
)
def test_wrong_input_of_overlap_is_said_with_exit_code_2(
    genbench: Cli, place: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = genbench("contamination", "text", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def scores(path: str, right: int, k: int) -> str:
    rows = [
        {"task": "t", "problem_id": str(i), "sample_index": j, "score": float(i < right)}
        for i in range(20)
        for j in range(k)
    ]
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_contamination_prints_flips(genbench: Cli, place: Path) -> None:
    paths = [scores("base.jsonl", 5, 16), scores("one.jsonl", 5, 16), scores("new.jsonl", 12, 16)]
    done = genbench("contamination", "runs", *paths)
    assert done.code == 0
    row = next(line.split() for line in done.out.splitlines() if line.startswith("t "))
    assert row[:5] == ["t", "16/16", "15", "7", "0/15"]
    assert row[-2:] == ["a", "sign"]


@pytest.mark.slow
def test_contamination_prints_json_of_its_schema(genbench: Cli, place: Path) -> None:
    done = genbench("contamination", "runs", scores("a.jsonl", 5, 8), scores("b.jsonl", 6, 8), "--json")
    found = json.loads(done.out)
    assert found["tasks"]["t"]["flips"]["problems"] == ["5"]
    valid("contamination", done.out)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("a.jsonl",), "wanted at least two runs"),
        (("gone", "gone"), "no such file or folder"),
        (("a.jsonl", "a.jsonl", "--trust-run", "all"), "--trust-run all: wanted one of"),
    ],
)
def test_wrong_input_of_contamination_is_said_with_exit_code_2(
    genbench: Cli, place: Path, arguments: tuple[str, ...], said: str
) -> None:
    scores("a.jsonl", 1, 8)
    done = genbench("contamination", "runs", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
