"""run, score, merge and prompts with ready responses: what is printed, where, and the exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Outcome, ready_suite

Cli = Callable[..., Outcome]
RUN = ("run", "suite.yaml", "--responses", "r.jsonl", "--run-dir", "out")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A suite of four problems; every second response is right."""
    ready_suite(tmp_path, "exact", 4, lambda problem, sample: str(problem if sample else "none"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_a_run_prints_its_table_and_its_report(genbench: Cli, place: Path) -> None:
    outcome = genbench(*RUN)
    assert outcome.code == 0
    row = next(line for line in outcome.out.splitlines() if line.startswith("m "))
    assert "avg@2" in row and "50.0" in row and "4 x 2" in row
    assert outcome.out.splitlines()[-1] == "report: out/m/report.html"
    assert (place / "out/m/report.html").is_file()


@pytest.mark.slow
def test_json_has_stdout_to_itself_and_the_report_goes_to_stderr(genbench: Cli, place: Path) -> None:
    outcome = genbench(*RUN, "--json")
    record = json.loads(outcome.out)
    assert record["folders"] == {"m": "out/m"}
    assert record["models"]["m"]["tasks"]["mine"]["value"] == 0.5
    assert "report: out/m/report.html" in outcome.err


@pytest.mark.slow
def test_a_second_run_draws_nothing_and_prints_the_same(genbench: Cli, place: Path) -> None:
    first = json.loads(genbench(*RUN, "--json").out)
    again = json.loads(genbench(*RUN, "--json").out)
    assert again["models"]["m"]["totals"]["drawn_now"] == 0
    assert again["models"]["m"]["tasks"] == first["models"]["m"]["tasks"]


@pytest.mark.slow
def test_a_limit_takes_a_subset_of_the_problems(genbench: Cli, place: Path) -> None:
    record = json.loads(genbench(*RUN, "--limit", "2", "--json").out)
    task = record["models"]["m"]["tasks"]["mine"]
    assert (task["n"], task["of"]) == (2, 4)


@pytest.mark.slow
def test_score_verifies_again_and_writes_the_same_results(genbench: Cli, place: Path) -> None:
    first = json.loads(genbench(*RUN, "--json").out)["models"]["m"]["tasks"]["mine"]
    (place / "out/m/mine/verdicts.jsonl").unlink()
    scored = json.loads(genbench("score", "out/m", "--json").out)["models"]["m"]["tasks"]["mine"]
    assert scored["value"] == first["value"]
    assert genbench("score", "out/m", "--again").code == 0


@pytest.mark.slow
def test_a_run_with_too_many_excluded_samples_exits_1(genbench: Cli, place: Path) -> None:
    lines = [json.loads(line) for line in (place / "r.jsonl").read_text().splitlines()]
    lines[0] |= {"text": "", "finish_reason": "error"}
    (place / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    outcome = genbench(*RUN)
    assert outcome.code == 1
    assert "FAILED" in outcome.out and "excluded" in outcome.out


@pytest.mark.slow
def test_shards_are_merged_into_the_run_of_all_problems(genbench: Cli, place: Path) -> None:
    whole = json.loads(genbench(*RUN, "--json").out)["models"]["m"]["tasks"]["mine"]
    for part in ("1/2", "2/2"):
        made = genbench("run", "suite.yaml", "--responses", "r.jsonl", "--run-dir", "parts", "--shard", part)
        assert made.code == 0
    merged = genbench("merge", "parts", "--json")
    task = json.loads(merged.out)["models"]["m"]["tasks"]["mine"]
    assert (merged.code, task["value"], task["n"]) == (0, whole["value"], whole["n"])


def test_a_shard_needs_both_numbers(genbench: Cli, place: Path) -> None:
    outcome = genbench(*RUN, "--shard", "2")
    assert outcome.code == 2
    assert "2" in outcome.err and "Traceback" not in outcome.err


def test_perplexity_without_a_model_says_what_is_lacking(genbench: Cli) -> None:
    outcome = genbench("perplexity", "wikitext")
    assert outcome.code == 2 and "--model PATH" in outcome.err
