"""Which option an answer settles on."""

from __future__ import annotations

from collections.abc import Callable
from string import ascii_uppercase
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genbench.errors import DataError
from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.choice.verifier import ChoiceVerifier
from tests.table import each_row

VERIFIER = ChoiceVerifier()
CITIES = ["London", "Paris", "New York", "Rome"]


def case(text: str, letter: str, options: list[str], *, truncated: bool = False) -> Case:
    reference = {"letter": letter, "options": options}
    return Case(SampleId("t", "p", 0), (Answer(text, "absent", "", truncated),), reference)


def verify(text: str, letter: str = "B", options: list[str] | None = None) -> Finding:
    return VERIFIER.verify(case(text, letter, options or CITIES))


LETTER_FORMS = [
    "Answer: {}",
    "answer: {}",
    "ANSWER: {}",
    "ANSWER: ${}$",
    "Answer: $\\boxed{{{}}}$",
    "Answer: \\({}\\)",
    "Answer: [{}]",
    "Answer: ({})",
    "Answer: {})",
    "Answer: {}.",
    "Answer: '{}'",
    "**Answer: {}**",
    "**Answer:** {}",
    "**Answer**: **{}**",
    "Answer:\n\n{}",
    "Answer:\n**({})**",
    "Answer - the best one: {}",
    "The answer is {}.",
    "The answer is {}",
    "The answer is ({}).",
    "The answer is **{}**.",
    "The answer is: {}",
    "The answer is option {}.",
    "The answer is therefore {}, since nothing else fits.",
    "The correct answer is {} because of the river.",
    "So the correct answer to this question is {}.",
    "The final answer is $\\boxed{{{}}}$. I hope it is correct.",
    "\\boxed{{{}}}",
    "$\\boxed{{\\text{{{}}}}}$",
    "\\boxed{{({})}}",
    "\\boxed{{\\textbf{{({})}}}}",
    "\\boxed{{\\mathrm{{{}}}}}",
    "\\boxed{{{}.}}",
    "I choose {}.",
    "I would go with ({}).",
    "The correct option is {}.",
    "The correct choice is **{}**",
    "{} is correct.",
    "Option {} is the correct one.",
    "**({})** is the right answer.",
    "<answer>{}</answer>",
    '{{"answer": "{}"}}',
    "{}",
    "({})",
    "**{}**",
    "{}.",
    "[{}]",
    "${}$",
    "{}) because it says so.",
    "{}. The others are wrong.",
    "Some thoughts first.\n\n{}",
    "Everything points to option {}",
    "答案：{}",
    "答案是{}。",
    "因此，正确答案是 {}。",
    "故选{}。",
    "{}。 不是别的",
    "Die Antwort ist {}.",
    "Die richtige Antwort lautet: {}",
    "La réponse est {}.",
    "La respuesta correcta es {}.",
    "Respuesta: {}",
    "La risposta corretta è {}.",
    "A resposta correta é a letra {}.",
    "Resposta: ({})",
]


@each_row("form", LETTER_FORMS)
@each_row("letter", ["A", "B", "D"])
def test_a_letter_is_read_in_every_form_that_prompts_ask_for(form: str, letter: str) -> None:
    finding = verify(form.format(letter), letter)
    assert (finding.score, finding.detail["letter"]) == (1, letter)


@pytest.mark.slow
@each_row("count", range(2, 27))
def test_two_to_twenty_six_options_each_have_their_letter(count: int) -> None:
    options = [f"thing number {n}" for n in range(count)]
    for letter in ascii_uppercase[:count]:
        for form in ("Answer: {}", "The answer is ({}).", "\\boxed{{{}}}", "{}", "{} is correct."):
            assert verify(form.format(letter), letter, options).detail["letter"] == letter
    wrong = ascii_uppercase[count - 2]
    assert verify(f"Answer: {wrong}", ascii_uppercase[count - 1], options).score == 0


@each_row("count", range(2, 26))
def test_a_letter_beyond_the_options_is_no_answer(count: int) -> None:
    beyond = ascii_uppercase[count]
    assert verify(f"Answer: {beyond}", "A", [f"thing number {n}" for n in range(count)]).reason == "no_answer"


@each_row(
    "text, letter",
    [
        ("Answer: Paris", "B"),
        ("The answer is Paris.", "B"),
        ("The answer is **New York** because it is large.", "C"),
        ("\\boxed{Rome}", "D"),
        ("\\boxed{\\text{new york}}", "C"),
        ("Answer: B) Paris", "B"),
        ("Answer: (B) Paris", "B"),
        ("Paris", "B"),
        ("Thinking of rivers.\n\nParis.", "B"),
        ("B. Paris", "B"),
        ("B: Paris", "B"),
    ],
)
def test_an_option_text_stands_for_its_letter(text: str, letter: str) -> None:
    assert verify(text, letter).detail["letter"] == letter


def test_an_option_text_that_begins_with_an_article_is_not_its_letter() -> None:
    options = ["A cat", "A dog", "A cow"]
    assert verify("The answer is A dog.", "B", options).detail["letter"] == "B"
    assert verify("Answer: a cow", "C", options).detail["letter"] == "C"


def test_the_longer_of_two_option_texts_is_read() -> None:
    options = ["iron", "iron oxide", "oxygen"]
    assert verify("The answer is iron oxide, of course.", "B", options).detail["letter"] == "B"
    assert verify("The answer is iron, of course.", "A", options).detail["letter"] == "A"


