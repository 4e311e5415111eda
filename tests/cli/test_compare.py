"""compare, estimate, power and noise as commands: exit codes, JSON on stdout, messages on stderr."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.ready_runs import RIGHT, WRONG, MakeRun

from .conftest import Outcome

Cli = Callable[..., Outcome]
SUITE = """\
models:
  base: {path: ./nowhere}
  tuned: {path: ./nowhere-else}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - name: sums
    kind: math
    data: {path: rows.jsonl, fields: {id: id, question: problem, reference: answer}}
    prompt: "{question}"
    k: 2
    gating: true
"""


def scores(path: Path, right: int, n: int = 60, task: str = "t") -> Path:
    path.write_text(
        "".join(
            json.dumps({"task": task, "problem_id": str(i), "sample_index": 0, "score": float(i < right)})
            + "\n"
            for i in range(n)
        )
    )
    return path


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    monkeypatch.chdir(tmp_path)
    return str(scores(tmp_path / "base.jsonl", 50)), str(scores(tmp_path / "tuned.jsonl", 30))


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a suite and the runs of both its models, made from ready responses."""
    from genbench.pipeline import RunOptions, run

    place = tmp_path_factory.mktemp("runs")
    (place / "suite.yaml").write_text(SUITE)
    rows = [{"id": f"p{i}", "problem": f"{i}+1?", "answer": str(i + 1)} for i in range(20)]
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for model, shift in (("base", 2), ("tuned", 1)):
        lines = [
            {
                "task": "sums",
                "problem_id": f"p{i}",
                "sample_index": j,
                "text": f"\\boxed{{{i + (j or shift)}}}",
            }
            for i in range(20)
            for j in range(2)
        ]
        (place / f"{model}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        run(
            RunOptions(
                suite=str(place / "suite.yaml"),
                models=(model,),
                run_dir=place / "out",
                responses=place / f"{model}.jsonl",
                quiet=True,
            )
        )
    return place


