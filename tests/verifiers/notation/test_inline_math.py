"""Mathematics in sentences of plain text."""

from __future__ import annotations

import pytest

from genbench.verifiers.notation.inline_math import find_inline_math
from tests.table import each_row


@each_row(
    "text, runs",
    [
        ("the area is 5π.", ["5π"]),
        ("the area is 2πr² now", ["2πr²"]),
        ("it equals 3√2 + 1 units", ["3√2 + 1"]),
        ("sqrt(3)/2 because", ["sqrt(3)/2"]),
        ("the point (3, 4) is", ["(3, 4)"]),
        ("in [2, 5) it", ["[2, 5)"]),
        ("in (-∞, 3] it", ["(-∞, 3]"]),
        ("she has 5 + 7 = 12 apples", ["5 + 7 = 12"]),
        ("costs $1,234.50 total", ["$1,234.50"]),
        ("f(x) = x^2 + 1", ["f(x) = x^2 + 1"]),
        ("It is 12m long", ["12"]),
        ("between 200 and 204", ["200", "204"]),
        ("x ≤ 5", ["x ≤ 5"]),
        ("1 1/2 cups", ["1 1/2"]),
        ("12% of", ["12%"]),
        ("-12 degrees", ["-12"]),
        ("the total – 5", ["5"]),
        ("\\frac{1}{2} of", ["\\frac{1}{2}"]),
        ("2 sqrt(3)", ["2 sqrt(3)"]),
        ("The answer is 204!", ["204"]),
        ("5! ways", ["5!"]),
        ("H2O", []),
        ("I have a dog", []),
        ("(see above)", []),
        ("No. 5, 3.14", ["5", "3.14"]),
        ("3 x 4 = 12", ["3 x 4 = 12"]),
    ],
)
def test_runs_are_found(text: str, runs: list[str]) -> None:
    assert [run.text for run in find_inline_math(text)] == runs


@pytest.mark.parametrize("text", ["(" * 5_000, "1+" * 5_000, "a " * 5_000, "sqrt(" * 2_000])
def test_hostile_texts_are_searched_in_time(text: str) -> None:
    assert len(find_inline_math(text)) <= 1_500


def test_places_are_given() -> None:
    (run,) = find_inline_math("it is 12.")
    assert (run.start, run.end) == (6, 8)
