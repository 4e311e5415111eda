"""Verdicts by unittest classes: which program of an answer is run, and what is refused before a run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import ConfigError, DataError, UnavailableError
from genbench.suite.suitefile import read_suite
from genbench.tasks.factory import with_folders
from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.pool.process import VerifierSpec, refused_text
from genbench.verifiers.unittests import UnittestVerifier, program_of
from tests.table import each_row

OWN = {"python": sys.prefix}
TESTS = """
import unittest
class TestCases(unittest.TestCase):
    def test_it(self):
        self.assertEqual(twice(4), 8)
"""
REFERENCE = {"tests": TESTS, "entry_point": "twice", "before": "import numpy\ndef twice(x):\n"}
WRONG = "def twice(x):\n    return 3 * x\n"
PLAIN, BARE = "def twice(x):\n    return 2 * x\n", "def twice(x):\n    return int(numpy.multiply(2, x))\n"


@pytest.fixture(scope="module")
def verifier() -> Iterator[UnittestVerifier]:
    found = UnittestVerifier(OWN, calibrated=True)
    yield found
    found.close()


def verify(verifier: UnittestVerifier, text: str, reference: Any = REFERENCE) -> Finding:
    return verifier.verify(Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), reference))


@each_row(
    "text, wanted",
    [
        (f"```python\n{PLAIN}```", PLAIN),
        (f"So:\n```python\n{PLAIN}```\nFor example:\n```python\nprint(twice(2))\n```\n", PLAIN),
        (f"```\n{WRONG}```\nBetter:\n```py\n{PLAIN}```", PLAIN),
        ("```python\nx = 1\n```", "x = 1\n"),
        (PLAIN, PLAIN),
        ("It doubles x.", None),
        ("```\n\n```", None),
        ("", None),
    ],
)
def test_the_last_block_that_defines_the_function_is_the_program(text: str, wanted: str | None) -> None:
    assert program_of(text, "twice") == wanted


@pytest.mark.slow
def test_an_answer_is_right_by_its_tests(verifier: UnittestVerifier) -> None:
    verifier.check(REFERENCE)
    found = verify(verifier, f"```python\n{PLAIN}```")
    assert (found.score, found.detail["forgeable"], found.detail["tests"]) == (1.0, True, 1)
    assert verify(verifier, "I do not know.").reason == "no_code"
    wrong = verify(verifier, f"```python\n{WRONG}```")
    assert (wrong.score, wrong.reason) == (0.0, "wrong")
    assert "12 != 8" in wrong.detail["why"]


@pytest.mark.slow
def test_calibrated_programs_have_the_imports_of_the_prompt(verifier: UnittestVerifier) -> None:
    assert verify(verifier, f"```python\n{BARE}```").score == 1.0
    plain = UnittestVerifier(OWN)
    assert verify(plain, f"```python\n{BARE}```").score == 0.0
    assert "calibrated" in verifier.version
    assert "calibrated" not in plain.version


@pytest.mark.slow
def test_missing_libraries_are_all_named_before_a_run() -> None:
    own = UnittestVerifier(OWN, libraries=["numpy", "no_such_one", "os"])
    with pytest.raises(DataError, match="lacks no_such_one, no_such_other"):
        own.check({**REFERENCE, "libraries": ["numpy.linalg", "json", "no_such_other"]})
    # An environment that lacks what all tests need says so once.
    with pytest.raises(DataError) as error:
        own.check(REFERENCE)
    reasons = dict.fromkeys(["a", "b"], str(error.value))
    assert refused_text(reasons).startswith("2 references cannot be used: the environment")


@pytest.mark.slow
def test_a_row_whose_own_solution_fails_is_unavailable() -> None:
    own = UnittestVerifier(OWN, own_solutions=2)
    own.check({**REFERENCE, "solution": PLAIN})
    own.check(REFERENCE)
    with pytest.raises(UnavailableError, match=r"its own solution .* 12 != 8"):
        own.check({**REFERENCE, "solution": WRONG})
    flaky = "import os, random\nrandom.seed()\ndef twice(x):\n    return random.choice([2 * x, 0])\n"
    with pytest.raises(UnavailableError):
        UnittestVerifier(OWN, own_solutions=40).check({**REFERENCE, "solution": flaky})


@each_row(
    "options, words",
    [
        ({}, "environment is missing"),
        ({"environment": OWN, "tier": "c"}, "valid: a, b"),
        ({"environment": OWN, "wall_s": 0}, "wall_s is 0"),
        ({"environment": OWN, "calibrated": "yes"}, "want true or false"),
        ({"environment": OWN, "own_solutions": -1}, "want a number from 0"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        UnittestVerifier(**options)


@each_row(
    "reference, words",
    [
        ("tests", "want a mapping"),
        ({**REFERENCE, "tets": ""}, "no 'tets'.*tests"),
        ({**REFERENCE, "before": 1}, "before is 1"),
        ({**REFERENCE, "tests": "x = 1"}, "no class TestCases"),
    ],
)
def test_references_that_cannot_be_used_are_refused(reference: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        UnittestVerifier(OWN).check(reference)


def test_a_missing_environment_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="no such folder"):
        _ = UnittestVerifier({"python": str(tmp_path / "none")}).version


def test_the_place_of_an_environment_is_no_part_of_what_verdicts_carry(verifier: UnittestVerifier) -> None:
    here, there = (VerifierSpec("unittest", {"environment": {"python": place}}) for place in ("/a", "/b"))
    assert here.digest("v") == there.digest("v")
    assert here.digest("v") != here.digest("w")
    calibrated = VerifierSpec("unittest", {"environment": {"python": "/a"}, "calibrated": True})
    assert calibrated.digest("v") != here.digest("v")
    assert "distributions" in verifier.version


def test_paths_of_an_environment_are_those_of_the_suite(tmp_path: Path) -> None:
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        "models: {m: {path: x}}\ntasks:\n  - task: bigcodebench\n"
        "    verifier: {environment: {python: libraries, lock: lock.txt}}\n"
        "  - {task: bigcodebench, name: b, verifier: {environment: {python: /x, lock: DIGEST}}}\n".replace(
            "DIGEST", "ab" * 32
        )
    )
    loaded = read_suite(suite)
    first, second = (with_folders(loaded, entry).verifier["environment"] for entry in loaded.config.tasks)
    assert first == {"python": str(tmp_path / "libraries"), "lock": str(tmp_path / "lock.txt")}
    assert second == {"python": "/x", "lock": "ab" * 32}
