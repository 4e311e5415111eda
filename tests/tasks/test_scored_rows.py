"""Row functions of scored benchmarks: what lm-eval 0.4.13 makes of the same rows."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.errors import DataError
from genbench.tasks import rows


def test_hellaswag_loses_its_brackets_and_titles() -> None:
    row = {
        "activity_label": "Roof shingle removal",
        "ctx_a": "A man is sitting on a roof.",
        "ctx_b": "he",
        "endings": ["[title] is [step]here.", "goes  on."],
        "label": "1",
    }
    found = rows.hellaswag(row, 0)
    assert found["query"] == "Roof shingle removal: A man is sitting on a roof. He"
    assert found["endings"] == [" is here.", "goes on."]
    assert found["label"] == 1


def test_labels_may_be_numbers_and_keys_may_have_spaces() -> None:
    choices = {"text": ["w", "x", "y", "z"], "label": ["1", "2", "3", "4"]}
    assert rows.labelled({"choices": choices, "answerKey": " 3"}, 0)["right"] == 2
    with pytest.raises(DataError, match="the answer is 'E'"):
        rows.labelled({"choices": choices, "answerKey": "E"}, 0)


def test_winogrande_has_two_contexts_and_one_end() -> None:
    row = {"sentence": "The _ was too big.", "option1": "box", "option2": "ball", "answer": "2"}
    found = rows.winogrande(row, 0)
    assert found["contexts"] == ["The box", "The ball"]
    assert found["ends"] == ["was too big.", "was too big."]
    assert found["right"] == 1
    with pytest.raises(DataError, match="no gap"):
        rows.winogrande({**row, "sentence": "None."}, 0)


def test_social_iqa_counts_from_one() -> None:
    assert rows.social_iqa({"label": "3"}, 0)["right"] == 2
    with pytest.raises(DataError, match="wanted 1, 2 or 3"):
        rows.social_iqa({"label": ""}, 0)


def test_lambada_splits_off_the_last_word() -> None:
    assert rows.lambada({"text": "he said yes"}, 0)["word"] == "yes"
    assert rows.lambada({"text": "he said yes"}, 0)["passage"] == "he said"


def test_mmlu_names_its_subject_and_its_answer() -> None:
    row: dict[str, Any] = {
        "subject": "high_school_biology",
        "question": " Why? ",
        "choices": ["a", "b"],
        "answer": 1,
    }
    found = rows.mmlu(row, 0)
    assert (found["subject_name"], found["asked"], found["letter"], found["right_text"]) == (
        "high school biology",
        "Why?",
        "B",
        "b",
    )


def test_wikitext_becomes_ordinary_text() -> None:
    page = ' = Title = \n \n It was 1 @,@ 000 m , says " him " ( born 1 @.@ 5 ) .\n'
    assert rows.detokenized(page) == ' = Title =\n\nIt was 1,000 m, says "him" (born 1.5) .\n'


def test_sciq_passage_begins_with_a_word() -> None:
    assert rows.sciq({"support": "\n Because"}, 0)["passage"] == "Because"
