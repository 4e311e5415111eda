"""BigCodeBench: what its rows ask in each form, and the own solutions of public rows in their environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from genbench import registry
from genbench.data.hub import load_rows
from genbench.errors import DataError
from genbench.protocols import Row
from genbench.types import Answer, Case, SampleId
from genbench.verifiers.unittests import UnittestVerifier
from tests.tasks.test_references_programs import unittest_row

VARIABLE = "GENBENCH_BIGCODEBENCH"
"""The folder that `make bigcodebench` makes."""
ENVIRONMENT = os.environ.get(VARIABLE, "")
needs_environment = pytest.mark.skipif(
    not ENVIRONMENT, reason=f"{VARIABLE} names no environment; `make bigcodebench` makes one, of 3 GB"
)
"""`make test` does not install 3 GB. tests/sandbox/test_unittests.py shows the same in small."""
LOCK = Path(__file__).parents[2] / "requirements" / "bigcodebench.txt"
OFFLINE = {"BigCodeBench/101", "BigCodeBench/1012"}
"""Rows of every third of the 148 whose tests want the network: a data set, and a file of a shared drive."""


def asked(form: str = "complete") -> tuple[str, Row]:
    task = registry.load("task", "bigcodebench")(form=form)
    (problem,) = task.problems([unittest_row("twice", 8)])
    ask = task.ask(problem, 0, ())
    return ask.messages[-1].content, ask.reference


def test_each_form_asks_with_its_own_prompt() -> None:
    complete, reference = asked()
    assert '```python\nimport numpy\ndef twice(x):\n    """Change x."""\n' in complete
    assert "Change x. Start with:" not in complete
    instruct, same = asked("instruct")
    assert instruct.startswith("Change x. Start with:")
    assert instruct.endswith("in one code block.")
    assert reference == same
    assert reference["libraries"] == ["numpy"]
    assert reference["before"] == "import numpy\ndef twice(x):\n"
    assert reference["solution"].endswith('"""Change x."""\n    return x\n')


def test_the_hard_rows_are_another_dataset_and_each_choice_another_version() -> None:
    make = registry.load("task", "bigcodebench")
    full, hard, instruct = make(), make(rows="hard"), make(form="instruct", rows="hard")
    assert (full.info.dataset.repo, full.info.dataset.rows) == ("bigcode/bigcodebench", 1140)
    assert (hard.info.dataset.repo, hard.info.dataset.rows) == ("bigcode/bigcodebench-hard", 148)
    assert len({task.info.version for task in (full, hard, instruct)}) == 3
    assert full.info.metrics == ("avg@k", "pass@k")


def test_libraries_that_are_no_list_are_refused() -> None:
    task = registry.load("task", "bigcodebench")()
    with pytest.raises(DataError, match="libs is 'numpy', wanted a list"):
        task.read_rows([{**unittest_row("twice", 8), "libs": "numpy"}])


@pytest.fixture(scope="module")
def verifier() -> UnittestVerifier:
    return UnittestVerifier({"python": ENVIRONMENT, "lock": str(LOCK)}, calibrated=True)


@pytest.fixture
def cases(shared: Path) -> list[Case]:
    """Every third row of the public Hard set, with its own solution as the answer."""
    task = registry.load("task", "bigcodebench")(rows="hard", release="v0.1.0_hf")
    rows, _ = load_rows(task.info.dataset, shared / "data" / "hub")
    found = []
    for problem in task.problems(rows)[::3]:
        reference = task.ask(problem, 0, ()).reference
        answer = Answer(f"```python\n{reference['solution']}\n```", "absent", "", False)
        found.append(Case(SampleId("bigcodebench", problem.problem_id, 0), (answer,), reference))
    assert len(found) == 50
    return found


@pytest.mark.gold
@pytest.mark.slow
@needs_environment
def test_own_solutions_pass_and_do_so_each_time(verifier: UnittestVerifier, cases: list[Case]) -> None:
    for case in cases:
        verifier.check(case.reference)
    scores = [{case.sample.problem_id: verifier.verify(case).score for case in cases} for _ in range(3)]
    assert scores[0] == scores[1] == scores[2]
    assert {name for name, score in scores[0].items() if score != 1.0} == OFFLINE


@pytest.mark.gold
@pytest.mark.slow
@needs_environment
def test_a_function_that_returns_none_fails_each_row(verifier: UnittestVerifier, cases: list[Case]) -> None:
    passed = set()
    for case in cases:
        text = f"```python\n{case.reference['before']}\n    return None\n```"
        answer = Answer(text, "absent", "", False)
        if verifier.verify(Case(case.sample, (answer,), case.reference)).score:
            passed.add(case.sample.problem_id)
    assert not passed
