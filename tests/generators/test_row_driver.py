"""The program that runs a generator, called as it is inside the sandbox."""

from __future__ import annotations

import json
from typing import Any

from genbench.generators.row_driver import make

SOURCE = """
def row(rng, index, length):
    if index == 3:
        raise ValueError("three")
    if index == 4:
        return {"reference": {1}}
    return {"reference": [rng.random(), index, length]}
"""


def made(index: int, seed: int = 1, function: str = "row") -> Any:
    order = {
        "source": SOURCE,
        "path": "g.py",
        "function": function,
        "seed": seed,
        "index": index,
        "length": 8,
    }
    return json.loads(make(order))


def test_a_row_depends_on_its_seed_and_its_index() -> None:
    first = made(0)["row"]["reference"]
    assert first == made(0)["row"]["reference"]
    assert first[1:] == [0, 8]
    assert len({made(index, seed)["row"]["reference"][0] for index in range(3) for seed in (1, 2)}) == 6


def test_a_failure_is_told_with_its_line() -> None:
    assert made(3)["failed"] == "row(3, 8): ValueError: three (line 4)"
    assert "not JSON serializable" in made(4)["failed"]
    assert "no attribute" in made(0, function="rows")["failed"]
