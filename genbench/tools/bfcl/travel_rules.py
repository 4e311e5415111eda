"""The rules of BFCL's travel agency: fares, valid flights, currencies and travellers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from types import MappingProxyType
from typing import Any

from genbench.tools.bfcl.fares import AIRPORTS, fares

_TODAY = date(2025, 7, 9)
"""The day of the benchmark's commit, so that a traveller's age does not depend on the clock."""
_ADULT_YEARS = 18
_CLASSES: Mapping[str, int] = MappingProxyType({"economy": 1, "business": 2, "first": 5})
_RATES: Mapping[str, float] = MappingProxyType(
    {
        "RMB": 7,
        "EUR": 0.8,
        "JPY": 110,
        "GBP": 0.7,
        "CAD": 1.3,
        "AUD": 1.4,
        "INR": 70,
        "RUB": 60,
        "BRL": 3.8,
        "MXN": 20,
    }
)
"""What a dollar costs."""


def price_factor(travel_from: str, travel_to: str, travel_date: str, travel_class: str) -> int:
    """Return by how much a fare is multiplied: by class, and by two if the digits of the date are even.

    Raises:
        ValueError: there is no such route or class.
    """
    if (travel_from, travel_to) not in fares():
        raise ValueError("No available route for the given airports.")
    if travel_class not in _CLASSES:
        raise ValueError("Invalid travel class. Options are: economy, business, first.")
    is_even = sum(int(character) for character in travel_date if character.isdigit()) % 2 == 0
    return _CLASSES[travel_class] * (2 if is_even else 1)


def flight_error(
    card: Mapping[str, Any] | None, *, travel_date: str, travel_from: str, travel_to: str, travel_class: str
) -> str | None:
    """Return why a flight cannot be booked with a card, or None if it can."""
    if card is None:
        return "Card not registered"
    if "balance" not in card:
        return "Balance not found"
    for place, code in (("departure", travel_from), ("destination", travel_to)):
        if code not in AIRPORTS:
            return f"Invalid {place} airport code: {code}"
    try:
        datetime.strptime(travel_date, "%Y-%m-%d")
    except ValueError:
        return "Invalid date format. Use YYYY-MM-DD."
    if travel_class not in _CLASSES:
        return f"Invalid travel class. Must be one of {{{', '.join(map(repr, _CLASSES))}}}"
    return None


def exchanged(base: str, target: str, value: float) -> float:
    """Return an amount in another currency. One of both is the dollar.

    Raises:
        ValueError: there is no rate for the pair.
    """
    if base == "USD" and target in _RATES:
        return value * _RATES[target]
    if target == "USD" and base in _RATES:
        return round(value / _RATES[base], 2)
    raise ValueError("No available exchange rate for the given currencies.")


def traveler_error(
    user: tuple[str | None, str | None], given: tuple[str, str], born: str, passport: str
) -> str | None:
    """Return why a traveller is refused: not the user, a minor, or no passport of the United States."""
    if user != given:
        expected = f"Expected {user[0]} {user[1]}, got {given[0]} {given[1]}"
        return f"Cannot book flight information for another user.{expected}"
    try:
        day = datetime.strptime(born, "%Y-%m-%d")
    except ValueError:
        return "Invalid date of birth format. Please use YYYY-MM-DD."
    had_birthday = (_TODAY.month, _TODAY.day) >= (day.month, day.day)
    if _TODAY.year - day.year - (not had_birthday) < _ADULT_YEARS:
        return "Traveler must be at least 18 years old."
    if not passport.startswith("US"):
        return "Passport must be issued by the United States."
    return None
