"""Numbers with words, assignments, complex numbers, repeating decimals, sets and corrections.

The rows are in numbers_in_words/. A line is a reference, an arrow and a response.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.types import OURS, Answer, Case, Finding, SampleId
from genbench.verifiers.math.verifier import MathVerifier
from tests.table import each_row

VERIFIER = MathVerifier()
FOLDER = Path(__file__).with_name("numbers_in_words")


def rows_of(name: str) -> list[tuple[str, str]]:
    """Read the (reference, response) pairs of a file."""
    lines = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split(" <- ") for line in lines if not line.startswith("#")]
    return [(reference, response) for reference, response in pairs]


def verify(response: str, reference: str) -> Finding:
    answer = Answer(response, "absent", "", False)
    return VERIFIER.verify(Case(SampleId("t", "p", 0), (answer,), reference))


@each_row("reference, response", rows_of("credited"))
def test_a_value_that_is_stated_in_words_is_credited(reference: str, response: str) -> None:
    assert verify(response, reference).score == 1


@pytest.mark.slow
@each_row("reference, response", rows_of("refused"))
def test_a_number_whose_words_make_it_another_value_is_refused(reference: str, response: str) -> None:
    finding = verify(response, reference)
    assert finding.score == 0
    assert finding.reason not in OURS
