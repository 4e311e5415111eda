"""Wrong and right answers to BFCL's conversations, made from the accepted calls of a row."""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Iterator
from typing import Any

Turns = list[list[str]]
Steps = list[list[list[str]]]
"""For each turn of the user, for each reply of the model: its calls."""


def mutants(turns: Turns, own: str) -> Iterator[tuple[str, Steps]]:
    """Yield the name and the calls of each mutant of a row. Those of one row are always the same."""
    rng = random.Random(own)
    full = [place for place, turn in enumerate(turns) if turn]

    def drawn() -> tuple[int, int, Turns]:
        turn = rng.choice(full)
        return turn, rng.randrange(len(turns[turn])), copy.deepcopy(turns)

    yield "truth", one_by_one(turns)
    yield "one_step", [[list(turn)] if turn else [] for turn in turns]
    turn, place, made = drawn()
    del made[turn][place]
    yield "drop", one_by_one(made)
    turn, place, made = drawn()
    made[turn].insert(place, made[turn][place])
    yield "twice", one_by_one(made)
    made = copy.deepcopy(turns)
    made[rng.choice(full)] = []
    yield "silent", one_by_one(made)
    made, turn = copy.deepcopy(turns), rng.choice(full)
    made[turn] = made[turn][::-1]
    yield "reversed", one_by_one(made)
    if len(full) > 1:
        place = rng.randrange(len(full) - 1)
        first, second = full[place], full[place + 1]
        made = copy.deepcopy(turns)
        made[first] = made[first] + made[second]
        made[second] = made[second][-1:]
        yield "early", one_by_one(made)
    turn, place, made = drawn()
    made[turn][place] = changed(made[turn][place])
    yield "changed", one_by_one(made)


def one_by_one(turns: Turns) -> Steps:
    return [[[call] for call in turn] for turn in turns]


def changed(text: str) -> str:
    """Return a call with another value of its first constant argument."""
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    for keyword in call.keywords:
        if isinstance(keyword.value, ast.Constant):
            keyword.value = ast.Constant(other(keyword.value.value))
            break
    return ast.unparse(call)


def other(value: Any) -> Any:
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int | float) else value
