"""What recorded logs of evaluations mean, with swebench 5.0.2's own reports of them.

The logs are of pytest, unittest, go, cargo and node, which tested a small repository under several patches by
scripts that swebench 5.0.2 had made. benchmarks/agents/swebench_logs.py compares them with run_evaluation.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from genbench.agents.images.swe import Evaluated, Grader, outcome_of

LOGS = [
    json.loads(line)
    for line in Path(__file__).with_name("swebench_logs.jsonl").read_text(encoding="utf-8").splitlines()
]
PATCH = "diff --git a/calc.py b/calc.py\n"
RIGHT, WRONG, FAULT = (1.0, None), (0.0, None), (None, "verifier_error")
MEANING = {
    RIGHT: (
        *("gold", "unittest gold", "go gold", "rust gold", "node gold"),
        *("expected failure", "truncated parameter"),
        "conftest that reports passed",  # `deciding` of the sample names it
    ),
    WRONG: (
        *("empty", "unittest empty", "go empty", "rust empty", "node empty", "wrong", "breaks another test"),
        *("syntax error", "name error", "skipped", "timed out before the results", "timed out at import"),
        # what may be a fault or a bad patch: the known solution met no fault
        *("no test file", "test file that collects nothing", "missing package", "node without a module"),
    ),
    FAULT: (
        *("no network", "no folder", "no python", "out of memory at start", "killed for memory"),
        # nothing in the log tells these from a fault
        *("ends the process at import", "ends the process in a test", "segmentation fault"),
        *("conftest that prints passed", "prints the end marker", "go that does not compile"),
    ),
}


@pytest.fixture(params=LOGS, ids=[log["name"] for log in LOGS])
def log(request: pytest.FixtureRequest) -> dict[str, Any]:
    found: dict[str, Any] = request.param
    return found


def test_every_log_has_a_meaning() -> None:
    assert sorted(log["name"] for log in LOGS) == sorted(name for names in MEANING.values() for name in names)
    assert len(LOGS) >= 30


def test_a_log_means_what_happened(log: dict[str, Any]) -> None:
    evaluated = Evaluated(log["log"], 1800.0 if log["timed_out"] else 10.0, log["timed_out"])
    found = outcome_of(PATCH, evaluated, log["report"], proof_s=10)
    assert (found.score, found.status) == next(key for key, names in MEANING.items() if log["name"] in names)
    assert (found.score == 1) == log["report"]["resolved"]
    if log["timed_out"]:  # the known solution took long too
        found = outcome_of(PATCH, evaluated, log["report"], proof_s=1000)
        assert (found.score, found.status) == FAULT


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    found = Grader(Path(os.environ["GENBENCH_SWEBENCH"]))
    yield found
    found.close()


@pytest.mark.skipif(
    "GENBENCH_SWEBENCH" not in os.environ,
    reason="needs GENBENCH_SWEBENCH: a virtual environment with swebench 5",
)
def test_swebench_still_says_so(grader: Grader, log: dict[str, Any]) -> None:
    found = grader.report(row_of(log), PATCH, log["log"])
    assert {key: found.get(key) for key in log["report"]} == log["report"]


def row_of(log: dict[str, Any]) -> dict[str, Any]:
    """The row whose tests printed a log."""
    own = {key: log[key] for key in ("log_parser", "FAIL_TO_PASS", "PASS_TO_PASS")}
    return {
        "instance_id": "own__calc-1",
        "repo": "own/calc",
        "version": "1",
        "image": "own/calc:1",
        "eval_script": "true",
        "eval_type": "pass_and_fail",
        **own,
    }
