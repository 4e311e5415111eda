"""Answers of 200 kB (in UTF-8) made to be slow: no checker may take 0.2 s of processor time."""

from __future__ import annotations

import re
import time
from collections.abc import Collection
from typing import Any

import pytest

from genbench.verifiers.instructions import ifbench_variants, ifeval_variants
from genbench.verifiers.instructions.ifbench_variants import sentences_2025_07
from genbench.verifiers.instructions.rule import Text
from genbench.verifiers.instructions.rulebook import Constraint, Rulebook
from genbench.verifiers.instructions.toolbox import Toolbox
from tests.table import each_row

SIZE = 200_000
LIMIT_S = 0.2
TRIES = 5
"""The best of these counts: other processes share the caches."""
YARDSTICK_S = 0.022
"""What splitting takes on an idle core of an AMD EPYC: on a slower one the limit is that much longer. On busy
cores it took 2.2 times as long as a loop of arithmetic that takes 0.01 s on an idle one."""
YARDSTICK = "!? " * 66_666

KWARGS: dict[str, dict[str, Any]] = {
    "keywords:existence": {"keywords": ["cat", "we promise"]},
    "keywords:frequency": {"keyword": "cat", "frequency": 3, "relation": "at least"},
    "keywords:forbidden_words": {"forbidden_words": ["cat", "we promise"]},
    "keywords:letter_frequency": {"letter": "a", "let_frequency": 3, "let_relation": "at least"},
    "language:response_language": {"language": "de"},
    "change_case:capital_word_frequency": {"capital_frequency": 3, "capital_relation": "at least"},
    "length_constraints:number_sentences": {"num_sentences": 3, "relation": "at least"},
    "length_constraints:number_paragraphs": {"num_paragraphs": 3},
    "length_constraints:number_words": {"num_words": 3, "relation": "at least"},
    "length_constraints:nth_paragraph_first_word": {
        "num_paragraphs": 3,
        "nth_paragraph": 2,
        "first_word": "a",
    },
    "detectable_content:number_placeholders": {"num_placeholders": 3},
    "detectable_content:postscript": {"postscript_marker": "P.S."},
    "detectable_format:number_bullet_lists": {"num_bullets": 3},
    "detectable_format:number_highlighted_sections": {"num_highlights": 3},
    "detectable_format:multiple_sections": {"section_spliter": "Section", "num_sections": 3},
    "combination:repeat_prompt": {"prompt_to_repeat": "a b"},
    "startend:end_checker": {"end_phrase": "the end"},
    "count:word_count_range": {"min_words": 1, "max_words": 5},
    "count:unique_word_count": {"N": 5},
    "count:conjunctions": {"small_n": 5},
    "count:person_names": {"N": 5},
    "count:numbers": {"N": 5},
    "count:words_japanese": {"N": 3},
    "count:pronouns": {"N": 3},
    "count:keywords_multiple": {f"keyword{number}": "abcde"[number - 1] for number in range(1, 6)},
    "ratio:stop_words": {"percentage": 5},
    "ratio:overlap": {"reference_text": "abc def ghi" * 50, "percentage": 50},
    "words:repeats": {"small_n": 3},
    "words:keywords_specific_position": {"keyword": "a", "n": 1, "m": 2},
    "words:words_position": {"keyword": "a"},
    "sentence:keyword": {"word": "a", "N": 1},
    "sentence:increment": {"small_n": 2},
    "format:options": {"options": "yes/no"},
    "format:list": {"sep": "..."},
    "repeat:repeat_change": {"prompt_to_repeat": "a b c"},
    "repeat:repeat_span": {"prompt_to_repeat": "a b c d", "n_start": 1, "n_end": 3},
}

