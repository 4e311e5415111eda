"""Whole-number arithmetic: worked digit by digit in a trace, answered in a box."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from item import Item, with_trace

PEOPLE = ("Tom", "Ann", "Ben", "Mia", "Sam", "Eva")
THINGS = ("coins", "books", "cards", "stones", "apples", "stamps")


def added(a: int, b: int) -> str:
    """The steps of a + b for two numbers below 1000: the ones, the tens, the tens with the carry."""
    low, high = a % 10 + b % 10, a // 10 + b // 10
    carried = f" {high}+1={high + 1}" if low >= 10 else ""
    return f"{a}+{b}: {a % 10}+{b % 10}={low} {a // 10}+{b // 10}={high}{carried} so {a + b}"


def subtracted(a: int, b: int) -> str:
    """The steps of a - b for two-digit a >= b: the ones, the tens, borrowing where needed."""
    borrow = int(a % 10 < b % 10)
    ones, tens = a % 10 + 10 * borrow, a // 10 - borrow
    return f"{a}-{b}: {ones}-{b % 10}={ones - b % 10} {tens}-{b // 10}={tens - b // 10} so {a - b}"


def multiplied(a: int, b: int) -> str:
    """The steps of a * b for a one-digit a and a two-digit b: the ones, the tens, the tens with the carry."""
    low, high = a * (b % 10), a * (b // 10)
    return (
        f"{a}*{b}: {a}*{b % 10}={low} {a}*{b // 10}={high} {high}+{low // 10}={high + low // 10} so {a * b}"
    )


def draw_sum(rng: Random) -> tuple[str, str, str, str, int]:
    a, b = rng.randint(10, 99), rng.randint(10, 99)
    story = f"{rng.choice(PEOPLE)} has {a} {rng.choice(THINGS)} and gets {b} more. How many are there now?"
    low, high = sorted((a, b))
    return f"{low}+{high}", f"{a} + {b}", story, added(a, b), a + b


def draw_difference(rng: Random) -> tuple[str, str, str, str, int]:
    b, a = sorted((rng.randint(10, 99), rng.randint(10, 99)))
    story = f"{rng.choice(PEOPLE)} has {a} {rng.choice(THINGS)} and loses {b}. How many are left?"
    return f"{a}-{b}", f"{a} - {b}", story, subtracted(a, b), a - b


def draw_product(rng: Random) -> tuple[str, str, str, str, int]:
    a, b = rng.randint(2, 9), rng.randint(11, 99)
    story = f"{rng.choice(PEOPLE)} has {a} boxes of {b} {rng.choice(THINGS)} each. How many is that?"
    return f"{a}*{b}", f"{a} * {b}", story, multiplied(a, b), a * b


def draw_long_sum(rng: Random) -> tuple[str, str, str, str, int]:
    a, b, c = (rng.randint(10, 99) for _ in range(3))
    who, what = rng.choice(PEOPLE), rng.choice(THINGS)
    story = f"{who} has {a} {what}, finds {b} and buys {c}. How many are there now?"
    key = "+".join(str(number) for number in sorted((a, b, c)))
    return key, f"{a} + {b} + {c}", story, f"{added(a, b)}\n{added(a + b, c)}", a + b + c


FAMILIES: dict[str, Callable[[Random], tuple[str, str, str, str, int]]] = {
    "sum": draw_sum,
    "difference": draw_difference,
    "product": draw_product,
    "long_sum": draw_long_sum,
}


def draw(rng: Random) -> Item:
    """One problem: a bare expression, or the same in a story."""
    family = rng.choice(list(FAMILIES))
    key, expression, story, trace, result = FAMILIES[family](rng)
    asked = rng.choice((f"What is {expression}?", f"Compute {expression}.", story))
    return Item(
        kind="arithmetic",
        family=family,
        key=key,
        question=asked,
        completion=with_trace(trace, f"The answer is \\boxed{{{result}}}."),
        columns={"reference": str(result)},
    )
