"""Multiple choice with four options: numbers to compare, words to place, small sums; answered by letter."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from item import Item, with_trace

LETTERS = "ABCD"
WORDS = {
    "an animal": ("dog", "cat", "horse", "cow", "bear", "wolf", "goat", "fox"),
    "a color": ("red", "blue", "green", "black", "white", "brown", "pink", "gray"),
    "a food": ("bread", "rice", "soup", "cheese", "cake", "egg", "meat", "corn"),
    "a tool": ("hammer", "saw", "drill", "knife", "spade", "axe", "brush", "rope"),
    "a place": ("city", "farm", "school", "market", "garden", "forest", "island", "bank"),
}
TESTS: dict[str, Callable[[int], bool]] = {
    "even": lambda number: number % 2 == 0,
    "odd": lambda number: number % 2 == 1,
    "a multiple of 5": lambda number: number % 5 == 0,
    "a multiple of 10": lambda number: number % 10 == 0,
}


def shuffled(rng: Random, options: list[str]) -> list[str]:
    return rng.sample(options, len(options))


def draw_extreme(rng: Random) -> tuple[str, list[str], str, str]:
    """The largest or smallest of four numbers, compared one after another."""
    word, pick = rng.choice((("largest", max), ("smallest", min)))
    numbers = rng.sample(range(10, 100), 4)
    best, steps = numbers[0], [str(numbers[0])]
    for number in numbers[1:]:
        best = pick(best, number)
        steps.append(str(best))
    trace = f"{word} so far: " + ", ".join(steps)
    return f"Which number is the {word}?", [str(number) for number in numbers], str(pick(numbers)), trace


def draw_property(rng: Random) -> tuple[str, list[str], str, str]:
    """The one of four numbers that has a property which its last digit tells."""
    name, holds = rng.choice(list(TESTS.items()))
    pool = range(10, 100)
    right = rng.choice([number for number in pool if holds(number)])
    wrong = rng.sample([number for number in pool if not holds(number)], 3)
    options = shuffled(rng, [str(number) for number in (right, *wrong)])
    trace = "last digits: " + ", ".join(option[-1] for option in options)
    return f"Which number is {name}?", options, str(right), trace


def draw_category(rng: Random) -> tuple[str, list[str], str, str]:
    """The one of four words that belongs to a category."""
    name = rng.choice(list(WORDS))
    others = rng.sample([other for other in WORDS if other != name], 3)
    right = rng.choice(WORDS[name])
    options = shuffled(rng, [right, *(rng.choice(WORDS[other]) for other in others)])
    return f"Which of these is {name}?", options, right, f"{right} is {name}"


def draw_small_sum(rng: Random) -> tuple[str, list[str], str, str]:
    """A sum of one-digit numbers among near misses."""
    numbers = [rng.randint(1, 9) for _ in range(3)]
    total = sum(numbers)
    near = [total + shift for shift in (-3, -2, -1, 1, 2, 3) if total + shift > 0]
    options = shuffled(rng, [str(number) for number in (total, *rng.sample(near, 3))])
    first = numbers[0] + numbers[1]
    trace = f"{numbers[0]}+{numbers[1]}={first} {first}+{numbers[2]}={total}"
    return f"What is {' + '.join(map(str, numbers))}?", options, str(total), trace


FAMILIES = {
    "extreme": draw_extreme,
    "property": draw_property,
    "category": draw_category,
    "small_sum": draw_small_sum,
}


def draw(rng: Random) -> Item:
    """One problem; the options stand in random order.

    Words are answered at once, numbers after a short trace; so both kinds of completion occur.
    """
    family = rng.choice(list(FAMILIES))
    stem, options, right, trace = FAMILIES[family](rng)
    key = " ".join([*sorted(stem.split()), *sorted(options)])
    letter = LETTERS[options.index(right)]
    lines = "\n".join(f"{mark}) {option}" for mark, option in zip(LETTERS, options, strict=True))
    said = f"Answer: {letter}"
    return Item(
        kind="choice",
        family=family,
        key=key,
        question=f"{stem}\n{lines}",
        completion=said if family == "category" else with_trace(f"{trace}\n{letter}) {right}", said),
        columns={"stem": stem, "options": options, "answer": letter},
    )
