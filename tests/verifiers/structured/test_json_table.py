"""Answers of ZebraLogic: a table as JSON, every cell must be right."""

from __future__ import annotations

import json
from typing import Any

import pytest

from genbench.errors import DataError
from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.structured.json_table import TableVerifier

WANTED = {
    "House 1": {"Name": "Eric", "BookGenre": "mystery"},
    "House 2": {"Name": "Arnold", "BookGenre": "science fiction"},
}


def verify(text: str, reference: Any = WANTED) -> Finding:
    case = Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), reference)
    return TableVerifier().verify(case)


def changed(house: str, column: str, value: Any) -> str:
    return json.dumps({"solution": {**WANTED, house: {**WANTED[house], column: value}}})


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"reasoning": "…", "solution": WANTED}),
        json.dumps(WANTED),
        f"Here it is:\n```json\n{json.dumps(WANTED, indent=2)}\n```",
        json.dumps(WANTED).replace("House 1", "house_1").replace("science fiction", "Science-Fiction "),
        json.dumps({"solution": {**WANTED, "House 1": {**WANTED["House 1"], "House": "1"}}}),
    ],
)
def test_a_table_with_every_cell_right_is_correct(text: str) -> None:
    finding = verify(text)
    assert (finding.score, finding.parts) == (1.0, {"cells": 1.0})


def test_one_wrong_or_missing_cell_is_wrong_and_counted() -> None:
    finding = verify(changed("House 2", "Name", "Peter"))
    assert (finding.score, finding.reason, finding.parts) == (0.0, "wrong", {"cells": 0.75})
    assert finding.detail == {"right": 3, "cells": 4}
    assert verify(json.dumps({"House 1": WANTED["House 1"]})).parts == {"cells": 0.5}
    assert verify(changed("House 2", "Name", ["Arnold"])).parts == {"cells": 0.75}


@pytest.mark.parametrize(
    "text", ["I give up.", json.dumps(WANTED)[:-1], json.dumps({"done": True}), "[1, 2]"]
)
def test_an_answer_without_the_table_has_the_wrong_form(text: str) -> None:
    finding = verify(text)
    assert (finding.score, finding.reason, finding.parts) == (0.0, "format_error", {"cells": 0.0})


def test_an_object_after_the_table_takes_its_place() -> None:
    assert verify(json.dumps(WANTED) + ' {"note": "done"}').reason == "format_error"


def test_an_empty_answer_and_one_taken_back_are_none() -> None:
    assert verify(" ").reason == "no_answer"
    assert verify(json.dumps(WANTED) + "\nThat is wrong.").reason == "no_answer"


def test_equal_tables_vote_alike() -> None:
    one = verify(json.dumps(WANTED)).extracted
    other = verify(json.dumps({"solution": dict(reversed(WANTED.items()))})).extracted
    assert one == other and verify(changed("House 1", "Name", "Bob")).extracted != one


@pytest.mark.parametrize(
    "reference", [None, {}, {"House 1": {}}, {"House 1": "x"}, {"a": {"b": None}}, {"a": {"b": 1, "B": 2}}]
)
def test_a_reference_that_is_no_table_is_refused(reference: Any) -> None:
    with pytest.raises(DataError, match="table reference"):
        TableVerifier().check(reference)
