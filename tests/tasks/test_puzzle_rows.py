"""Rows of BIG-Bench Hard, ZebraLogic and ARC-AGI."""

from __future__ import annotations

import json
from typing import Any

import pytest

from genbench.errors import DataError
from genbench.tasks.rows import arc_inputs, bbh_reference, zebra_table

OPTIONS = "Which?\nOptions:\n(A) one\n(B) two\n(C) three"


def bbh(subset: str, asked: str, target: str) -> dict[str, Any]:
    row = bbh_reference({"subset": subset, "input": asked, "target": target}, 0)
    assert isinstance(row, dict)
    return row


@pytest.mark.parametrize(
    ("subset", "asked", "target", "reference", "chance"),
    [
        ("snarks", OPTIONS, "(B)", {"letter": "B", "options": ["one", "two", "three"]}, 1 / 3),
        ("boolean_expressions", "True and False is", "False", ["False"], 0.5),
        ("navigate", "Back?\nOptions:\n- Yes\n- No", "No", ["No"], 0.5),
        ("dyck_languages", "Input: ( [", "] )", {"brackets": "] )"}, 0.0),
        ("word_sorting", "List: b a", "a b", {"words": "a b"}, 0.0),
        ("object_counting", "How many?", "8", ["8"], 0.0),
    ],
)
def test_each_subset_has_its_form_and_its_chance(
    subset: str, asked: str, target: str, reference: Any, chance: float
) -> None:
    row = bbh(subset, asked, target)
    assert (row["reference"], row["chance"]) == (reference, pytest.approx(chance))
    assert row["ending"]


@pytest.mark.parametrize(
    ("asked", "target", "message"),
    [
        (OPTIONS, "Monsters, Inc", "letter of no option"),
        (OPTIONS, "(D)", "letter of no option"),
        ("Options:\n(A) one\n(B) one", "(A)", "two options are the same text"),
        ("Options:\n(A) one", "(A)", "there is one option"),
    ],
)
def test_torn_options_cannot_be_asked(asked: str, target: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        bbh("ruin_names", asked, target)


SOLUTION = {"header": ["House", "Name", "Pet"], "rows": [["1", "Eric", "cat"], ["2", "Arnold", "dog"]]}


@pytest.mark.parametrize("solution", [SOLUTION, json.dumps(SOLUTION)])
def test_a_table_of_zebra_logic_is_shown_empty_and_kept_full(solution: Any) -> None:
    row = zebra_table({"solution": solution}, 0)
    assert isinstance(row, dict)
    assert row["table"] == {
        "House 1": {"Name": "Eric", "Pet": "cat"},
        "House 2": {"Name": "Arnold", "Pet": "dog"},
    }
    assert json.loads(row["form"])["solution"]["House 2"] == {"Name": "…", "Pet": "…"}
    assert "Eric" not in row["form"] and (row["size"], row["difficulty"]) == ("2x2", "easy")


@pytest.mark.parametrize(
    ("houses", "attributes", "difficulty"),
    [(2, 6, "easy"), (3, 2, "easy"), (3, 3, "easy"), (3, 4, "hard"), (4, 2, "hard")],
)
def test_small_puzzles_are_easy(houses: int, attributes: int, difficulty: str) -> None:
    rows = [[str(house), *["x"] * attributes] for house in range(houses)]
    header = ["House", *map(str, range(attributes))]
    row = zebra_table({"solution": {"header": header, "rows": rows}}, 0)
    assert isinstance(row, dict) and row["difficulty"] == difficulty


@pytest.mark.parametrize(
    ("solution", "message"),
    [
        ({"header": ["House", "Name"], "rows": [["1", "___"]]}, "hidden"),
        ({"header": ["House", "Name"], "rows": [["1"]]}, "not a table"),
        ({"rows": []}, "no header and rows"),
        ("{", "not JSON"),
        (None, "no header and rows"),
    ],
)
def test_a_hidden_or_damaged_solution_cannot_be_asked(solution: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        zebra_table({"solution": solution}, 0)


PAIR = {"input": [[1, 2]], "output": [[2, 1]]}


def test_every_test_input_of_a_puzzle_is_a_problem_of_its_own() -> None:
    rows = arc_inputs({"fewshots": [PAIR, PAIR], "question": [PAIR, {"input": [[3]], "output": [[4]]}]}, 7)
    assert [row["problem_id"] for row in rows] == ["7/0", "7/1"]
    assert {row["puzzle"] for row in rows} == {"7"}
    assert [row["reference"] for row in rows] == [[[2, 1]], [[4]]]
    assert rows[1]["given"] == "[[3]]" and rows[0]["pairs"].count("Output: [[2, 1]]") == 2
    assert "[[4]]" not in rows[0]["pairs"]


@pytest.mark.parametrize("grid", [[], [[1], [1, 2]], [[10]], [["a"]]])
def test_a_grid_that_is_no_rectangle_of_colours_cannot_be_asked(grid: Any) -> None:
    with pytest.raises(DataError, match="not a rectangle"):
        arc_inputs({"fewshots": [PAIR], "question": [{"input": grid, "output": [[1]]}]}, 0)
