"""Answers written to be hard: each commits clearly to the reference, or does not.

Every row is (response, reference). A response in ACCEPTED states the reference; one in REFUSED states
another value, several, a bound, or none.
"""

from __future__ import annotations

from typing import Any

import pytest

from genbench.types import OURS, Answer, Case, Finding, SampleId
from genbench.verifiers.math.verifier import MathVerifier
from tests.table import each_row
from tests.verifiers.math.crafted_rows import ACCEPTED, REFUSED

VERIFIER = MathVerifier()


def verify(text: str, reference: Any) -> Finding:
    return VERIFIER.verify(Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), reference))


def rows(table: dict[str, list[tuple[str, Any]]]) -> list[tuple[str, Any]]:
    return [row for group in table.values() for row in group]


def test_the_set_is_large_and_has_two_halves() -> None:
    accepted, refused = (sum(map(len, table.values())) for table in (ACCEPTED, REFUSED))
    assert min(accepted, refused) >= 120
    assert abs(accepted - refused) <= 0.15 * (accepted + refused)


@pytest.mark.slow
@each_row("text, reference", rows(ACCEPTED))
def test_an_answer_that_commits_clearly_is_accepted(text: str, reference: Any) -> None:
    finding = verify(text, reference)
    assert finding.score == 1, finding


@each_row("text, reference", rows(REFUSED))
def test_an_answer_that_commits_to_something_else_or_nothing_is_refused(text: str, reference: Any) -> None:
    finding = verify(text, reference)
    assert finding.score == 0, finding
    assert finding.reason not in OURS
