"""Options of a multiple-choice question: their letters, and the order in which one sample sees them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Literal, get_args

from genbench.errors import ConfigError, nearest
from genbench.types import Problem

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

Order = Literal["per_sample", "per_problem", "as_given"]
"""How options are ordered: anew for each sample (the draws average over positions), once for each problem,
or as the dataset has them (for options that refer to each other, as in "both A and B")."""


def check_order(order: str) -> Order:
    """Return `order` if it is a known one.

    Raises:
        ConfigError: it is unknown.
    """
    for known in get_args(Order):
        if order == known:
            return known  # type: ignore[no-any-return]
    raise ConfigError(f"unknown option order '{order}'{nearest(order, get_args(Order))}")


def option_order(order: Order, count: int, problem_id: str, sample_index: int) -> tuple[int, ...]:
    """Return the indices of the options in the order shown.

    Every order is equally likely, and the same on every machine.
    """
    if order == "as_given":
        return tuple(range(count))
    draw = f"{problem_id}\0{sample_index}" if order == "per_sample" else problem_id

    def place(option: int) -> bytes:
        return hashlib.sha256(f"{draw}\0{option}".encode("utf-8", "surrogatepass")).digest()

    return tuple(sorted(range(count), key=place))


def shown_options(
    order: Order, problem: Problem, sample_index: int
) -> tuple[tuple[int, ...], list[str], dict[str, Any]]:
    """Return the order of a problem's options for one sample, their texts in it, and the reference.

    Its row has `options`, and the place of the right one. `also` are the places of further right ones.
    """
    row = problem.row
    places = option_order(order, len(row["options"]), problem.problem_id, sample_index)
    texts = [row["options"][place] for place in places]
    reference = {"letter": LETTERS[places.index(row["right"])], "options": texts}
    if row.get("also"):
        reference["also"] = "".join(LETTERS[places.index(place)] for place in row["also"])
    return places, texts, reference


def listed(texts: Sequence[str], form: str = "{letter}) {text}") -> str:
    """Return the options as lines, one for each option in `form`."""
    before, _, after = form.partition("{letter}")
    between, _, end = after.partition("{text}")
    pairs = zip(LETTERS, texts, strict=False)
    return "\n".join(f"{before}{letter}{between}{text}{end}" for letter, text in pairs)


def letters(count: int) -> str:
    """Return the letters as `A, B, C or D`."""
    names = list(LETTERS[:count])
    return f"{', '.join(names[:-1])} or {names[-1]}" if count > 1 else names[0]
