"""Multiple choice with four options: words and numbers with a feature to find; answered by letter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from item import Item, with_trace

LETTERS = "ABCD"
WORDS = {
    "animal": ("dog", "cat", "horse", "cow", "bear", "wolf", "goat", "fox"),
    "color": ("red", "blue", "green", "black", "white", "brown", "pink", "gray"),
    "food": ("bread", "rice", "soup", "cheese", "cake", "egg", "meat", "corn"),
    "tool": ("hammer", "saw", "drill", "knife", "spade", "axe", "brush", "rope"),
    "place": ("city", "farm", "school", "market", "garden", "forest", "island", "bank"),
}
CATEGORY = {word: name for name, words in WORDS.items() for word in words}


@dataclass(frozen=True, slots=True)
class Family:
    """Options of one type, told apart by one feature; the trace names each option's feature."""

    question: str
    pool: tuple[str, ...]
    feature: Callable[[str], str]


ENDINGS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
DECADES = (
    "", "tens", "twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties",
)  # fmt: skip
NUMBERS = tuple(str(number) for number in range(10, 100))
FAMILIES = {
    "parity": Family("Which number is {}?", NUMBERS, lambda number: ("even", "odd")[int(number) % 2]),
    "ending": Family("Which number ends in {}?", NUMBERS, lambda number: ENDINGS[int(number[1])]),
    "decade": Family("Which number is in the {}?", NUMBERS, lambda number: DECADES[int(number[0])]),
    "category": Family("Which word is a kind of {}?", tuple(CATEGORY), CATEGORY.__getitem__),
}


def draw(rng: Random) -> Item:
    """One problem; the options stand in random order, which does not make it another problem.

    Options are looked at one after another: in a trace, or for categories in the answer itself.
    """
    name = rng.choice(list(FAMILIES))
    family = FAMILIES[name]
    right = rng.choice(family.pool)
    asked = family.feature(right)
    wrong = rng.sample([option for option in family.pool if family.feature(option) != asked], 3)
    options = rng.sample([right, *wrong], len(LETTERS))
    lines = [f"{letter}) {option}" for letter, option in zip(LETTERS, options, strict=True)]
    looked = "\n".join(
        f"{line} {family.feature(option)} {'yes' if option == right else 'no'}"
        for line, option in zip(lines, options, strict=True)
    )
    stem = family.question.format(asked)
    letter = LETTERS[options.index(right)]
    said = f"Answer: {letter}"
    return Item(
        kind="choice",
        family=name,
        key=" ".join([stem, *sorted(options)]),
        question="\n".join([stem, *lines]),
        completion=f"{looked}\n{said}" if name == "category" else with_trace(looked, said),
        columns={"stem": stem, "options": options, "answer": letter},
    )
