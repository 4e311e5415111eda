"""Answers of 100,000 characters that are made to be slow: every verifier of short answers is linear."""

from __future__ import annotations

import time
from typing import Any

import pytest

from genbench.protocols import Verifier
from genbench.types import Answer, Case, SampleId
from genbench.verifiers.choice.verifier import ChoiceVerifier
from genbench.verifiers.foreign.published_extraction import LastNumberVerifier
from genbench.verifiers.math.verifier import MathVerifier
from genbench.verifiers.structured.arc_grid import GridVerifier
from genbench.verifiers.structured.json_table import TableVerifier
from genbench.verifiers.text.exact import ExactVerifier
from genbench.verifiers.text.short_answer import ShortAnswerVerifier
from tests.table import each_row

pytestmark = pytest.mark.slow

SIZE = 100_000
UNITS = {
    "blanks": " ",
    "lines": "\n",
    "stars": "*",
    "quotes": '"',
    "dollars": "$",
    "digits": "9",
    "announcements": "Answer: ",
    "bold announcements": "**Answer",
    "words and marks": "answer a*b_c ",
    "sentences": "the answer is ",
    "words of an announcement": "answer w w w w w w w ",
    "open boxes": "\\boxed{",
    "open texts": "\\text{",
    "open braces": "{",
    "open objects": '{"a":',
    "small objects": '{"a"}',
    "open lists": "[",
    "rows": "[[1],",
    "more rows": "[1],",
    "lines of digits": "1 2\n",
    "brackets": ") ",
    "decimals": "1.",
    "denied": "not fox ",
    "second thoughts": "wait. ",
    "parts": "a;",
    "options": "(A) ",
    "withdrawals": "The answer is A. No, wait. Just kidding. ",
    "doubts": "I doubt that the answer is A. ",
    "crossed out": "~~A~~ <s>C</s> ",
    "lists of the options": "A) London\nB) Paris\n",
    "changes of mind": "No, it is A; no, it is C; ",
}
LIMIT_S = 4.0
"""CPU seconds. A quadratic rule takes minutes on such a text, a linear one well under a second."""
CASES: list[tuple[str, Verifier, Any]] = [
    ("choice", ChoiceVerifier(), {"letter": "B", "options": ["London", "Paris", "New York", "Rome"]}),
    (
        "stated",
        ExactVerifier("stated", ignore_case=True, ignore_punctuation=True, ignore_articles=True),
        "fox",
    ),
    ("contains", ExactVerifier("whole", match="contains", numbers=True), ["fox", "hen"]),
    ("f1", ExactVerifier("stated", match="f1"), [["fox", "hen"]]),
    ("final", ExactVerifier("final", numbers=True), "fox"),
    ("number", MathVerifier(relative_tolerance=0.01, units=True), "4.5e33"),
    ("last number", LastNumberVerifier(), {"number": "5", "prefix": "Answer"}),
    ("grid", GridVerifier(), [[1, 2], [3, 4]]),
    ("table", TableVerifier(), {"House 1": {"Name": "Eric"}}),
    ("option", ShortAnswerVerifier(), {"letter": "B", "options": ["x", "y"]}),
    ("brackets", ShortAnswerVerifier(), {"brackets": ") ]"}),
    ("words", ShortAnswerVerifier(), {"words": "a b"}),
]


@each_row("name, verifier, reference", CASES)
def test_no_text_takes_more_than_linear_time(name: str, verifier: Verifier, reference: Any) -> None:
    for unit, text in UNITS.items():
        answer = Answer(text * (SIZE // len(text)), "absent", "", False)
        start = time.process_time()
        finding = verifier.verify(Case(SampleId("t", "p", 0), (answer,), reference))
        assert time.process_time() - start < LIMIT_S, (name, unit)
        assert finding.score < 1, (name, unit)
