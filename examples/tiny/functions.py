"""One-line Python functions to write from a sentence; checked by calling them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from item import Item

NAMES = ("f", "g", "solve", "run", "calc", "task", "work", "step")
LETTERS = "abcdeghkmnprst"


@dataclass(frozen=True, slots=True)
class Family:
    """A sentence and an expression with places for two numbers `k` and `m` and a letter `c`.

    `compute` is the same function in Python, from which the tests' expected values come.
    """

    argument: str
    sentence: str
    expression: str
    compute: Callable[[Any, int, int, str], Any]


FAMILIES = {
    "plus": Family("x", "x plus {k}", "x + {k}", lambda x, k, m, c: x + k),
    "minus": Family("x", "x minus {k}", "x - {k}", lambda x, k, m, c: x - k),
    "from": Family("x", "{k} minus x", "{k} - x", lambda x, k, m, c: k - x),
    "times": Family("x", "x times {k}", "x * {k}", lambda x, k, m, c: x * k),
    "line": Family("x", "x times {k} plus {m}", "x * {k} + {m}", lambda x, k, m, c: x * k + m),
    "rest": Family("x", "the rest of x divided by {k}", "x % {k}", lambda x, k, m, c: x % k),
    "gap": Family("x", "how far x is from {k}", "abs(x - {k})", lambda x, k, m, c: abs(x - k)),
    "multiple": Family("x", "whether {k} divides x", "x % {k} == 0", lambda x, k, m, c: x % k == 0),
    "square": Family("x", "the square of x plus {k}", "x * x + {k}", lambda x, k, m, c: x * x + k),
    "at_least": Family("x", "x but at least {k}", "max(x, {k})", lambda x, k, m, c: max(x, k)),
    "at_most": Family("x", "x but at most {k}", "min(x, {k})", lambda x, k, m, c: min(x, k)),
    "first": Family("v", "the first {k} items of v", "v[:{k}]", lambda v, k, m, c: v[:k]),
    "without": Family("v", "v without its first {k} items", "v[{k}:]", lambda v, k, m, c: v[k:]),
    "sum": Family("v", "the sum of v plus {k}", "sum(v) + {k}", lambda v, k, m, c: sum(v) + k),
    "largest": Family("v", "the largest item of v times {k}", "max(v) * {k}", lambda v, k, m, c: max(v) * k),
    "count": Family("v", "how often {k} is in v", "v.count({k})", lambda v, k, m, c: v.count(k)),
    "length": Family("s", "the length of s plus {k}", "len(s) + {k}", lambda s, k, m, c: len(s) + k),
    "repeat": Family("s", "s written {k} times", "s * {k}", lambda s, k, m, c: s * k),
    "letters": Family(
        "s", "how often '{c}' is in s plus {k}", "s.count('{c}') + {k}", lambda s, k, m, c: s.count(c) + k
    ),
    "end": Family("s", "s with '{c}' and {k} at the end", "s + '{c}{k}'", lambda s, k, m, c: f"{s}{c}{k}"),
}


def arguments(kind: str, rng: Random, k: int, c: str) -> list[Any]:
    """Three arguments of the family's type that tell right functions from near misses."""
    if kind == "x":
        return [rng.randint(1, 20), k, rng.randint(100, 300)]
    if kind == "v":
        return [
            [rng.randint(1, 99) for _ in range(size)] + [k] * times
            for size, times in ((3, 1), (5, 0), (99, 2))
        ]
    return ["".join(rng.choices(LETTERS, k=size)) + c for size in (1, 4, 7)]


def draw(rng: Random) -> Item:
    """One function to write. Tests are {input, output} in JSON, one argument a line."""
    family = rng.choice(list(FAMILIES))
    made = FAMILIES[family]
    k, m, c = rng.randint(2, 99), rng.randint(2, 99), rng.choice(LETTERS)
    name = f"{rng.choice(NAMES)}{rng.randint(1, 99)}"
    sentence = made.sentence.format(k=k, m=m, c=c)
    calls = [(argument, made.compute(argument, k, m, c)) for argument in arguments(made.argument, rng, k, c)]
    body = f"def {name}({made.argument}):\n    return {made.expression.format(k=k, m=m, c=c)}"
    return Item(
        kind="code",
        family=family,
        key=sentence,
        question=f"Write a Python function {name}({made.argument}) that returns {sentence}.",
        completion=f"```python\n{body}\n```",
        columns={
            "fn_name": name,
            "tests": [{"input": json.dumps(given), "output": json.dumps(wanted)} for given, wanted in calls],
        },
    )
