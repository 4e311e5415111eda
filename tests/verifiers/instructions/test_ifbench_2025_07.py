"""The checkers of IFBench's paper, where the newest ones judge otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from genbench.verifiers.instructions import ifbench_variants
from genbench.verifiers.instructions.ifbench_variants import sentences_2025_07
from genbench.verifiers.instructions.verifier import Outcome
from tests.table import each_row

Judge = Callable[..., Outcome]

PLACE = {"keyword": "Fox", "n": 1, "m": 2}

ROWS: list[tuple[str, dict[str, Any], str, bool]] = [
    # id, kwargs, text, whether it followed in July 2025; the newest verdict is the other one
    ("count:person_names", {"N": 2}, "Emma knows Liamson.", True),
    ("count:pronouns", {"N": 3}, "This is what I need.", False),
    ("sentence:keyword", {"word": "fox", "N": 1}, "Foxes run.", True),
    ("words:keywords_specific_position", PLACE, "The fox runs.", False),
    ("words:words_position", {"keyword": "fox"}, "The fox, a fox ran.", False),
    ("repeat:repeat_change", {"prompt_to_repeat": "Say it."}, "Tell it.", False),
    (
        "repeat:repeat_span",
        {"prompt_to_repeat": "Tell me of the rain", "n_start": 1, "n_end": 3},
        "me of",
        True,
    ),
    ("format:title_case", {}, "A Tale a Day", True),
    ("format:quote_unquote", {}, "He said “no”", False),
]


@pytest.mark.parametrize(("instruction", "kwargs", "text", "followed"), ROWS)
def test_the_older_rule_judges_otherwise(
    judge: Judge, instruction: str, kwargs: dict[str, Any], text: str, followed: bool
) -> None:
    old, new = judge(instruction, kwargs, text, revision="2025-07"), judge(instruction, kwargs, text)
    assert (old.strict, new.strict) == (followed, not followed), (old.why, new.why)


def test_every_older_rule_stands_in_the_table() -> None:
    assert set(ifbench_variants.IFBENCH_2025_07) == {row[0] for row in ROWS}


def test_rules_that_did_not_change_read_the_older_sentences(judge: Judge) -> None:
    text = "We met Plan B. He left us."
    assert judge("sentence:increment", {"small_n": -1}, text).strict
    assert judge("sentence:increment", {"small_n": 2}, text, revision="2025-07").strict


@each_row(
    "text, sentences",
    [
        ("Mr. Fox ran. Dr. Who?", ["Mr. Fox ran.", "Dr. Who?"]),
        ("See example.com or 3.5 now! Yes", ["See example.com or 3.5 now!", "Yes"]),
        ("Wait... what", ["Wait...", "what"]),
        ("A Ph.D. thesis. Good", ["A Ph.D. thesis.", "Good"]),
        ("The U.S. He left.", ["The U.S.", "He left."]),
        ("The U.S. army left.", ["The U.S. army left."]),
        ("Acme Inc. He left.", ["Acme Inc", "He left."]),
        ("Acme Inc. is here.", ["Acme Inc. is here."]),
        ("Plan B. and J. Bach.", ["Plan B. and J. Bach."]),
        ('He said "stop." Then', ['He said "stop".', "Then"]),
        ("He said “stop.” Then", ["He said “stop”.", "Then"]),
        ('"Who?" he said', ['"Who"?', "he said"]),
        ("One\ntwo.  \n", ["One two."]),
    ],
)
def test_the_older_splitter_keeps_abbreviations_and_moves_marks_out_of_quotes(
    text: str, sentences: list[str]
) -> None:
    assert sentences_2025_07(text) == sentences