ANSWERS = {
    "blank lines": "\n" * SIZE + "x",
    "spaces inside a sentence": "a." + " " * SIZE + "x",
    "question marks": "?" * SIZE,
    "sentence ends": "!? " * (SIZE // 3),
    "full stops in quotes": '."\n' * (SIZE // 3),
    "quotes after a stop": "." + '"' * SIZE + "x",
    "one word": "A" * SIZE,
    "a mail address": "a" * (SIZE // 2) + "@" + "b" * (SIZE // 2),
    "opening brackets": "[" * SIZE,
    "opening angles": "<<" + "a" * (SIZE // 2) + "<<" * (SIZE // 4),
    "stars": "*a" * (SIZE // 2),
    "bullets and blanks": "*\n" * (SIZE // 2),
    "nested json": '{"a":' * (SIZE // 5),
    "apostrophes": "a'" * (SIZE // 2),
    "curly quotes": "“" * (SIZE // 3),
    "quiz": "\nQuestion 1. a\nA) b" * (SIZE // 20),
    "short lines": "a\n" * (SIZE // 2),
    "commas": "a, b\n" * (SIZE // 5),
    "kana": "あ" * (SIZE // 3),
    "initials": "U.S. A. e.g. " * (SIZE // 13),
}


def seconds(constraint: Constraint, answer: str, tools: Toolbox) -> float:
    """Processor time of one check of a text that the tools have not seen."""
    text = Text(answer, tools)
    started = time.process_time()
    constraint.fault(text)
    return time.process_time() - started


def limit_s() -> float:
    """The limit, longer by as much as this core is slower just now than an idle one."""
    started = time.process_time()
    spans = [match.span() for match in re.finditer(r"[?!]+", YARDSTICK)]
    assert len(spans) == len([part.strip() for part in re.split(r"(?<=[?!])\s", YARDSTICK)]) - 1
    return LIMIT_S * max(1.0, (time.process_time() - started) / YARDSTICK_S)


def slow_checks(
    book: Rulebook, answer: str, tools: Toolbox, only: Collection[str] | None = None
) -> dict[str, float]:
    """The instructions that take too long in every try, with the best share of the limit."""
    found = {}
    for instruction in only or book.ids:
        constraint = book.constraint({"id": instruction, **KWARGS.get(instruction, {})}, "test")
        if constraint.rule.tagger:
            continue
        shares: list[float] = []
        while len(shares) < TRIES and (not shares or min(shares) >= 1):
            took = seconds(constraint, f"{answer} {instruction} {len(shares)}", tools)
            shares.append(took / LIMIT_S if took < LIMIT_S else took / limit_s())
        if min(shares) >= 1:
            found[instruction] = min(shares)
    return found


@pytest.mark.slow
@each_row("name", ANSWERS)
def test_no_checker_is_slow_on_a_hostile_answer(name: str, tools: Toolbox) -> None:
    tools.language("the profiles are read before the clock runs")
    assert slow_checks(Rulebook(), ANSWERS[name], tools) == {}


@pytest.mark.slow
@each_row("name", ANSWERS)
def test_no_mended_checker_is_slow_on_a_hostile_answer(name: str, tools: Toolbox) -> None:
    tools.language("the profiles are read before the clock runs")
    mended = {*ifeval_variants.IFEVAL_FIXED, *ifbench_variants.IFBENCH_FIXED}
    assert slow_checks(Rulebook("fixed"), ANSWERS[name], tools, mended) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["full stops", "question marks", "sentence ends", "one word", "short lines"])
def test_no_older_checker_is_slow_on_a_hostile_answer(name: str) -> None:
    older = Toolbox(split=sentences_2025_07)
    older.language("the profiles are read before the clock runs")
    answer = ANSWERS.get(name, "." * SIZE)
    assert slow_checks(Rulebook(revision="2025-07"), answer, older) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kana", "sentence ends", "question marks"])
def test_no_multilingual_checker_is_slow_on_a_hostile_answer(name: str, tools: Toolbox) -> None:
    tools.language("the profiles are read before the clock runs")
    rules = set(ifeval_variants.MULTI_IF)
    assert slow_checks(Rulebook(multilingual=True), ANSWERS[name], tools, rules) == {}
