"""The travel agency of BFCL's conversations: flights, credit cards, insurance and a budget."""

from __future__ import annotations

import copy
import random
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from genbench.tools.bfcl.fares import AIRPORTS, CITIES, fares
from genbench.tools.bfcl.padding import bookings, cards
from genbench.tools.bfcl.service import Release, Result, Service, failed
from genbench.tools.bfcl.travel_rules import exchanged, flight_error, price_factor, traveler_error

_SEED = 141053


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
