"""The parts of the choice verifier: words, cleaned text, sentences, contexts, the reader."""

from __future__ import annotations

import re

import pytest

from genbench.verifiers.choice.context import (
    BOX,
    END_OF_BOX,
    Sentences,
    blanked,
    box_spans,
    clean,
    confirms,
    ends_text,
    lead,
    plain,
    without_unit,
)
from genbench.verifiers.choice.verifier import OptionReader, Picked
from genbench.verifiers.language.announcements import ANSWERS
from genbench.verifiers.language.commitment import DENYING, denied_after
from genbench.verifiers.language.word_lists import bounded, compiled, read_list, read_table, words
from tests.table import each_row


def test_words_are_read_by_language() -> None:
    table = read_table("\n    en: yes; it\n        is; no\n    de: ja\n")
    assert table == {"en": ("yes", "it is", "no"), "de": ("ja",)}
    assert read_list(" a b ; c;") == ("a b", "c")
    assert words(table) == "it is|yes|ja|no"
    assert {"en", "zh", "ru"} <= ANSWERS.keys() and {"en", "ja"} <= DENYING.keys()


def test_words_of_spaced_scripts_have_boundaries_and_others_have_none() -> None:
    assert re.search(bounded("not"), "nothing") is None
    assert re.search(bounded("not"), "do not do") is not None
    assert compiled(("不是",)).search("B不是A") is not None


@each_row(
    "text, cleaned",
    [
        ("**Answer:** `B`", "Answer: B"),
        ("Answer: $B$", "Answer: B"),
        ("\\text{B}", "B"),
        ("<answer>B</answer>", "Answer: B "),
        ("#### B", "Answer:  B"),
        ("（B）", "(B)"),
        ("1,000 and 50 percent", "1000 and 50%"),
        ("\\boxed{\\text{B}}", f"{BOX}B{END_OF_BOX}"),
    ],
)
def test_markup_is_taken_off(text: str, cleaned: str) -> None:
    assert re.sub(r"\s+", " ", clean(text)).strip() == re.sub(r"\s+", " ", cleaned).strip()


def test_boxes_are_found_and_blanked() -> None:
    text = clean("so \\boxed{B} it is")
    ((start, end),) = box_spans(text)
    assert text[start + 1 : end] == "B"
    assert blanked(text) == "so     it is"


def test_an_option_is_compared_without_marks_and_case() -> None:
    assert plain(" **Paris**. ") == plain("paris")
    assert plain("2.3 keV") != plain("2.3")
    assert without_unit("5 cm") == "5"


@pytest.mark.parametrize(
    ("before", "how"),
    [
        ("The answer is ", "stated"),
        ("I would go with (", "stated"),
        ("Therefore, ", "concluded"),
        ("as in option ", "mentioned"),
        ("a river near ", ""),
    ],
)
def test_what_comes_before_an_option_tells_how_it_is_meant(before: str, how: str) -> None:
    assert lead(before) == how


def test_denials_are_told_from_contrasts() -> None:
    assert denied_after(" is incorrect.")
    assert not denied_after(", not A.")
    assert not denied_after(" because A is wrong.")


def test_confirmations_suppositions_and_ends_are_told() -> None:
    assert confirms(" is correct") and not confirms(" is long")
    assert ends_text(" because") and not ends_text(" keV")


def test_sentences_are_found_by_position() -> None:
    text = "Is it A? The answer is B. Wait, that's wrong."
    sentences = Sentences(text)
    assert sentences.is_question(text.index("A") + 1)
    assert not sentences.is_question(text.index("B") + 1)
    assert sentences.before(text.index("B")).strip() == "The answer is"
    assert sentences.retracted_after(text.index("B") + 1)
    assert not sentences.retracted_after(len(text))


def test_the_reader_tells_how_it_found_an_option() -> None:
    reader = OptionReader(["London", "Paris", "Rome"])
    assert reader.pick("The answer is B.") == Picked("B", "stated")
    assert reader.pick("B") == Picked("B", "bare")
    assert reader.pick("Everything about option B is dull") == Picked("B", "mentioned")
    assert reader.pick("B", guess=False) is None
    assert reader.pick("nothing of that kind") is None