@pytest.fixture
def place(drawn: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(drawn, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def test_without_a_gate_a_regression_exits_0(genbench: Cli, files: tuple[str, str]) -> None:
    outcome = genbench("compare", *files)
    assert (outcome.code, outcome.err) == (0, "")
    assert "t: 83.3 -> 50.0 (-33.3, 95% CI [" in outcome.out
    assert "REGRESSED" in outcome.out


def test_the_gate_exits_1_for_a_regression_and_0_for_a_gain(genbench: Cli, files: tuple[str, str]) -> None:
    base, tuned = files
    assert genbench("compare", base, tuned, "--gate").code == 1
    swapped = genbench("compare", tuned, base, "--gate", "--strict")
    assert swapped.code == 0
    assert "IMPROVED" in swapped.out


def test_strict_exits_1_for_an_inconclusive_task(genbench: Cli, files: tuple[str, str]) -> None:
    base, _ = files
    copy = shutil.copy(base, f"{base}.copy.jsonl")
    assert genbench("compare", base, copy, "--gate").code == 0
    assert genbench("compare", base, copy, "--gate", "--strict").code == 1


def test_a_gate_between_a_run_and_itself_is_not_passed(genbench: Cli, files: tuple[str, str]) -> None:
    base, _ = files
    asked = genbench("compare", base, base, "--gate")
    assert asked.code == 2 and "are one run" in asked.err and asked.out == ""
    shown = genbench("compare", base, base)
    assert shown.code == 0 and "both sides are one run" in shown.out


def test_json_is_all_there_is_on_stdout_and_tells_the_exit_code(
    genbench: Cli, files: tuple[str, str]
) -> None:
    outcome = genbench("compare", *files, "--gate", "--json")
    record = json.loads(outcome.out)
    assert (outcome.code, record["exit_code"]) == (1, 1)
    task = record["tasks"]["t"]
    assert task["difference"] == pytest.approx(-1 / 3)
    assert {
        "ci",
        "p_two_sided",
        "p_regression",
        "p_regression_adjusted",
        "mde",
        "n",
        "k_base",
        "k_tuned",
    } <= set(task)
    assert {"pooled_difference", "ci", "p_regression", "verdict"} <= set(record["suite"])


def test_what_cannot_be_compared_exits_3_with_the_difference(genbench: Cli, files: tuple[str, str]) -> None:
    base, tuned = files
    scores(Path(tuned), 30, n=50)
    outcome = genbench("compare", base, tuned)
    assert (outcome.code, outcome.out) == (3, "")
    assert "problems.t: 10 of 60 only in base (50, 51, 52, ...)" in outcome.err
    allowed = genbench("compare", base, tuned, "--allow", "problems")
    assert allowed.code == 0
    assert "let through: problems.t: 10 of 60 only in base" in allowed.out


MISTAKES: dict[str, tuple[tuple[str, ...], str]] = {
    "no such file": (("compare", "base.jsonl", "no.jsonl"), "no.jsonl: no such file or folder"),
    "strict alone": (("compare", "base.jsonl", "tuned.jsonl", "--strict"), "--strict goes with --gate"),
    "unknown gating task": (("compare", "base.jsonl", "tuned.jsonl", "--gating", "u"), "--gating u"),
    "margin without a number": (("compare", "base.jsonl", "tuned.jsonl", "--margin", "t"), "TASK=POINTS"),
    "margin of an unknown task": (("compare", "base.jsonl", "tuned.jsonl", "--margin", "u=3"), "--margin u"),
    "unknown difference": (("compare", "base.jsonl", "tuned.jsonl", "--allow", "term"), "mean 'terms'"),
    "noise of a file": (("noise", "base.jsonl", "tuned.jsonl"), "not a run folder"),
    "unknown treatment": (
        ("compare", "base.jsonl", "tuned.jsonl", "--treatment", "quantisation"),
        "did you mean 'quantization'",
    ),
    "card without a treatment": (("compare", "base.jsonl", "tuned.jsonl", "--card", "c"), "--treatment"),
    "drift of a file": (("drift", "base.jsonl", "variant"), "not a run folder"),
    "one side": (("compare", "base.jsonl"), "wanted two, found 1"),
    "metrics of nothing": (("metrics", "no"), "no: no such file or folder"),
    "power of no suite": (("power", "no.yaml"), "no.yaml"),
    "drop of nothing": (("power", "quickstart", "--detect", "0"), "--detect 0"),
    "a track without nights": (("power", "quickstart", "--track", "t"), "--track: goes with --nights"),
    "a ledger without a track": (("power", "quickstart", "--ledger", "l"), "--ledger: goes with --track"),
    "a track of no ledger": (
        ("power", "quickstart", "--nights", "7", "--track", "t", "--ledger", "no.sqlite3"),
        "no.sqlite3: no ledger; make one with",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_bad_input_exits_2_with_a_message(genbench: Cli, files: tuple[str, str], mistake: str) -> None:
    arguments, part = MISTAKES[mistake]
    outcome = genbench(*arguments)
    assert (outcome.code, outcome.out) == (2, ""), outcome
    assert part in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.slow
def test_two_runs_compare_with_their_suites_gating(genbench: Cli, place: Path) -> None:
    outcome = genbench("compare", "out/base", "out/tuned", "--gate")
    assert outcome.code == 0
    assert "sums: 50.0 -> 100.0 (+50.0" in outcome.out
    assert "50.0 points of it from fewer wrong answers" in outcome.out
    back = genbench("compare", "out/tuned", "out/base", "--gate")
    assert back.code == 1
    assert "suite: REGRESSED" in back.out


def test_estimate_prints_both_intervals_or_json(genbench: Cli, place: Path) -> None:
    text = genbench("metrics", "out/base").out
    assert "sums avg@2 = 50.0 (95% CI [" in text
    assert "A re-run on these questions: [" in text
    task = json.loads(genbench("metrics", "out/base", "--json").out)["tasks"]["sums"]
    assert (task["n"], task["k"], task["metric"], task["value"]) == (20, 2, "avg@2", 0.5)


def test_power_needs_no_model(genbench: Cli, place: Path) -> None:
    outcome = genbench("power", "suite.yaml", "--detect", "3", "--json")
    task = json.loads(outcome.out)["tasks"]["sums"]
    assert (outcome.code, task["n"], task["k_tuned"], task["finds"]) == (0, 20, 2, False)
    with_base = genbench("power", "suite.yaml", "--base", "out/base")
    assert "measured: 20 problems x 2" in with_base.out


def test_noise_refuses_one_seed_and_other_models(genbench: Cli, place: Path) -> None:
    outcome = genbench("noise", "out/base", "out/tuned")
    assert outcome.code == 3
    assert "model: responses:" in outcome.err
    assert "run_seed: 0 in both" in outcome.err
    measured = genbench("noise", "out/base", "out/tuned", "--allow", "model", "--same-seed", "--json")
    record = json.loads(measured.out)
    assert record == json.loads((place / "out/base/noise.json").read_text())
    assert record["tasks"]["sums"]["changed_samples"] == 0.5


def test_a_treatment_is_decided_by_recovery_and_written_as_a_card(
    genbench: Cli, files: tuple[str, str]
) -> None:
    outcome = genbench("compare", *files, "--treatment", "quantization", "--gate", "--card", "card")
    assert outcome.code == 1
    assert outcome.out.startswith("tuned.jsonl recovers 60.0 % of base.jsonl [")
    assert "on t: REGRESSED, a drop is shown in t (lower bound" in outcome.out
    assert "| t | 83.3 | 50.0 | 60.0 % [" in Path("card.md").read_text()
    assert json.loads(Path("card.json").read_text())["variant"]["verdict"] == "REGRESSED"


def test_replies_that_no_engine_drew_have_no_drift(genbench: Cli, place: Path) -> None:
    outcome = genbench("drift", "out/base", "suite.yaml")
    assert (outcome.code, outcome.out) == (2, "")
    assert "out/base: no reply of an engine to score" in outcome.err
    assert "no task 'sum'" in genbench("drift", "out/base", "suite.yaml", "--task", "sum").err
    assert list((place / "out" / "base").glob("drift.*")) == []


def test_the_table_of_several_runs_is_a_page_or_csv_by_its_name(
    genbench: Cli, make_run: MakeRun, tmp_path: Path
) -> None:
    runs = [make_run(name, lambda _: [RIGHT, WRONG] * 2, n=20) for name in ("a", "b", "c")]
    assert genbench("compare", *runs, "-o", tmp_path / "t.csv").code == 0
    assert genbench("compare", *runs, "-o", tmp_path / "t.html").code == 0
    assert (tmp_path / "t.csv").read_text().startswith("run,path,task,part")
    assert (tmp_path / "t.html").read_text().startswith("<!doctype html>")
    refused = genbench("compare", *runs, "-o", tmp_path / "t.xlsx")
    assert refused.code == 2 and ".csv or .html" in " ".join(refused.err.split())
    assert not (tmp_path / "t.xlsx").exists()
