"""What mode `fixed` judges otherwise than the official code: one text for each defect that it mends."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any

import pytest

from genbench.errors import ConfigError
from genbench.verifiers.instructions import ifbench_variants, ifeval_variants
from genbench.verifiers.instructions.accuracies import DEFECTS, UNMENDED
from genbench.verifiers.instructions.rulebook import Rulebook
from genbench.verifiers.instructions.verifier import Outcome
from tests.table import each_row

Judge = Callable[..., Outcome]

CAPITALS = "PLEASE CALL ME WHEN THE NEXT TRAIN TO THE COAST IS LEAVING."
ALPHABET = [f"{letter}nts ran." for letter in string.ascii_uppercase]
FIVE = {f"keyword{place}": word for place, word in enumerate(("art", "b", "c", "d", "e"), 1)}
ORDER = {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "rain"}

ROWS: list[tuple[str, dict[str, Any], str, bool]] = [
    # id, kwargs, text, whether it follows under `fixed`; the official verdict is the other one
    ("keywords:existence", {"keywords": ["cat"]}, "Concatenate.", False),
    ("keywords:existence", {"keywords": ["c.t"]}, "A cat.", False),
    ("keywords:frequency", {"keyword": "sea", "frequency": 2, "relation": "at least"}, "A sea seal.", False),
    ("keywords:forbidden_words", {"forbidden_words": ["c.t"]}, "A cat.", True),
    ("language:response_language", {"language": "de"}, "12 : 34", False),
    ("change_case:english_capital", {}, CAPITALS, True),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 3, "relation": "less than"},
        "1. Run far.\n2. Rest.",
        True,
    ),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "a ***b*** c\n***\nd", True),
    ("length_constraints:nth_paragraph_first_word", ORDER, "One.\n\n\n\nRain falls.", True),
    ("length_constraints:nth_paragraph_first_word", ORDER, "One.\n\n**“Rain”** falls.", True),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, "The P.S. came first.", False),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, "Bye.\nP.P.S. More", False),
    ("detectable_format:number_bullet_lists", {"num_bullets": 1}, "* one\n\n---\n-5 degrees", True),
    ("detectable_format:number_bullet_lists", {"num_bullets": 1}, "* one\n\n* * *", True),
    ("detectable_format:constrained_response", {}, "My answer is no. Or not.", False),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 2}, "***x***", False),
    ("detectable_format:multiple_sections", {"section_spliter": "P.", "num_sections": 1}, "Po 1", False),
    ("detectable_format:json_format", {}, "12", False),
    ("detectable_format:json_format", {}, '{"a": NaN}', False),
    ("count:conjunctions", {"small_n": 3}, "and And, so", False),
    ("ratio:overlap", {"reference_text": "a b c x y z", "percentage": 50}, "a b c d", True),
    ("ratio:sentence_words", {}, "A fox. A dog. A cat.", False),
    ("format:quote_unquote", {}, "He said “no”", False),
    ("format:line_indent", {}, "a\n\n\n b", True),
    ("format:list", {"sep": "-"}, "a well-known, far-off place", False),
    ("format:options", {"options": "A / B / C"}, "B\n", True),
    ("format:thesis", {}, "<em>I claim.</em>", False),
    ("format:sub-bullets", {}, "No bullets.", False),
    ("format:no_bullets_bullets", {}, "One. Two.\n\n* a\n\n* b", True),
    ("format:no_bullets_bullets", {}, "One! Two!\n* a\n* b", False),
    (
        "repeat:repeat_span",
        {"prompt_to_repeat": "Tell me of the rain", "n_start": 1, "n_end": 2},
        "me of",
        True,
    ),
    ("custom:date_format_list", {}, "1800-00-10", False),
    ("custom:sentence_alphabet", {}, f'"{ALPHABET[0]}" {" ".join(ALPHABET[1:])}', True),
    ("words:words_position", {"keyword": "rain"}, 'Some rain fell, much rain today!"', True),
    ("count:keywords_multiple", FIVE, "start: a art, b b, c c c, d d d d d, e e e e e e e", True),
    ("ratio:sentence_type", {}, 'She said "I am here." He said "I am too." Is it late?', True),
    ("ratio:sentence_balance", {}, 'She said "I am here." Is it late? Yes!', True),
    ("format:emoji", {}, "It rains \U0001f1eb\U0001f1f7. It stops \U0001f1ef\U0001f1f5.", True),
]


@each_row("instruction, kwargs, text, followed", ROWS)
def test_the_mended_rule_judges_otherwise(
    judge: Judge, instruction: str, kwargs: dict[str, Any], text: str, followed: bool
) -> None:
    official, mended = judge(instruction, kwargs, text), judge(instruction, kwargs, text, mode="fixed")
    assert (official.strict, mended.strict) == (not followed, followed), (official.why, mended.why)


def test_every_mended_rule_stands_in_the_table() -> None:
    mended = {*ifeval_variants.IFEVAL_FIXED, *ifbench_variants.IFBENCH_FIXED}
    assert mended - {row[0] for row in ROWS} == {"change_case:english_lowercase"}


def test_reports_can_name_the_defect_of_every_rule_that_is_mended() -> None:
    mended = {*ifeval_variants.IFEVAL_FIXED, *ifbench_variants.IFBENCH_FIXED}
    assert set(DEFECTS) == mended
    assert set(UNMENDED) < set(Rulebook().ids) - mended


def test_mended_rules_still_follow_plain_cases(judge: Judge) -> None:
    for instruction, kwargs, text in (
        ("change_case:english_lowercase", {}, "the train to the coast does not run today."),
        ("detectable_content:postscript", {"postscript_marker": "P.S."}, "Bye.\n\n**P.S.** Write!"),
        ("detectable_content:postscript", {"postscript_marker": "P.P.S"}, "P.S. a\nP.P.S. b"),
        ("detectable_format:number_highlighted_sections", {"num_highlights": 3}, "*a* **b** ***c d***"),
        ("detectable_format:constrained_response", {}, " My answer is maybe. "),
        ("keywords:existence", {"keywords": ["C++", "no. 5"]}, "c++ and No. 5!"),
        ("format:thesis", {}, "<em>I claim.</em> Proof."),
        ("format:sub-bullets", {}, "* **a**\n  - b\n* c\n  - d"),
        ("custom:date_format_list", {}, "1796-04-12, 1815-06-18"),
        ("ratio:sentence_words", {}, "Red fox. Big dog. Old cat."),
    ):
        found = judge(instruction, kwargs, text, mode="fixed")
        assert found.strict, (instruction, found.why)


def test_a_keyword_that_is_no_pattern_is_refused_in_official_mode_only() -> None:
    item: dict[str, Any] = {"id": "keywords:existence", "keywords": ["(sic"]}
    assert Rulebook("fixed").constraint(item, "row")
    with pytest.raises(Exception, match="use mode 'fixed', which takes it literally"):
        Rulebook("official").constraint(item, "row")


def test_unknown_modes_and_odd_pairs_are_refused() -> None:
    with pytest.raises(ConfigError, match="mode: 'fix' is not one of official, fixed"):
        Rulebook("fix")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="revision: '2024' is not one of head, 2025-07"):
        Rulebook(revision="2024")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="with revision '2025-07' use 'official'"):
        Rulebook("fixed", "2025-07")
