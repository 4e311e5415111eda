"""What lengthens the results of BFCL's category long_context. The texts are genbench's own.

The benchmark's own texts are of the same kinds and lengths, but they are not shipped with genbench.
"""

from __future__ import annotations

import random
from functools import cache
from typing import Any

KEPT_SHORT = frozenset(
    {
        *("log.txt", "report.txt", "report.csv", "DataSet1.csv", "file1.txt", "finance_report.txt"),
        *("config.py", "Q4_summary.doc", "file3.txt"),
    }
)
"""Files whose last lines a row asks for."""
_CROWD = 30
_SENTENCES = (
    "The figures of this section were checked twice before they were approved.",
    "A summary for the board was prepared together with the departments.",
    "Costs stayed within the plan, although prices rose during the second half.",
    "The next review takes place as soon as all offices have answered.",
    "Nothing in this part changes what was agreed in earlier years.",
    "Two teams worked on the details and wrote down what they found.",
)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@cache
def long_text(characters: int = 3_250) -> str:
    """Return prose in one line of about so many characters, which is put after a file's own text."""
    found: list[str] = []
    while sum(map(len, found)) + len(found) < characters:
        found.append(_SENTENCES[len(found) % len(_SENTENCES)])
    return " ".join(found)


@cache
def crowd() -> tuple[str, ...]:
    """Return the names of the empty files that fill a directory."""
    rng = random.Random("crowd")
    return tuple(f"image_{rng.getrandbits(63)}.jpg" for _ in range(_CROWD))


@cache
def symbols(name: str, count: int) -> tuple[str, ...]:
    """Return made-up symbols of stocks. Those of one name are always the same."""
    rng = random.Random(name)
    return tuple("".join(rng.choices(_LETTERS, k=rng.randint(1, 5))) for _ in range(count))


@cache
def averages(name: str, count: int = 2_000) -> tuple[float, ...]:
    """Return made-up moving averages of a stock."""
    rng = random.Random(name)
    return tuple(round(rng.uniform(200, 250), 2) for _ in range(count))


@cache
def transactions(count: int = 1_000) -> tuple[dict[str, Any], ...]:
    """Return made-up transactions of an account."""
    rng = random.Random("transactions")
    return tuple(
        {
            "type": rng.choice(("deposit", "withdrawal")),
            "amount": round(rng.uniform(10, 10_000), 2),
            "timestamp": f"2023-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d} 12:00:00",
        }
        for _ in range(count)
    )


def order_notes(symbol: str) -> dict[str, str]:
    """Return notes on a company, which are shown with an order."""
    parts = ("company_overview", "market_analysis", "technical_analysis", "risk_assessment")
    return {part: f"{symbol}: {long_text(1_700)}" for part in parts}


@cache
def towns(count: int = 800) -> tuple[str, ...]:
    """Return made-up names of towns along a way."""
    rng = random.Random("towns")
    first = ("New", "Old", "East", "West", "Fort", "Green", "Grand", "North")
    last = ("Hillport", "Springs", "Clayton", "Monroe", "Franklin", "Lincoln", "Kingston", "Bend")
    return tuple(f"{rng.choice(first)} {rng.choice(last)}" for _ in range(count))


@cache
def weather() -> dict[str, Any]:
    """Return made-up weather of the days before and after."""
    rng = random.Random("weather")
    return {
        f"{day}_day": {
            "windSpeed": round(rng.uniform(0, 30), 1),
            "humidity": round(rng.uniform(20, 90), 1),
            "precipitation": round(rng.uniform(0, 20), 1),
            "uvIndex": rng.randint(0, 10),
            "visibility": round(rng.uniform(1, 20), 1),
        }
        for day in range(-7, 8)
        if day
    }


@cache
def cards() -> dict[str, dict[str, Any]]:
    """Return made-up credit cards."""
    rng = random.Random("cards")
    numbers = [str(rng.randint(10**15, 10**16 - 1)) for _ in range(22)]
    return {
        number: {
            "card_number": number,
            "expiration_date": f"{rng.randint(1, 12):02d}/{rng.randint(24, 29)}",
            "cardholder_name": f"Card Holder {place}",
            "card_verification_number": rng.randint(100, 999),
            "balance": float(rng.randint(1_000, 20_000)),
        }
        for place, number in enumerate(numbers, start=1)
    }


@cache
def bookings() -> dict[str, dict[str, Any]]:
    """Return made-up bookings of those cards."""
    rng = random.Random("bookings")
    return {
        f"booking_{900 + place}": {
            "card_id": card,
            "travel_date": f"2024-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}",
            "travel_from": "SFO",
            "travel_to": rng.choice(("LAX", "JFK", "ORD", "BOS")),
            "travel_class": rng.choice(("economy", "business", "first")),
            "travel_cost": float(rng.randint(2, 30) * 100),
            "transaction_id": f"trans_{place:03d}",
        }
        for place, card in enumerate(list(cards())[:16], start=1)
    }
