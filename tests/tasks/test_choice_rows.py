"""Row functions of multiple-choice benchmarks: options, mended answers, questions among their options."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.errors import DataError
from genbench.tasks.rows import (
    agieval,
    mixeval_choice,
    mmlu_pro,
    mmlu_pro_example,
    plain_options,
    redux,
    redux_mended,
)


@pytest.mark.parametrize(
    ("options", "plain"),
    [
        (["(A)Paris", "(B) Rome"], ["Paris", "Rome"]),
        (["A. Paris", "B) Rome"], ["Paris", "Rome"]),
        (["(A)Paris", "Rome"], ["(A)Paris", "Rome"]),
        (["(B)Paris", "(A)Rome"], ["(B)Paris", "(A)Rome"]),
        ([" x ", 2], ["x", "2"]),
    ],
)
def test_letters_before_the_options_are_removed_if_every_option_has_its_own(
    options: list[Any], plain: list[str]
) -> None:
    assert plain_options(options) == plain


def test_options_that_are_no_list_are_refused() -> None:
    with pytest.raises(DataError, match="wanted a list of options, found 'ab'"):
        plain_options("ab")


def test_mixeval_puts_the_context_before_the_question() -> None:
    row = {"context": "Rats.", "prompt": "Where?", "options": ["(A)a", "(B)b"], "target": ["1"]}
    made = mixeval_choice(row, 0)
    assert (made["question"], made["options"], made["target"]) == ("Rats.\n\nWhere?", ["a", "b"], ["1"])


def test_agieval_asks_the_question_without_its_options() -> None:
    query = "Q: How far? Answer Choices: (A)1 (B)2\nA: Among A through B, the answer is"
    made = agieval({"query": query, "choices": ["(A)1", "(B)2"], "gold": [1]}, 0)
    assert (made["question"], made["choices"]) == ("How far?", ["1", "2"])
    with pytest.raises(DataError, match="no question before 'Answer Choices:'"):
        agieval({"query": "How far?", "choices": []}, 0)


def test_mmlu_pro_s_repeated_questions_share_a_group() -> None:
    row = {"question": "Q", "options": ["a", "b"], "answer_index": 0}
    assert mmlu_pro(row, 0)["asked"] == mmlu_pro({**row, "answer_index": 1}, 7)["asked"]
    assert mmlu_pro(row, 0)["asked"] != mmlu_pro({**row, "options": ["a", "c"]}, 0)["asked"]


def test_an_exemplar_of_mmlu_pro_begins_as_the_evaluator_lets_it_begin() -> None:
    made = mmlu_pro_example({"cot_content": "A: Let's think step by step. So (B)."}, 0)
    assert made["cot_content"] == "Answer: Let's think step by step. So (B)."


def mended(kind: str, correct: object, **changes: object) -> dict[str, Any]:
    row = {"choices": ["p", "q", "r", "s"], "answer": 0, "error_type": kind, "correct_answer": correct}
    return dict(redux_mended({**row, **changes}, 0))


@pytest.mark.parametrize("correct", ["C", "2", 2, "r"])
def test_a_wrong_answer_is_replaced(correct: object) -> None:
    assert mended("wrong_groundtruth", correct)["answer"] == 2


def test_an_option_that_is_a_number_is_named_by_its_place() -> None:
    assert mended("wrong_groundtruth", "3", choices=["3", "5", "8", "4"])["answer"] == 3


@pytest.mark.parametrize("correct", ["B,C", "1 and 2", "(1, 2)", "1 2", "B or C"])
def test_several_right_answers_are_all_accepted(correct: str) -> None:
    made = mended("multiple_correct_answers", correct)
    assert (made["answer"], made["also"]) == (1, (2,))


def test_a_missing_right_option_replaces_the_one_that_was_called_right() -> None:
    assert mended("no_correct_answer", "z")["choices"] == ["z", "q", "r", "s"]


@pytest.mark.parametrize("kind", ["ok", "bad_question_clarity", "bad_options_clarity", "expert"])
def test_unclear_rows_stay_as_they_are(kind: str) -> None:
    made = mended(kind, None)
    assert (made["choices"], made["answer"], made["also"]) == (["p", "q", "r", "s"], 0, ())


@pytest.mark.parametrize(
    ("kind", "correct", "message"),
    [
        ("wrong_groundtruth", None, "does not say which options are right: ''"),
        ("wrong_groundtruth", "B,C", "names 2 options"),
        ("wrong_groundtruth", "7", "does not say which"),
        ("multiple_correct_answers", "depends on it", "does not say which"),
        ("no_correct_answer", None, "no option is right, and the annotation gives no answer"),
    ],
)
def test_an_annotation_that_says_nothing_makes_a_row_that_cannot_be_asked(
    kind: str, correct: object, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        mended(kind, correct)


def test_unmended_rows_accept_one_option() -> None:
    assert redux({"answer": 1}, 0) == {"answer": 1, "also": ()}
