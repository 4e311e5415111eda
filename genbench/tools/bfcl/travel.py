"""The travel agency of BFCL's conversations: flights, credit cards, insurance and a budget."""

from __future__ import annotations

import copy
import random
from collections.abc import Mapping
from datetime import date, datetime
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar

from genbench.tools.bfcl.padding import bookings, cards
from genbench.tools.bfcl.service import Release, Result, Service, failed

CITIES: Mapping[str, str] = MappingProxyType(
    {
        "Rivermist": "RMS",
        "Stonebrook": "SBK",
        "Maplecrest": "MPC",
        "Silverpine": "SVP",
        "Shadowridge": "SHD",
        "London": "LHR",
        "Paris": "CDG",
        "Sunset Valley": "SSV",
        "Oakendale": "OKD",
        "Willowbend": "WLB",
        "Crescent Hollow": "CRH",
        "Autumnville": "ATV",
        "Pinehaven": "PHV",
        "Greenfield": "GFD",
        "San Francisco": "SFO",
        "Los Angeles": "LAX",
        "New York": "JFK",
        "Chicago": "ORD",
        "Boston": "BOS",
        "Beijing": "PEK",
        "Hong Kong": "HKG",
        "Rome": "CIA",
        "Tokyo": "HND",
    }
)
AIRPORTS = (
    *("RMS", "SBK", "MPC", "SVP", "SHD", "CDG", "LHR", "SSV", "OKD", "WLB", "PEK", "HND"),
    *("HKG", "CIA", "CRH", "ATV", "PHV", "GFD", "SFO", "LAX", "JFK", "ORD", "BOS"),
)
_FROM: Mapping[str, str] = MappingProxyType(
    {
        "SFO": (
            "LAX:200 JFK:500 ORD:400 BOS:450 RMS:300 SBK:350 MPC:370 SVP:320 SHD:330 SSV:340 OKD:360 "
            "WLB:310 CRH:380 ATV:390 PHV:420 GFD:430 CIA:700"
        ),
        "LAX": (
            "SFO:100 JFK:600 ORD:500 BOS:550 RMS:310 SBK:320 MPC:330 SVP:340 SHD:350 SSV:360 OKD:370 "
            "WLB:380 CRH:390 ATV:400 PHV:410 GFD:420 HND:430"
        ),
        "JFK": (
            "ORD:300 BOS:250 RMS:450 SBK:460 MPC:470 SVP:480 SHD:490 SSV:500 OKD:510 WLB:520 CRH:530 "
            "ATV:540 PHV:550 GFD:560 LAX:570 HND:800 PVG:950 PEK:1000"
        ),
        "ORD": (
            "LAX:180 BOS:200 RMS:350 SBK:360 MPC:370 SVP:380 SHD:390 SSV:400 OKD:410 WLB:420 CRH:430 "
            "ATV:440 PHV:450 GFD:460"
        ),
        "BOS": (
            "RMS:400 SBK:410 MPC:420 SVP:430 SHD:440 SSV:450 OKD:460 WLB:470 CRH:480 ATV:490 PHV:500 GFD:510"
        ),
        "RMS": (
            "BOS:200 JFK:210 SBK:220 MPC:230 SVP:240 SHD:250 SSV:260 OKD:270 WLB:280 CRH:290 ATV:300 "
            "PHV:310 GFD:320 LAX:330"
        ),
        "SBK": "MPC:200 SVP:210 SHD:220 SSV:230 OKD:240 WLB:250 CRH:260 ATV:270 PHV:280 GFD:290",
        "MPC": "SVP:210 SHD:220 SSV:230 OKD:240 WLB:250 CRH:260 ATV:270 PHV:280 GFD:290",
        "SVP": "SHD:230 SSV:240 OKD:250 WLB:260 CRH:270 ATV:280 PHV:290 GFD:300",
        "SHD": "SSV:220 OKD:230 WLB:240 CRH:250 ATV:260 PHV:270 GFD:280",
        "SSV": "OKD:240 WLB:250 CRH:260 ATV:270 PHV:280 GFD:290",
        "OKD": "WLB:230 CRH:240 ATV:250 PHV:260 GFD:270 LAX:220",
        "WLB": "CRH:250 ATV:260 PHV:270 GFD:280",
        "CRH": "ATV:240 PHV:250 GFD:260 SFO:270 RMS:280 HKG:290 JFK:300",
        "ATV": "PHV:230 GFD:240",
        "PHV": "GFD:220",
        "LHR": "CDG:100",
    }
)
"""By the airport of departure: the airports that it has flights to, with the fares."""
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
_SEED = 141053


@cache
def fares() -> dict[tuple[str, str], int]:
    """Return the fare of each route that has flights."""
    found = {}
    for start, routes in _FROM.items():
        for route in routes.split():
            end, _, fare = route.partition(":")
            found[start, end] = int(fare)
    return found


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