def test_option_texts_with_brackets_and_formulas_are_read() -> None:
    options = ["[NeV]", "cyclopenta[c]pyridine", "$\\frac{1}{2}$", "2.5 × 10^3"]
    assert verify("The answer is cyclopenta[c]pyridine.", "B", options).detail["letter"] == "B"
    assert verify("Answer: [NeV]", "A", options).detail["letter"] == "A"
    assert verify("\\boxed{\\dfrac{1}{2}}", "C", options).detail["letter"] == "C"


def test_numbers_as_options_are_no_prefixes_of_one_another() -> None:
    options = ["1", "10", "100", "1000"]
    assert verify("The answer is 100.", "C", options).detail["letter"] == "C"
    assert verify("\\boxed{10}", "B", options).detail["letter"] == "B"


def test_equal_option_texts_name_no_letter() -> None:
    assert verify("Answer: yes", "A", ["yes", "yes", "no"]).reason == "no_answer"


def test_letters_as_option_texts_do_not_confuse() -> None:
    assert verify("Answer: B", "B", ["C", "D", "A", "B"]).detail["letter"] == "B"


@each_row(
    "text, letter",
    [
        ("Answer: A. Wait, that is wrong. Answer: B", "B"),
        ("The answer is A. No: the answer is B.", "B"),
        ("\\boxed{A} … on reflection \\boxed{B}", "B"),
        ("\\boxed{A}. Hmm, the answer is B.", "B"),
        ("The answer is A? Then \\boxed{B}", "B"),
        ("A is correct? No. B is correct.", "B"),
        ("The answer is B. It is not A or C.", "B"),
        ("The answer: B, it doesn't make sense for it to be A or C", "B"),
        ("Option A fails. The answer is B, as option C fails too.", "B"),
    ],
)
def test_the_last_statement_wins(text: str, letter: str) -> None:
    assert verify(text).detail["letter"] == letter


def test_a_statement_wins_over_a_later_mention() -> None:
    assert verify("The answer is B. Note that option C would need a river.").detail["letter"] == "B"


@each_row(
    "text",
    [
        "",
        "I do not know.",
        "A river runs through it.",
        "The answer is not B.",
        "The answer is I think hard to find.",
        "It depends on what A means.",
        "An apple a day.",
        "A) has no river\nB) has one\nC) has none",
    ],
)
def test_a_text_that_settles_on_nothing_has_no_answer(text: str) -> None:
    options = [f"thing number {n}" for n in range(10)]
    finding = verify(text, "B", options)
    assert (finding.score, finding.reason, finding.extracted) == (0, "no_answer", None)


@pytest.mark.parametrize(
    "text", ["The answer is A or B.", "Answer: B/C", "Answer: (B) and (D)", "\\boxed{A or B}"]
)
def test_a_hedge_is_wrong(text: str) -> None:
    finding = verify(text)
    assert (finding.score, finding.reason) == (0, "wrong")
    assert len(finding.detail["letter"]) == 2


def test_a_cut_off_answer_counts_only_what_it_states() -> None:
    assert VERIFIER.verify(case("Let us look at option B", "B", CITIES, truncated=True)).reason == "no_answer"
    assert VERIFIER.verify(case("The answer is B. More", "B", CITIES, truncated=True)).score == 1


def test_unicode_letters_are_letters() -> None:
    assert verify("答案：Ｂ").detail["letter"] == "B"
    assert verify("Answer: （B）").detail["letter"] == "B"
    assert verify("Ⓑ").detail["letter"] == "B"


@each_row(
    "reference",
    [
        None,
        "B",
        {"letter": "B"},
        {"letter": "E", "options": CITIES},
        {"letter": "b", "options": CITIES},
        {"letter": "AB", "options": CITIES},
        {"letter": "A", "options": ["one"]},
        {"letter": "A", "options": ["x"] * 27},
        {"letter": "A", "options": "abcd"},
    ],
)
def test_a_reference_of_the_wrong_form_is_an_error(reference: Any) -> None:
    with pytest.raises(DataError, match="choice reference"):
        VERIFIER.verify(Case(SampleId("t", "p", 0), (Answer("B", "absent", "", False),), reference))


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.text(max_size=80), st.lists(st.text(max_size=12), min_size=2, max_size=26))
def test_no_text_makes_the_verifier_fail(text: str, options: list[str]) -> None:
    assert verify(text, "A", options).reason in {"wrong", "no_answer"}


@pytest.mark.parametrize(
    "text", ["answer " * 20_000, "\\boxed{" * 20_000, "(A" * 20_000, "\n" * 50_000, "*" * 50_000]
)
def test_hostile_texts_are_read_in_time(text: str) -> None:
    assert verify(text).score == 0


@pytest.mark.gold
def test_gold_letters_are_all_found(gold: Callable[[str], list[dict[str, Any]]]) -> None:
    rows = gold("choice")
    for row in rows:
        options = row["choices"] or [f"text {n}" for n in range(row["n_options"])]
        finding = verify(row["text"], row["reference"], options)
        assert (finding.score == 1, finding.detail.get("letter")) == (
            row["expected"]["correct"],
            row["expected"]["letter"],
        )
    assert len(rows) == 26


def test_votes_go_to_the_options_text_since_letters_move_from_draw_to_draw() -> None:
    first = verify("Answer: B", "B", ["red", "blue"])
    second = verify("Answer: A", "A", ["blue", "red"])
    assert first.extracted == second.extracted == "blue"
