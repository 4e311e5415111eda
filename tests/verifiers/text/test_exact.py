"""Plain equality of texts and what may be left out of it."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.errors import ConfigError, DataError
from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.text.exact import ExactVerifier
from tests.table import each_row


def verify(text: str, reference: Any, **options: Any) -> Finding:
    case = Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), reference)
    return ExactVerifier(**options).verify(case)


def test_equal_texts_are_correct_and_others_wrong() -> None:
    assert verify("red fox", "red fox").score == 1
    finding = verify("red box", "red fox")
    assert (finding.score, finding.reason, finding.extracted) == (0, "wrong", "red box")


def test_ends_are_trimmed_and_runs_of_blanks_count_as_one() -> None:
    assert verify("  red\n  fox ", "red fox").score == 1
    assert verify("red  fox", "red fox", ignore_whitespace=False).score == 0
    assert verify(" red fox\n", "red fox", ignore_whitespace=False).score == 1


def test_case_counts_unless_it_is_ignored() -> None:
    assert verify("Red Fox", "red fox").score == 0
    assert verify("Red STRASSE", "red straße", ignore_case=True).score == 1


def test_punctuation_and_articles_count_unless_they_are_ignored() -> None:
    assert verify("The fox.", "fox").score == 0
    assert verify("The fox.", "fox", ignore_punctuation=True, ignore_articles=True).score == 1
    assert verify("theatre", "atre", ignore_articles=True).score == 0


def test_composed_and_decomposed_letters_are_equal() -> None:
    assert verify("cafe\u0301", "café").score == 1


@pytest.mark.parametrize("text", ["1000", "1,000", "1000.0", "1 000", "01000", "$1,000"])
def test_numbers_are_compared_by_value_on_request(text: str) -> None:
    assert verify(text, "1000", numbers=True).score == 1
    assert verify(text, 1000, numbers=True).score == 1
    assert verify(text, "1001", numbers=True).score == 0


def test_numbers_in_words_are_compared_by_value_on_request() -> None:
    assert verify("one thousand", "one thousand", numbers=True).score == 1
    assert verify("one thousand", "1000", numbers=True).score == 1
    assert verify("one thousand", "1000").score == 0


def test_a_name_with_a_number_word_in_it_is_no_number() -> None:
    assert verify("Three Kings", "three", numbers=True).score == 0
    assert verify("Seven Sisters", "Seven Brothers", numbers=True).score == 0


def test_any_of_several_references_will_do() -> None:
    assert verify("fox", ["wolf", "fox"]).score == 1
    assert verify("dog", ["wolf", "fox"]).score == 0


def test_the_last_line_or_the_final_answer_can_be_compared() -> None:
    assert verify("Let me see.\nfox\n\n", "fox", extract="last_line").score == 1
    assert verify("I think \\boxed{fox} it is.", "fox", extract="final").score == 1
    assert verify("Some words. The answer is fox.", "fox", extract="final").score == 1
    assert verify("fox", "fox", extract="final").score == 1


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_answer_is_no_answer(text: str) -> None:
    for extract in ("whole", "last_line", "final"):
        assert verify(text, "fox", extract=extract).reason == "no_answer"


def test_an_unknown_extract_is_refused() -> None:
    with pytest.raises(ConfigError, match="last_line"):
        ExactVerifier(extract="lastline")  # type: ignore[arg-type]


@pytest.mark.parametrize("reference", [None, True, {}, []])
def test_a_reference_of_the_wrong_kind_is_an_error(reference: Any) -> None:
    with pytest.raises(DataError, match="exact reference"):
        verify("fox", reference)


ALIASES = ["The Beatles", "Fab Four"]
LOOSE: dict[str, Any] = {"ignore_case": True, "ignore_punctuation": True, "ignore_articles": True}


@each_row(
    "text, score",
    [
        ("It was the Beatles, of course.", 1),
        ("the FAB FOUR", 1),
        ("It was not the Beatles.", 0),
        ("It was not the Beatles but the Fab Four.", 1),
        ("It wasn't the Beatles", 0),
        ("Queen, rather than the Beatles", 0),
        ("anyone but the Beatles", 0),
        ("any band except the Beatles", 0),
        ("a band other than the Beatles", 0),
        ("beatlesque", 0),
        ("Queen", 0),
    ],
)
def test_an_answer_that_contains_an_alias_is_correct_unless_it_denies_it(text: str, score: int) -> None:
    finding = verify(text, ALIASES, match="contains", **LOOSE)
    assert finding.score == score
    assert ("accepted" in finding.detail) == bool(score)


def test_a_contained_text_begins_and_ends_with_a_word_unless_the_suite_says_otherwise() -> None:
    assert verify("a party", "art", match="contains").score == 0
    assert verify("a party", "art", match="contains", word_borders=False).score == 1
    assert verify("答案是北京市", "北京", match="contains", word_borders=False).score == 1
    assert verify("it is 12", "2", match="contains").score == 0
    assert verify("(2)", "2", match="contains").score == 1


def test_a_reference_that_every_answer_contains_is_refused() -> None:
    with pytest.raises(DataError, match="nothing is left"):
        ExactVerifier(match="contains", ignore_punctuation=True).check(["fox", "!!"])


def test_f1_is_the_share_of_words_and_keeps_the_exact_match() -> None:
    finding = verify("The big fox", ["fox", "hen"], match="f1")
    assert (finding.score, dict(finding.parts)) == (0.67, {"em": 0.0})
    assert dict(verify("the fox", ["fox"], match="f1").parts) == {"em": 1.0}


def test_parts_are_separated_by_semicolons_only_if_a_reference_has_several() -> None:
    assert verify("hen; fox", [["fox", "hen"]], match="f1").score == 1
    assert verify("hen; fox", ["hen fox"], match="f1").score == 1
    assert verify("hen", [["fox", "hen"], ["hen"]], match="f1").score == 1
    assert verify("x;" * 300, [["fox", "hen"]], match="f1").detail["refused"] == "300 parts"


@pytest.mark.parametrize("reference", [None, [], [[]], [["a", None]], {"a": 1}])
def test_a_reference_of_f1_is_texts_or_lists_of_texts(reference: Any) -> None:
    with pytest.raises(DataError, match="exact reference"):
        ExactVerifier(match="f1").check(reference)


def test_the_stated_answer_is_compared_and_one_taken_back_is_none() -> None:
    assert verify("I think so.\nAnswer: **fox**.", "fox", extract="stated").score == 1
    finding = verify("Answer: fox\nThat is wrong.", "fox", extract="stated")
    assert (finding.reason, finding.detail["withheld"]) == ("no_answer", "retracted")
    assert verify("", "fox", extract="stated").reason == "no_answer"


def test_the_measure_of_an_f1_task_is_there_for_every_answer() -> None:
    for text in ("", "fox", "x;" * 300):
        assert set(verify(text, [["fox", "hen"]], match="f1").parts) == {"em"}


def test_an_unknown_match_is_refused() -> None:
    with pytest.raises(ConfigError, match="did you mean 'contains'"):
        ExactVerifier(match="contain")  # type: ignore[arg-type]


def test_a_denied_answer_is_none_unless_its_name_begins_with_the_denial() -> None:
    finding = verify("Answer: not Paris", "Paris", extract="stated", match="contains")
    assert (finding.reason, finding.detail["withheld"]) == ("no_answer", "negated")
    assert verify("Answer: Not Fade Away", "Not Fade Away", extract="stated").score == 1
    assert (
        verify(
            "Answer: not Queen but the Beatles", ALIASES, extract="stated", match="contains", **LOOSE
        ).score
        == 1
    )


@each_row(
    "text, score",
    [
        ("No.", 1),
        ("The answer is no", 1),
        ("No, he was a politician.", 1),
        ("No because it is cold", 1),
        ("No politician said so.", 0),
        ("It is no longer so.", 0),
        ("There is no-one", 0),
        ("I know", 0),
    ],
)
def test_the_word_no_before_a_noun_is_no_answer(text: str, score: int) -> None:
    assert verify(text, "no", match="contains", ignore_case=True).score == score


@pytest.mark.parametrize(
    "text", ["I doubt that it is a fox", "It can hardly be a fox", "I don't think it is the fox"]
)
def test_a_text_that_is_doubted_is_not_contained(text: str) -> None:
    assert verify(text, "fox", match="contains").score == 0


@each_row(
    "text, score",
    [
        ("It is 42.", 1),
        ("It lasted from 1939-42.", 1),
        ("From 42, in 3 years", 1),
        ("It is -42.", 0),
        ("It is 42.5.", 0),
        ("It is 4.42.", 0),
        ("It is 42/7.", 0),
    ],
)
def test_a_number_is_not_contained_in_another_number(text: str, score: float) -> None:
    assert verify(text, "42", match="contains").score == score
