"""A generator of long prompts: payments in a ledger, and a question about one of them."""

import random

NAMES = ("Ada", "Bela", "Chen", "Dora", "Emil", "Fatou", "Goran", "Hana")
THINGS = ("apples", "bricks", "chairs", "drums", "engines", "flutes")


def payments(rng: random.Random, index: int, length: int | None) -> dict[str, object]:
    """Return one row. It may only use the random numbers, the index and the length that it is given."""
    count = 40 if length is None else length // 5
    lines = [
        f"{rng.choice(NAMES)} paid {rng.randint(10, 99)} for {rng.choice(THINGS)} on day {day}."
        for day in range(count)
    ]
    code = rng.randint(100_000, 999_999)
    return {
        "before": "This is a ledger of payments.",
        "units": lines,
        "hidden": [[rng.random(), f"The code of the safe is {code}."]],
        "after": "What is the code of the safe? Answer with the code alone.",
        "prefix": "The code of the safe is",
        "reference": {"texts": [str(code)], "need": "all"},
    }
