"""What an evaluation of a patch means."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.agents.images.swe import Evaluated, as_problem, deciding_paths, outcome_of
from genbench.errors import DataError

RAN: dict[str, Any] = {"patch_successfully_applied": True, "resolved": False}
NONE: dict[str, Any] = {"patch_successfully_applied": False, "resolved": False, "infra_failure": False}
LOG = Evaluated("log", 10.0)


@pytest.mark.parametrize(
    ("evaluated", "report", "proof_s", "score", "status"),
    [
        (LOG, {**RAN, "resolved": True}, 10, 1.0, None),
        (LOG, RAN, 10, 0.0, None),
        (Evaluated(None), {}, 10, 0.0, None),
        (Evaluated("log", 1800.0, timed_out=True), RAN, 899, 0.0, None),
        (Evaluated("log", 1800.0, timed_out=True), NONE, 901, None, "verifier_error"),
        (LOG, NONE, 10, None, "verifier_error"),
        (
            LOG,
            {**NONE, "infra_failure": True, "infra_failure_reason": "out_of_memory"},
            10,
            None,
            "verifier_error",
        ),
        (LOG, {**NONE, "infra_failure_reason": "missing_module"}, 10, 0.0, None),
        (LOG, {**NONE, "infra_failure_reason": "no_tests_collected"}, 10, 0.0, None),
    ],
)
def test_a_fault_is_never_a_zero(
    evaluated: Evaluated, report: dict[str, Any], proof_s: float, score: float | None, status: str | None
) -> None:
    found = outcome_of("diff --git a/x.py b/x.py\n", evaluated, report, proof_s=proof_s)
    assert (found.score, found.status) == (score, status)


def test_files_that_decide_how_tests_run_are_named() -> None:
    names = (
        "tests/conftest.py",
        "setup.cfg",
        "a/pytest.ini",
        "sitecustomize.py",
        "lib/x.pth",
        "pyproject.toml",
    )
    for name in names:
        assert deciding_paths(f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n") == [name]
    assert deciding_paths(
        "diff --git a/old.py b/conftest.py\nrename from old.py\nrename to conftest.py\n"
    ) == ["conftest.py"]
    assert deciding_paths("diff --git a/my_conftest.py b/my_conftest.py\n+conftest.py\n") == []


def test_rows_of_older_revisions_are_refused() -> None:
    with pytest.raises(DataError, match=r"a__b-1: no image, eval_script.*take a revision"):
        as_problem({"instance_id": "a__b-1", "problem_statement": "x", "repo": "a/b", "version": "1"})