class TravelAPI(Service):
    """A travel agency. A token is valid for two failures under v3, and without end under v4."""

    only_in: ClassVar[Mapping[str, Release]] = MappingProxyType({"get_booking_history": "v4"})

    def __init__(self, config: Mapping[str, Any], *, padded: bool = False, release: Release = "v3") -> None:
        super().__init__(config, padded=padded, release=release)
        self._random = random.Random(config.get("random_seed", _SEED))
        self.credit_card_list: dict[str, Result] = self._given("credit_card_list", {})
        self.booking_record: dict[str, Result] = self._given("booking_record", {})
        self.access_token: str | None = self._given("access_token", None)
        self.token_type: str | None = self._given("token_type", None)
        self.token_expires_in: Any = self._given("token_expires_in", None)
        self.token_scope: str | None = self._given("token_scope", None)
        self.user_first_name: str | None = self._given("user_first_name", None)
        self.user_last_name: str | None = self._given("user_last_name", None)
        self.budget_limit: float | None = self._given("budget_limit", None)
        if padded:
            self.credit_card_list = {**copy.deepcopy(cards()), **self.credit_card_list}
            self.booking_record = {**copy.deepcopy(bookings()), **self.booking_record}

    def _token_error(self, access_token: str) -> str | None:
        """Return what is wrong with a token. Under v3 a wrong one uses up the right one."""
        if self.token_expires_in == 0:
            return "Token expired"
        if access_token == self.access_token:
            return None
        if not self._is_v4:
            self.token_expires_in -= 1
        return "Invalid access token"

    def authenticate_travel(
        self,
        client_id: str,
        client_secret: str,
        refresh_token: str,
        grant_type: str,
        user_first_name: str,
        user_last_name: str,
    ) -> Result:
        """Log in. Any client does."""
        del client_id, client_secret, refresh_token
        self.token_expires_in, self.token_type, self.token_scope = 2, "Bearer", grant_type
        self.access_token = str(self._random.randint(100_000, 999_999))
        self.user_first_name, self.user_last_name = user_first_name, user_last_name
        return {
            "expires_in": 2,
            "access_token": self.access_token,
            "token_type": "Bearer",
            "scope": grant_type,
        }

    def travel_get_login_status(self) -> Result:
        """Tell whether there is a valid token."""
        return {"status": self.token_expires_in not in (None, 0)}

    def get_budget_fiscal_year(
        self,
        lastModifiedAfter: str | None = None,
        includeRemoved: str | None = None,
    ) -> Result:
        """Return the year of the budget, which is always the same."""
        del lastModifiedAfter, includeRemoved
        return {"budget_fiscal_year": "2018"}

    def register_credit_card(
        self,
        access_token: str,
        card_number: str,
        expiration_date: str,
        cardholder_name: str,
        card_verification_number: int,
    ) -> Result:
        """Add a credit card with a random balance."""
        if self.token_expires_in is None:
            return failed("Token not initialized")
        if why := self._token_error(access_token):
            return failed(why)
        if card_number in self.credit_card_list:
            return failed("Card already registered")
        card_id = str(self._random.randint(10**11, 10**12 - 1))
        self.credit_card_list[card_id] = {
            "card_number": card_number,
            "expiration_date": expiration_date,
            "cardholder_name": cardholder_name,
            "card_verification_number": card_verification_number,
            "balance": self._random.randint(10_000, 99_999),
        }
        return {"card_id": card_id}

    def get_flight_cost(
        self, travel_from: str, travel_to: str, travel_date: str, travel_class: str
    ) -> Result:
        """Return the fare of a flight.

        Raises:
            ValueError: there is no such route or class.
        """
        factor = price_factor(travel_from, travel_to, travel_date, travel_class)
        routes = fares()
        shown = routes.values() if self._padded else [routes[travel_from, travel_to]]
        return {"travel_cost_list": [float(fare * factor) for fare in shown]}

    def get_credit_card_balance(self, access_token: str, card_id: str) -> Result:
        """Return the balance of a card."""
        if why := self._token_error(access_token):
            return failed(why)
        if card_id not in self.credit_card_list:
            known = str(list(self.credit_card_list))
            return failed(f"Card not registered. Here are a list of card_id's: {known}")
        return {"card_balance": self.credit_card_list[card_id]["balance"]}

    def book_flight(
        self,
        access_token: str,
        card_id: str,
        travel_date: str,
        travel_from: str,
        travel_to: str,
        travel_class: str,
    ) -> Result:
        """Book a flight and pay it with a card."""
        flight = {
            "travel_date": travel_date,
            "travel_from": travel_from,
            "travel_to": travel_to,
            "travel_class": travel_class,
        }
        cost: float = 0
        why = self._token_error(access_token) or flight_error(self.credit_card_list.get(card_id), **flight)
        if why is None:
            try:
                factor = price_factor(travel_from, travel_to, travel_date, travel_class)
                cost = float(fares()[travel_from, travel_to] * factor)
            except ValueError as error:
                why = str(error)
        why = why or self._payment_error(self.credit_card_list[card_id]["balance"], cost)
        if why is not None:
            return {"booking_status": False, "error": why}
        self.credit_card_list[card_id]["balance"] -= cost
        booking_id = str(self._random.randint(10**6, 10**7 - 1))
        transaction_id = str(self._random.randint(10**7, 10**8 - 1))
        record = {"card_id": card_id, **flight, "travel_cost": cost, "transaction_id": transaction_id}
        self.booking_record[booking_id] = record
        return {
            "booking_id": booking_id,
            "transaction_id": transaction_id,
            "booking_status": True,
            "booking_history": self.booking_record if self._padded else {},
        }

    def _payment_error(self, balance: float, cost: float) -> str | None:
        if balance < cost:
            return "Insufficient funds"
        is_low = self.budget_limit is not None and balance < self.budget_limit
        return "Balance is less than budget limit" if is_low else None

    def retrieve_invoice(
        self, access_token: str, booking_id: str | None = None, insurance_id: str | None = None
    ) -> Result:
        """Return the invoice of a booking."""
        del insurance_id
        if why := self._token_error(access_token):
            return failed(why)
        if booking_id not in self.booking_record:
            return failed("Booking not found")
        record = self.booking_record[booking_id]
        shown = ("travel_date", "travel_from", "travel_to", "travel_class", "travel_cost", "transaction_id")
        return {"invoice": {"booking_id": booking_id, **{key: record[key] for key in shown}}}

    def get_booking_history(self, access_token: str) -> Result:
        """Return all bookings."""
        why = self._token_error(access_token)
        return {"booking_history": copy.deepcopy(self.booking_record)} if why is None else failed(why)

    def list_all_airports(self) -> list[str]:
        """Return the codes of all airports."""
        return list(AIRPORTS)

    def cancel_booking(self, access_token: str, booking_id: str) -> Result:
        """Cancel a booking and pay the fare back."""
        why = self._token_error(access_token)
        if why is None and booking_id not in self.booking_record:
            why = "Booking not found"
        if why is not None:
            return {"cancel_status": False, "error": why}
        record = self.booking_record[booking_id]
        self.credit_card_list[record["card_id"]]["balance"] += record["travel_cost"]
        del self.booking_record[booking_id]
        return {"cancel_status": True}

    def compute_exchange_rate(self, base_currency: str, target_currency: str, value: float) -> Result:
        """Convert an amount from or to dollars.

        Raises:
            ValueError: there is no rate for the pair.
        """
        found = exchanged(base_currency, target_currency, value)
        return {"exchanged_value": float(found) if self._is_v4 else found}

    def verify_traveler_information(
        self, first_name: str, last_name: str, date_of_birth: str, passport_number: str
    ) -> Result:
        """Check a traveller: the user, of age, with a passport of the United States."""
        user = (self.user_first_name, self.user_last_name)
        why = traveler_error(user, (first_name, last_name), date_of_birth, passport_number)
        if why is None:
            return {"verification_status": True}
        return {"verification_status": False, "verification_failure": why}

    def set_budget_limit(self, access_token: str, budget_limit: float) -> Result:
        """Set the limit of the budget."""
        if why := self._token_error(access_token):
            return failed(why)
        self.budget_limit = float(budget_limit)
        return {"budget_limit": self.budget_limit}

    def get_nearest_airport_by_city(self, location: str) -> Result:
        """Return the airport of a city."""
        return {"nearest_airport": CITIES.get(location, "Unknown")}

    def purchase_insurance(
        self, access_token: str, insurance_type: str, booking_id: str, insurance_cost: float, card_id: str
    ) -> Result:
        """Insure a booking and pay it with a card, whatever its balance."""
        del insurance_type
        why = self._token_error(access_token) or self._insurance_error(booking_id, insurance_cost, card_id)
        if why is not None:
            return {"insurance_status": False, "error": why}
        self.credit_card_list[card_id]["balance"] -= insurance_cost
        return {"insurance_id": str(self._random.randint(10**8, 10**9 - 1)), "insurance_status": True}

    def _insurance_error(self, booking_id: str, cost: float, card_id: str) -> str | None:
        if self.budget_limit is not None and self.budget_limit < cost:
            return "Exceeded budget limit"
        if booking_id not in self.booking_record:
            return "Booking not found"
        return None if card_id in self.credit_card_list else "Credit card not registered"

    def contact_customer_support(self, booking_id: str, message: str) -> Result:
        """Write to the support about a booking."""
        if booking_id not in self.booking_record:
            return failed("Booking not found")
        thanks = "Thank you for contacting customer support."
        if self._is_v4:
            said = f"{thanks} Your message has been received and we will get back to you shortly."
        else:
            said = f"{thanks} We will get back to you shortly. {message}"
        return {"customer_support_message": said}

    def get_all_credit_cards(self) -> Result:
        """Return all cards."""
        return {"credit_card_list": self.credit_card_list}
