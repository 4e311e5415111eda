"""Simulated functions of a help desk: the methods of `Desk` are offered, and its attributes are the state."""

from __future__ import annotations

from typing import Any


class Desk:
    """A list of tickets. Each conversation gets its own."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.tickets = state["tickets"]

    def find(self, customer: str) -> list[int]:
        """Return the numbers of a customer's open tickets.

        Args:
            customer: the customer's name.
        """
        return [item["number"] for item in self.tickets if item["customer"] == customer and item["open"]]

    def close(self, number: int, note: str = "") -> dict[str, Any]:
        """Close a ticket.

        Args:
            number: the number of the ticket.
            note: what the customer is told.
        """
        for item in self.tickets:
            if item["number"] == number and item["open"]:
                item["open"] = False
                return {"closed": number}
        raise LookupError(f"no open ticket {number}")
