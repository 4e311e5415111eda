"""Problems for the tiny pair: an endless training stream, and the held-out files of the quickstart suite.

python examples/tiny/data.py DIR      writes DIR/{arithmetic,choice,code,instructions}.jsonl
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import arithmetic
import choice
import functions
import instructions
from item import Item

KINDS: Mapping[str, Callable[[Random], Item]] = {
    "arithmetic": arithmetic.draw,
    "choice": choice.draw,
    "code": functions.draw,
    "instructions": instructions.draw,
}
HELD_OUT_SEED = 20_260
HELD_OUT_ROWS = 100
HELD_OUT_SHARE = 10
"""One problem in ten is never trained on."""


def digest(item: Item) -> str:
    return hashlib.sha256(f"{item.kind}\n{item.key}".encode()).hexdigest()


def is_held_out(item: Item) -> bool:
    """Whether the problem, however it is worded, belongs to the held-out tenth."""
    return int(digest(item)[:8], 16) % HELD_OUT_SHARE == 0


def training_items(seed: int, weights: Mapping[str, float]) -> Iterator[Item]:
    """An endless stream of problems to train on, kinds in proportion to `weights`; none is held out."""
    rng = Random(seed)
    kinds, shares = list(weights), list(weights.values())
    while True:
        item = KINDS[rng.choices(kinds, shares)[0]](rng)
        if not is_held_out(item):
            yield item


def held_out_items(kind: str, count: int = HELD_OUT_ROWS, seed: int = HELD_OUT_SEED) -> list[Item]:
    """`count` different held-out problems of one kind."""
    rng = Random(f"{seed} {kind}")
    found: dict[str, Item] = {}
    while len(found) < count:
        item = KINDS[kind](rng)
        if is_held_out(item):
            found.setdefault(item.key, item)
    return list(found.values())


def row(item: Item) -> dict[str, Any]:
    """The item as a line of a held-out file."""
    return {
        "id": f"{item.family}-{digest(item)[8:16]}",
        "question": item.question,
        **item.columns,
        "family": item.family,
    }


def write_held_out(folder: Path) -> None:
    """Write one file of held-out problems for each kind into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        lines = [json.dumps(row(item)) + "\n" for item in held_out_items(kind)]
        (folder / f"{kind}.jsonl").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    write_held_out(Path(sys.argv[1]))
