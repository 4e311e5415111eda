"""The seal of lines: independent of order, sensitive to everything that counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from genbench.store.seal import Seal, SealRecord, broken
from genbench.types import SampleId, Verdict
from tests.table import each_row

VERDICT = Verdict(
    sample=SampleId("t", "p", 0),
    score=1.0,
    status="correct",
    extracted="2",
    detail={},
    parts={},
    verifier="v",
    trace_status="absent",
    truncated=False,
)


def sealed(*verdicts: Verdict) -> SealRecord:
    seal = Seal()
    for verdict in verdicts:
        seal.add_verdict(verdict)
    return seal.record


def test_the_order_of_lines_does_not_change_the_seal() -> None:
    other = replace(VERDICT, sample=SampleId("t", "p", 1))
    assert sealed(VERDICT, other) == sealed(other, VERDICT)
    assert sealed(VERDICT, other).lines == 2


@each_row(
    "change",
    [
        {"score": 0.5},
        {"score": None},
        {"status": "wrong"},
        {"extracted": "3"},
        {"extracted": None},
        {"verifier": "w"},
        {"sample": SampleId("t", "p", 1)},
        {"sample": SampleId("t", "q", 0)},
    ],
)
def test_whatever_counts_changes_the_seal(change: dict[str, Any]) -> None:
    assert sealed(replace(VERDICT, **change)).digest != sealed(VERDICT).digest


def test_a_line_twice_is_not_a_line_less() -> None:
    assert sealed(VERDICT, VERDICT) != sealed(VERDICT)
    assert sealed().digest == "0" * 16


def test_what_differs_is_said_in_words() -> None:
    one, none = sealed(VERDICT), sealed()
    assert broken("verdicts", one, one) is None
    assert broken("verdicts", none, one) == (
        "verdicts.jsonl has 0 lines in force, results.json was made from 1"
    )
    edited = sealed(replace(VERDICT, score=0.0))
    assert "verdicts.jsonl has other contents" in (broken("verdicts", edited, one) or "")
