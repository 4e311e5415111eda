"""Sessions of browsers, and the tokens of forms that only our own pages contain."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from http.cookies import CookieError, SimpleCookie

COOKIE = "genbench_session"
HOURS = 12
_SECOND = 3600


class Sessions:
    """Sessions that this process signed. They end when it ends, and after 12 hours."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def open(self, name: str) -> str:
        """Return the value of the cookie of somebody who has shown a token of this name."""
        text = f"{name}\0{int(time.monotonic()) + HOURS * _SECOND}"
        return f"{text.encode().hex()}.{self._sign('session', text)}"

    def name_of(self, cookies: str) -> str | None:
        """Return whose session the Cookie header of a request has, or None."""
        try:
            morsel = SimpleCookie(cookies).get(COOKIE)
            payload, _, signed = ("" if morsel is None else morsel.value).partition(".")
            text = bytes.fromhex(payload).decode()
        except (CookieError, ValueError):
            return None
        name, _, until = text.partition("\0")
        if not hmac.compare_digest(signed.encode(), self._sign("session", text).encode()):
            return None
        if time.monotonic() > int(until):
            return None
        return name

    def form_token(self, name: str) -> str:
        """Return the hidden field of forms that are shown to somebody."""
        return self._sign("form", name)

    def is_form_token(self, name: str, text: str) -> bool:
        """Return whether a form came from a page that was shown to somebody."""
        return hmac.compare_digest(text.encode(), self.form_token(name).encode())

    def _sign(self, purpose: str, text: str) -> str:
        return hmac.new(self._key, f"{purpose}\0{text}".encode(), hashlib.sha256).hexdigest()
