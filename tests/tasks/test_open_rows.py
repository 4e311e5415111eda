"""Accepted answers of DROP, TriviaQA, PopQA and NQ-open."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.errors import DataError
from genbench.protocols import Row
from genbench.tasks.rows import drop_answers, listed_answers, popqa_answers, trivia_answers

NO_DATE = {"day": "", "month": "", "year": ""}


def answer(
    number: str = "", spans: tuple[str, ...] = (), date: dict[str, str] | None = None
) -> dict[str, Any]:
    return {"number": number, "spans": list(spans), "date": date or NO_DATE}


def references(row: Row | list[Row]) -> Any:
    assert isinstance(row, dict)
    return row["references"]


def test_references_of_drop_are_lists_of_parts_and_each_is_kept_once() -> None:
    validated = {"number": ["4", "", ""], "date": [NO_DATE] * 3, "spans": [[], ["red fox", "hen"], []]}
    row = {"answer": answer("4"), "validated_answers": validated}
    assert references(drop_answers(row, 0)) == [["4"], ["red fox", "hen"]]
    listed = {"answer": answer(spans=("a",)), "validated_answers": [answer("5")]}
    assert references(drop_answers(listed, 0)) == [["a"], ["5"]]


def test_a_date_of_drop_is_one_part() -> None:
    date = {"day": "4", "month": "July", "year": ""}
    row = {"answer": answer(date=date), "validated_answers": {"number": [], "date": [], "spans": []}}
    assert references(drop_answers(row, 0)) == [["4 July"]]


def test_a_row_of_drop_without_any_text_cannot_be_asked() -> None:
    with pytest.raises(DataError, match="all validated answers are empty"):
        drop_answers({"answer": answer(), "validated_answers": None}, 0)


def test_trivia_takes_the_value_and_the_aliases() -> None:
    row = {"answer": {"value": "Paris", "aliases": ["Paris", "City of Light", " "], "normalized_aliases": []}}
    assert references(trivia_answers(row, 0)) == ["Paris", "City of Light"]
    with pytest.raises(DataError, match="no text in it"):
        trivia_answers({"answer": None}, 0)


def test_popqa_reads_json_in_a_text_or_a_list() -> None:
    assert references(popqa_answers({"possible_answers": '["politician", "pol"]'}, 0)) == [
        "politician",
        "pol",
    ]
    assert references(popqa_answers({"possible_answers": ["a"]}, 0)) == ["a"]
    for wrong, message in (("[", "not JSON"), ('"a"', "wanted a list"), ("[]", "no text")):
        with pytest.raises(DataError, match=message):
            popqa_answers({"possible_answers": wrong}, 0)


def test_nq_has_a_list() -> None:
    assert references(listed_answers({"answer": ["a", "b"]}, 0)) == ["a", "b"]
    with pytest.raises(DataError, match="wanted a list"):
        listed_answers({"answer": "a"}, 0)
