"""The messenger of BFCL's conversations: users of a workspace, and messages to them."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from genbench.tools.bfcl.service import Release, Result, Service, failed

_SEED = 200191
_NOBODY = "No user is currently logged in."


class MessageAPI(Service):
    """A messenger. The inbox is a list of {receiver: text}, whoever sent it."""

    def __init__(self, config: Mapping[str, Any], *, padded: bool = False, release: Release = "v3") -> None:
        super().__init__(config, padded=padded, release=release)
        self._random = random.Random(config.get("random_seed", _SEED))
        self.generated_ids: set[int] = set(self._given("generated_ids", []))
        self.user_count = self._given("user_count", 4)
        self.user_map = self._given(
            "user_map", {"Alice": "USR001", "Bob": "USR002", "Catherine": "USR003", "Daniel": "USR004"}
        )
        self.inbox = self._given(
            "inbox",
            [
                {"USR002": "My name is Alice. I want to connect."},
                {"USR003": "Could you upload the file?"},
                {"USR004": "Could you upload the file?"},
            ],
        )
        self.message_count = self._given("message_count", 3)
        self.current_user: str | None = self._given("current_user", None)

    def _sent(self) -> list[tuple[str, str]]:
        """Return the receiver and the text of every message."""
        return [next(iter(message.items())) for message in self.inbox]

    def _new_id(self) -> int:
        while True:
            number = self._random.randint(10_000, 99_999)
            if number not in self.generated_ids:
                self.generated_ids.add(number)
                return number

    def list_users(self) -> Result:
        """List the names of all users."""
        return {"user_list": list(self.user_map)}

    def get_user_id(self, user: str) -> Result:
        """Return the id of a user."""
        if user not in self.user_map:
            return failed(f"User '{user}' not found in the workspace.")
        return {"user_id": self.user_map[user]}

    def message_login(self, user_id: str) -> Result:
        """Log a user in."""
        if user_id not in self.user_map.values():
            return {"login_status": False, "message": f"User ID '{user_id}' not found."}
        self.current_user = user_id
        return {"login_status": True, "message": f"User '{user_id}' logged in successfully."}

    def message_get_login_status(self) -> Result:
        """Tell whether somebody is logged in."""
        return {"login_status": bool(self.current_user)}

    def send_message(self, receiver_id: str, message: str) -> Result:
        """Send a message."""
        if not self.current_user:
            return failed(_NOBODY)
        if receiver_id not in self.user_map.values():
            return failed(f"Receiver ID '{receiver_id}' not found.")
        number = self._new_id()
        self.inbox.append({receiver_id: message})
        self.message_count += 1
        return {
            "sent_status": True,
            "message_id": {"new_id": number},
            "message": f"Message sent to '{receiver_id}' successfully.",
        }

    def delete_message(self, receiver_id: str) -> Result:
        """Delete the latest message to a receiver, or an equal one before it."""
        if not self.current_user:
            return failed(_NOBODY)
        latest = next(
            (message for message in reversed(self.inbox) if next(iter(message)) == receiver_id), None
        )
        if latest is None:
            return failed(f"Receiver ID {receiver_id} not found.")
        self.inbox.remove(latest)
        key, which = ("receiver_id", "latest") if self._is_v4 else ("message_id", "first")
        said = f"Receiver {receiver_id}'s {which} message deleted successfully."
        return {"deleted_status": True, key: receiver_id, "message": said}

    def view_messages_sent(self) -> Result:
        """Return all messages by receiver."""
        if not self.current_user:
            return failed(_NOBODY)
        found: dict[str, list[str]] = {}
        for receiver, text in self._sent():
            found.setdefault(receiver, []).append(text)
        return {"messages": found}

    def add_contact(self, user_name: str) -> Result:
        """Add a user with the next id. The counter moves on even if that id is taken."""
        if user_name in self.user_map:
            return failed(f"User name '{user_name}' already exists.")
        self.user_count += 1
        user_id = f"USR{self.user_count:03d}"
        if user_id in self.user_map.values():
            return failed(f"User ID '{user_id}' already exists.")
        self.user_map[user_name] = user_id
        said = f"Contact '{user_name}' added successfully."
        return {"added_status": True, "user_id": user_id, "message": said}

    def search_messages(self, keyword: str) -> Result:
        """Return the messages that contain a text, whatever its case."""
        if not self.current_user:
            return failed(_NOBODY)
        found = [
            {"receiver_id": receiver, "message": text}
            for receiver, text in self._sent()
            if keyword.lower() in text.lower()
        ]
        return {"results": found}

    def get_message_stats(self) -> Result:
        """Count messages and receivers."""
        if not self.current_user:
            return failed(_NOBODY)
        receivers = [receiver for receiver, _ in self._sent()]
        return {"stats": {"received_count": len(receivers), "total_contacts": len(set(receivers))}}
