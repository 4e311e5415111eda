"""`genbench show`: filters, two runs in columns, JSON, and no control characters in the output."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from genbench.pipeline import RunOptions, run

from .conftest import Outcome

Cli = Callable[..., Outcome]
SUITE = """\
models:
  base: {path: ./base}
  tuned: {path: ./tuned}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - name: sums
    kind: exact
    data: {path: rows.jsonl, fields: {id: id, question: problem, reference: answer}}
    prompt: "{question}"
    k: 2
"""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("show")
    (place / "suite.yaml").write_text(SUITE)
    rows = [{"id": name, "problem": f"what is {name}?", "answer": "two"} for name in "ab"]
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = {"base": ["two", "\x1b[31mthree\u202e"], "tuned": ["two", "two"]}
    lines = [
        {"model": model, "task": "sums", "problem_id": name, "sample_index": index, "text": texts[index]}
        for model, texts in said.items()
        for name in "ab"
        for index in range(2)
    ]
    (place / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    options = RunOptions(
        str(place / "suite.yaml"), run_dir=place / "out", responses=place / "r.jsonl", quiet=True
    )
    run(options)
    return place / "out"


@pytest.mark.slow
def test_a_status_filters_samples(genbench: Cli, out: Path) -> None:
    outcome = genbench("show", out / "base", "sums", "a", "--status", "wrong", "--json")
    (record,) = json.loads(outcome.out)
    assert (record["sample_index"], record["reference"], record["prompt"]) == (1, "two", "what is a?")


def test_a_sample_is_shown_beside_that_of_another_run(genbench: Cli, out: Path) -> None:
    outcome = genbench("show", out / "base", "sums", "a", "--sample", "1", "--with", out / "tuned")
    assert outcome.out.index("wrong (score 0)") < outcome.out.index("correct (score 1)")
    assert "\x1b" not in outcome.out and "\u202e" not in outcome.out
    assert "\\x1b[31mthree\\u202e" in outcome.out


def test_problems_are_listed_with_both_scores(genbench: Cli, out: Path) -> None:
    outcome = genbench("show", out / "base", "sums", "--with", out / "tuned")
    assert outcome.out.splitlines()[0] == "a  50.0 -> 100.0  correct 1 wrong 1 | correct 2"


def test_a_misspelt_status_is_named(genbench: Cli, out: Path) -> None:
    outcome = genbench("show", out / "base", "sums", "--status", "wrogn")
    assert outcome.code == 2 and "did you mean 'wrong'" in outcome.err


def test_a_filter_of_samples_wants_a_task(genbench: Cli, out: Path) -> None:
    outcome = genbench("show", out / "base", "--status", "wrong")
    assert outcome.code == 2 and f"genbench show {out / 'base'} TASK" in " ".join(outcome.err.split())


def test_report_prints_its_path_and_its_markdown(genbench: Cli, out: Path) -> None:
    outcome = genbench("report", out / "base", out / "tuned")
    assert outcome.out == f"report: {out / 'report.html'}\n"
    assert genbench("report", out / "base", "--format", "md").out.startswith("### base scores sums")


def test_two_runs_stand_in_columns_on_a_wide_terminal(
    genbench: Cli, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "130")
    outcome = genbench("show", out / "base", "sums", "a", "--sample", "1", "--with", out / "tuned")
    lines = outcome.out.splitlines()
    (head,) = [line for line in lines if "══" in line]
    assert head.index("══", 10) == 66
    (answer,) = [line for line in lines if "\\x1b[31mthree\\u202e" in line and "extracted" not in line]
    assert answer[66:] == "two"
    assert all(len(line) <= 130 for line in lines)


def test_what_flipped_is_kept_alone(genbench: Cli, out: Path) -> None:
    command = ("show", out / "base", "sums", "a", "--with", out / "tuned", "--json")
    (pair,) = json.loads(genbench(*command, "--flip", "gained").out)
    assert (pair["first"]["sample_index"], pair["second"]["status"]) == (1, "correct")
    assert json.loads(genbench(*command, "--flip", "lost").out) == []
    outcome = genbench("show", out / "base", "sums", "--flip", "lost")
    assert outcome.code == 2


def test_a_problem_is_kept_by_its_longest_sample(genbench: Cli, out: Path, tmp_path: Path) -> None:
    run = shutil.copytree(out / "base", tmp_path / "run")
    records = [json.loads(line) for line in (run / "sums/completions.jsonl").read_text().splitlines()]
    for number, record in enumerate(records):
        is_long = record["problem_id"] == "a" and record["sample_index"] == 1
        record["completion_tokens"] = 7 if is_long else number % 4
    (run / "sums/completions.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    for least, kept in ((0, {"a", "b"}), (5, {"a"}), (7, {"a"}), (8, set())):
        found = json.loads(genbench("show", run, "sums", "--min-tokens", str(least), "--json").out)
        assert {row["problem_id"] for row in found} == kept
    unasked = json.loads(genbench("show", run, "sums", "--json").out)
    assert {row["completion_tokens"] for row in unasked} == {None}


def test_short_samples_are_left_out(genbench: Cli, out: Path) -> None:
    assert genbench("show", out / "base", "sums", "--min-tokens", "1", "--json").out == "[]\n"
    assert len(json.loads(genbench("show", out / "base", "sums", "--min-tokens", "0", "--json").out)) == 2
