"""Columns of a suite's own tasks."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.errors import ConfigError, DataError
from genbench.suite.config import Turn
from genbench.tasks.factory import instruction_columns, read_fields
from genbench.tasks.kinds import KINDS, Kind, kind_of
from genbench.tasks.page.model import (
    Fields,
    read_instructions,
    read_options,
    read_text,
    right_option,
    with_aliases,
)
from tests.table import each_row


def test_the_reference_column_is_called_reference_unless_another_is_named() -> None:
    assert read_fields({}, KINDS["math"], "t").reference == "reference"
    assert read_fields({"reference": "answer"}, KINDS["math"], "t").reference == "answer"
    assert read_fields({}, KINDS["json_schema"], "t").reference is None


def test_a_verifier_of_ones_own_can_do_without_a_reference() -> None:
    own = kind_of(None, "pkg:Check")
    assert read_fields({}, own, "t").reference == "reference"
    assert read_fields({"reference": None}, own, "t").reference is None


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ({"questoin": "q"}, "math", r"data\.fields has no 'questoin'; did you mean 'question'\?"),
        ({"question": 3}, "math", r"data\.fields\.question: .*found 3"),
        ({"instructions": "ids"}, "math", "belongs to the kinds ifeval, ifbench"),
    ],
)
def test_wrong_columns_are_named(given: dict[str, Any], kind: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_fields(given, KINDS[kind], "t")


def test_turns_have_instructions_only_in_kinds_that_have_them() -> None:
    turns = [Turn(prompt="more", instructions="ids2", kwargs="kw2")]
    found = instruction_columns(Fields(instructions="ids", kwargs="kw"), turns, KINDS["ifeval"], "t")
    assert found == (("ids", "kw"), ("ids2", "kw2"))
    with pytest.raises(ConfigError, match="turns: instructions belong to the kinds"):
        instruction_columns(Fields(), turns, Kind("math"), "t")


def test_a_row_without_instructions_has_none() -> None:
    assert read_instructions({"q": "x"}, (None, None), "t") == []
    assert read_instructions({"ids": [], "kw": []}, ("ids", "kw"), "t") == []


def test_instructions_carry_their_arguments() -> None:
    row = {"ids": ["punctuation:no_comma"], "kw": [{}]}
    [found] = read_instructions(row, ("ids", "kw"), "t")
    assert found["id"] == "punctuation:no_comma"


def test_options_come_from_one_column_or_from_several() -> None:
    assert read_options({"o": ["a ", "b"]}, "o", "t") == ("a", "b")
    assert read_options({"x": "a", "y": 2}, ("x", "y"), "t") == ("a", "2")


@pytest.mark.parametrize("options", [["a"], "ab", None, ["a"] * 27, ["a", "a"], ["a", ""], ["a", None]])
def test_options_that_cannot_be_told_apart_are_refused(options: Any) -> None:
    with pytest.raises(DataError, match=r"^row 3"):
        read_options({"o": options}, "o", "row 3")


@each_row(
    "reference, place",
    [("A", 0), (" b ", 1), (1, 1), ("two words", 2), (["A"], 0), (["1"], 1), ("2", 2), ([2], 2)],
)
def test_the_right_option_is_found(reference: Any, place: int) -> None:
    assert right_option(reference, ("x", "b", "two words"), "t") == place


@each_row("reference", ["D", "nothing", True, 3, -1, None, ["A", "B"], [], 0.0])
def test_a_reference_that_is_no_option_is_refused(reference: Any) -> None:
    with pytest.raises(DataError, match="is not a letter, text or place"):
        right_option(reference, ("x", "y", "z"), "t")


@pytest.mark.parametrize("value", [None, "", "  "])
def test_an_empty_cell_is_refused(value: Any) -> None:
    with pytest.raises(DataError, match="the id is empty"):
        read_text(value, "the id")
    assert read_text(0, "the id") == "0"


@pytest.mark.parametrize(
    ("reference", "aliases", "accepted"),
    [
        ("Paris", ["City of Light", "Paris"], ["Paris", "City of Light"]),
        ("Paris", '["City of Light"]', ["Paris", "City of Light"]),
        (None, ["a", "b"], ["a", "b"]),
        (["a"], ["b"], ["a", "b"]),
        ("a", None, ["a"]),
        ("a", "", ["a"]),
    ],
)
def test_aliases_are_further_accepted_answers(reference: Any, aliases: Any, accepted: list[str]) -> None:
    assert with_aliases(reference, aliases, "t, row 1") == accepted


@pytest.mark.parametrize("aliases", ["[", '{"a": 1}', 5, [None]])
def test_aliases_of_another_form_are_refused(aliases: Any) -> None:
    with pytest.raises(DataError, match="t, row 1: aliases"):
        with_aliases("a", aliases, "t, row 1")
