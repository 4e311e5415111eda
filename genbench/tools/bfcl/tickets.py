"""The ticket desk of BFCL's conversations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from genbench.tools.bfcl.service import Release, Result, Service, failed

_FIELDS = frozenset({"title", "description", "status", "priority"})


class TicketAPI(Service):
    """A desk of support tickets. Any name and password log in."""

    def __init__(self, config: Mapping[str, Any], *, padded: bool = False, release: Release = "v3") -> None:
        super().__init__(config, padded=padded, release=release)
        self.ticket_queue: list[Result] = self._given("ticket_queue", [])
        self.ticket_counter = self._given("ticket_counter", 1)
        self.current_user: str | None = self._given("current_user", None)

    def _ticket(self, ticket_id: int) -> Result | None:
        return next((ticket for ticket in self.ticket_queue if ticket["id"] == ticket_id), None)

    def create_ticket(self, title: str, description: str = "", priority: int = 1) -> Result:
        """Open a ticket."""
        if not self.current_user:
            return failed("User not authenticated. Please log in to create a ticket.")
        if priority < 1 or priority > 5:
            return failed("Invalid priority. Priority must be between 1 and 5.")
        ticket = {
            "id": self.ticket_counter,
            "title": title,
            "description": description,
            "status": "Open",
            "priority": priority,
            "created_by": self.current_user,
        }
        self.ticket_queue.append(ticket)
        self.ticket_counter += 1
        return ticket

    def get_ticket(self, ticket_id: int) -> Result:
        """Return a ticket."""
        return self._ticket(ticket_id) or _unknown(ticket_id)

    def close_ticket(self, ticket_id: int) -> Result:
        """Close a ticket."""
        ticket = self._ticket(ticket_id)
        if ticket is None:
            return _unknown(ticket_id)
        if ticket["status"] == "Closed":
            return failed(f"Ticket with ID {ticket_id} is already closed.")
        ticket["status"] = "Closed"
        return {"status": f"Ticket {ticket_id} has been closed successfully."}

    def resolve_ticket(self, ticket_id: int, resolution: str) -> Result:
        """Resolve a ticket."""
        ticket = self._ticket(ticket_id)
        if ticket is None:
            return _unknown(ticket_id)
        if ticket["status"] == "Resolved":
            return failed(f"Ticket with ID {ticket_id} is already resolved.")
        ticket["status"], ticket["resolution"] = "Resolved", resolution
        return {"status": f"Ticket {ticket_id} has been resolved successfully."}

    def edit_ticket(self, ticket_id: int, updates: Mapping[str, Any]) -> Result:
        """Change fields of a ticket. None leaves a field as it is."""
        ticket = self._ticket(ticket_id)
        if ticket is None:
            return _unknown(ticket_id)
        unknown = sorted(updates.keys() - _FIELDS)
        if unknown:
            return failed(f"Invalid fields for update: {', '.join(unknown)}")
        ticket.update({key: value for key, value in updates.items() if value is not None})
        return {"status": f"Ticket {ticket_id} has been updated successfully."}

    def ticket_login(self, username: str, password: str) -> Result:
        """Log in."""
        if not (username and password):
            return {"success": False}
        self.current_user = username
        return {"success": True}

    def ticket_get_login_status(self) -> Result:
        """Tell whether somebody is logged in."""
        return {"login_status" if self._is_v4 else "username": bool(self.current_user)}

    def logout(self) -> Result:
        """Log out."""
        was_in = bool(self.current_user)
        if was_in:
            self.current_user = None
        return {"success": was_in}

    def get_user_tickets(self, status: str | None = None) -> list[Result]:
        """Return the user's own tickets, or those with a status."""
        if not self.current_user:
            return [failed("User not authenticated. Please log in to view tickets.")]
        own = [ticket for ticket in self.ticket_queue if ticket["created_by"] == self.current_user]
        return [ticket for ticket in own if not status or ticket["status"].lower() == status.lower()]


def _unknown(ticket_id: int) -> Result:
    return failed(f"Ticket with ID {ticket_id} not found.")
