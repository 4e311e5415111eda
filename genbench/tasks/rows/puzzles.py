"""Rows of puzzles: BIG-Bench Hard, ZebraLogic and ARC-AGI."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from genbench.errors import DataError
from genbench.protocols import Row

_OPTION = re.compile(r"^\(([A-Z])\) ?(.*)$", re.MULTILINE)
_LETTER = re.compile(r"\(([A-Z])\)")
_TWO = frozenset({"true", "false", "yes", "no", "valid", "invalid"})
_ENDINGS = {
    "option": "the letter of the right option",
    "dyck_languages": "the brackets that complete the sequence, and nothing else",
    "word_sorting": "all the words in their order, with blanks between them",
    "number": "a number",
    "word": "{words}",
}
_WORDS = {
    "boolean_expressions": "True or False",
    "causal_judgement": "Yes or No",
    "formal_fallacies": "valid or invalid",
    "navigate": "Yes or No",
    "sports_understanding": "yes or no",
    "web_of_lies": "Yes or No",
}
_HIDDEN = "___"


def bbh_reference(row: Row, place: int) -> Row:
    """Return a row of BIG-Bench Hard with its reference, the form of its answer and the chance of a guess.

    Raises:
        DataError: the row has options, and the target is the letter of none, there is only one, or two are
            the same text. Five rows of the data are like that; in three the options were torn at commas.
    """
    target, subset = str(row["target"]).strip(), str(row["subset"])
    options = _OPTION.findall(str(row["input"]))
    reference: Any
    if options:
        reference, form, chance = _option(target, options), "option", 1 / len(options)
    elif subset == "dyck_languages":
        reference, form, chance = {"brackets": target}, subset, 0.0
    elif subset == "word_sorting":
        reference, form, chance = {"words": target}, subset, 0.0
    else:
        reference = [target]
        form = "word" if target.casefold() in _TWO else "number"
        chance = 0.5 if form == "word" else 0.0
    ending = _ENDINGS[form].format(words=_WORDS.get(subset, ""))
    return {**row, "reference": reference, "ending": ending, "chance": chance}


def _option(target: str, options: list[tuple[str, str]]) -> dict[str, Any]:
    letter = _LETTER.fullmatch(target)
    names, texts = [name for name, _ in options], [text.strip() for _, text in options]
    if letter is None or letter[1] not in names:
        raise DataError(f"the target {target!r} is the letter of no option; options: {texts}")
    if len(texts) < 2 or len(set(texts)) < len(texts):
        raise DataError(
            f"{'two options are the same text' if len(texts) > 1 else 'there is one option'}: {texts}"
        )
    return {"letter": letter[1], "options": texts}


def zebra_table(row: Row, place: int) -> Row:
    """Return a row of ZebraLogic with its table, an empty one to fill in, and its size.

    Raises:
        DataError: the solution is hidden, as in the public copy, or it is no table.
    """
    solution = row["solution"]
    if isinstance(solution, str):
        try:
            solution = json.loads(solution)
        except ValueError as error:
            raise DataError(f"solution is no JSON: {error}") from None
    try:
        header, rows = (
            [str(name) for name in solution["header"]],
            [list(map(str, item)) for item in solution["rows"]],
        )
    except (TypeError, KeyError) as error:
        raise DataError(f"solution has no header and rows: {error!r}") from None
    if len(header) < 2 or not rows or any(len(item) != len(header) for item in rows):
        raise DataError(
            f"solution is no table: {len(header)} columns, rows of {sorted({len(item) for item in rows})}"
        )
    if any(value == _HIDDEN for item in rows for value in item):
        raise DataError(
            "the solution is hidden (___); the one with solutions is allenai/ZebraLogicBench-private"
        )
    table = {
        f"House {number}": dict(zip(header[1:], item[1:], strict=True)) for number, item in enumerate(rows, 1)
    }
    empty = {house: dict.fromkeys(values, "…") for house, values in table.items()}
    return {
        **row,
        "table": table,
        "form": json.dumps({"solution": empty}, ensure_ascii=False, indent=2),
        "size": f"{len(rows)}x{len(header) - 1}",
        "difficulty": "easy"
        if len(rows) == 2 or (len(rows), len(header) - 1) in ((3, 2), (3, 3))
        else "hard",
    }


def arc_inputs(row: Row, place: int) -> list[Row]:
    """Return one row for each test input of a puzzle of ARC-AGI. The number of the puzzle is their group.

    Raises:
        DataError: a grid is missing or is no rectangle of the numbers 0 to 9.
    """
    shown = "\n\n".join(
        f"Example {number}\nInput: {_grid(pair, 'input')}\nOutput: {_grid(pair, 'output')}"
        for number, pair in enumerate(row["fewshots"], start=1)
    )
    puzzle = str(place)  # the hub's rows have no ids
    return [
        {
            **row,
            "puzzle": puzzle,
            "problem_id": f"{puzzle}/{number}",
            "pairs": shown,
            "given": _grid(pair, "input"),
            "reference": json.loads(_grid(pair, "output")),
        }
        for number, pair in enumerate(row["question"])
    ]


def _grid(pair: Mapping[str, Any], side: str) -> str:
    """Return one grid as JSON."""
    rows = pair[side]
    cells = [cell for line in rows for cell in line]
    if not rows or len({len(line) for line in rows}) != 1 or not all(cell in range(10) for cell in cells):
        raise DataError(f"the {side} grid {str(rows)[:80]} is no rectangle of the numbers 0 to 9")
    return json.dumps(rows)
