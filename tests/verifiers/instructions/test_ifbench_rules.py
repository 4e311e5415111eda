"""IFBench's 58 instructions: what follows each, what breaks it, and what is said then."""

from __future__ import annotations

from collections.abc import Callable

from genbench.verifiers.instructions.rulebook import IFBENCH
from genbench.verifiers.instructions.verifier import Outcome
from tests.table import each_row
from tests.verifiers.instructions.ifbench_forms import FORM_ROWS, QUIZ, STUDENTS
from tests.verifiers.instructions.ifbench_words import WORD_ROWS, Row

Judge = Callable[..., Outcome]
ROWS = [*WORD_ROWS, *FORM_ROWS]


def test_the_table_has_every_instruction_but_the_one_that_needs_a_tagger() -> None:
    assert {row[0] for row in ROWS} == set(IFBENCH) - {"words:start_verb"}
    assert len(IFBENCH) == 58


@each_row("row", ROWS)
def test_an_instruction_is_followed_or_the_fault_is_said(judge: Judge, row: Row) -> None:
    instruction, kwargs, good, bad, why = row
    assert judge(instruction, kwargs, good).why is None
    assert judge(instruction, kwargs, bad).why == why


def test_without_a_tagger_the_first_word_is_neither_a_verb_nor_none(judge: Judge) -> None:
    found = judge("words:start_verb", {}, "Run home.")
    assert (found.strict, found.loose) == (None, None)
    assert found.why is not None and "tagger_dir" in found.why


def test_a_longer_run_of_alliteration_counts_one_for_each_word_more(judge: Judge) -> None:
    assert judge("sentence:alliteration_increment", {}, "Big bad bear. Big bad old owl.").strict
    assert not judge("sentence:alliteration_increment", {}, "Big bad bear. One odd owl.").strict


def test_questions_of_equal_length_do_not_grow(judge: Judge) -> None:
    same = QUIZ.replace("Question 2. Why", "Question 2. Why Why")
    assert judge("custom:mcq_count_length", {}, same).why == "question 3 is no longer than the one before"


def test_of_two_blank_lines_one_may_stay_in_the_way_of_indents(judge: Judge) -> None:
    assert judge("format:line_indent", {}, "a\n\n b").strict
    assert judge("format:line_indent", {}, "a\n\n\n b").why == (
        "a line is indented by 0 after one by 0, more wanted"
    )


def test_lettered_options_must_be_given_exactly(judge: Judge) -> None:
    assert judge("format:options", {"options": "A / B / C"}, "B").strict
    assert not judge("format:options", {"options": "A / B / C"}, "B.").strict
    assert judge("format:options", {"options": "left or right"}, "'Right'").strict


def test_a_blank_line_before_the_bullets_is_no_fault_but_one_after_is(judge: Judge) -> None:
    assert judge("format:no_bullets_bullets", {}, "One. Two.\n\n* a\n* b").strict
    assert judge("format:no_bullets_bullets", {}, "One. Two.\n* a\n\n* b").why == (
        "'' stands after the sentences ended and is not a bullet"
    )


def test_a_table_that_the_csv_reader_refuses_is_a_fault(judge: Judge) -> None:
    assert judge("custom:csv_city", {}, "a\rb").why == (
        "not a table: new-line character seen in unquoted field - do you need to open the file in "
        "universal-newline mode?"
    )
    short = judge("custom:csv_quotes", {}, STUDENTS + "\n\n\n")
    assert short.why == "3 records, exactly 4 wanted"
