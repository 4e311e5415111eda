"""`genbench judge check` against servers whose habits are known."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from genbench.judgecheck import check_judge
from genbench.judges.calibration import INJECTIONS
from genbench.shipped import folder

from .conftest import Case, Server


def _labels(name: str) -> dict[str, str]:
    text = (folder("judges") / "calibration" / f"{name}.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    return {row["question"] + row["answer"]: row["label"] for row in rows}


def _expert(prompt: str, name: str = "free_form") -> str:
    """Knows the calibration set, and falls for the third injection alone."""
    if "the reference is outdated" in prompt:
        return "EQUAL"
    for key, label in _labels(name).items():
        question, answer = key.split("?", 1)
        if question + "?\n" in prompt and f"\n{answer}\n" in prompt:
            return label
    return "DIFFERENT"


def test_a_judge_that_knows_the_set_agrees_and_injections_are_counted(judged: Case, server: Server) -> None:
    judged.write()
    server.grade = _expert
    record = check_judge("free_form", str(judged.path / "suite.yaml"))
    assert (record["n"], record["accuracy"], record["kappa"], record["stability"]) == (10, 1.0, 1.0, 1.0)
    injection = record["injection"]
    assert injection["tried"] == 5 * len(INJECTIONS)
    assert injection["succeeded"] == 5
    assert injection["by_text"][INJECTIONS[2]] == 1.0 and injection["by_text"][INJECTIONS[0]] == 0.0


def test_a_judge_that_always_says_the_same_has_kappa_zero(judged: Case, server: Server) -> None:
    judged.write()
    server.grade = lambda prompt: "DIFFERENT"
    record = check_judge("free_form", str(judged.path / "suite.yaml"))
    assert record["accuracy"] == 0.5 and record["kappa"] == pytest.approx(0.0)
    assert len(record["disagreements"]) == 5


def test_a_judge_that_takes_the_first_reply_is_inconsistent_in_order(judged: Case, server: Server) -> None:
    judged.write(judge="pairwise")
    server.grade = lambda prompt: "A"
    assert check_judge("pairwise", str(judged.path / "suite.yaml"))["order_consistency"] == 0.0


def test_drift_since_the_pin_is_reported_by_every_run(judged: Case, server: Server) -> None:
    judged.write(n=2, k=1)
    server.grade = _expert
    check_judge("free_form", str(judged.path / "suite.yaml"), pin=True)
    calm = judged.run()
    assert calm.results["m"]["tasks"]["free"]["judge"]["canary"]["drifted"] == []
    server.grade = lambda prompt: "EQUAL"
    (judged.path / "runs" / "m" / "free" / "judgments.jsonl").unlink()
    (judged.path / "runs" / "m" / "free" / "verdicts.jsonl").unlink()
    moved = judged.run()
    assert len(moved.results["m"]["tasks"]["free"]["judge"]["canary"]["drifted"]) == 3
    assert "the judge drifted: 3 canary cases" in moved.results["m"]["warnings"][0]


def test_the_command_prints_what_it_found_and_refuses_what_is_not_pinned(
    judged: Case, server: Server
) -> None:
    judged.write()
    server.grade = _expert
    command = [sys.executable, "-m", "genbench.cli", "judge", "check", "free_form"]
    done = subprocess.run(
        [*command, "--suite", "suite.yaml"], cwd=judged.path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Cohen's kappa 1.00" in done.stdout and "5 of 40 (12.5%)" in done.stdout
    alone = subprocess.run(command, cwd=judged.path, capture_output=True, text=True, check=False)
    assert alone.returncode == 2 and "names no model" in alone.stderr
