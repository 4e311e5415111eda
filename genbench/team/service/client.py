"""A client of a service on another machine. It needs nothing of the service's own packages."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from genbench.errors import InputError
from genbench.team.service.bundle import content_digest_of, pack_run

TOKEN_VARIABLE = "GENBENCH_TOKEN"
_TIMEOUT_S = 60.0
_WAITS_S = (0.5, 2.0, 5.0)
"""Seconds before each further try."""
_LATER = frozenset({429, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class RemoteService:
    """The API of a service. Every request can be repeated without harm, and is if the network fails.

    Args:
        url: its address, such as https://eval.example.org.
        token: a token of `genbench serve token add`, or nothing.
    """

    url: str
    token: str = field(default="", repr=False)
    waits_s: tuple[float, ...] = _WAITS_S

    @classmethod
    def of_environment(cls, url: str) -> RemoteService:
        """Return the service at an address, with the token of the variable GENBENCH_TOKEN.

        Raises:
            InputError: it is not an address of a service.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise InputError(f"--server {url[:200]}: wanted an address such as https://eval.example.org")
        return cls(url.rstrip("/"), os.environ.get(TOKEN_VARIABLE, ""))

    def submit(self, body: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
        """Put a job into the queue. Return its record, and whether it is new.

        Raises:
            InputError: the service refused it, in its words, or cannot be reached.
        """
        text = json.dumps(body, sort_keys=True).encode()
        # The same work is kept once by its content, so a key for this command is enough.
        key = hashlib.sha256(text + os.urandom(16)).hexdigest()[:32]
        headers = {"Content-Type": "application/json", "Idempotency-Key": key}
        found = self._send("POST", "/jobs", content=text, headers=headers)
        return found.json(), found.status_code == 201

    def get(self, path: str, **query: Any) -> Any:
        """Return the JSON of a path below /api/v1.

        Raises:
            InputError: as in `submit`.
        """
        return self._send("GET", path, params=query).json()

    def act(self, number: int, what: str) -> None:
        """Cancel a job, or queue it again.

        Raises:
            InputError: as in `submit`.
        """
        self._send("POST", f"/jobs/{number}/{what}")

    def push(self, folder: Path, *, replace: bool = False) -> dict[str, Any]:
        """Send a finished run to the ledger of the service. Return what became of it.

        Raises:
            InputError: the folder is not a finished run, or as in `submit`.
        """
        data = pack_run(folder)
        headers = {"Content-Type": "application/octet-stream", "Content-Digest": content_digest_of(data)}
        found = self._send("POST", "/runs/push", params={"replace": replace}, content=data, headers=headers)
        record: dict[str, Any] = found.json()
        return record

    def _send(self, method: str, path: str, headers: Mapping[str, str] = {}, **more: Any) -> httpx.Response:
        """Send a request, again after a while if the service cannot be reached or is busy."""
        sent = dict(headers) | ({"Authorization": f"Bearer {self.token}"} if self.token else {})
        for wait in (*self.waits_s, None):
            try:
                found = httpx.request(
                    method, f"{self.url}/api/v1{path}", headers=sent, timeout=_TIMEOUT_S, **more
                )
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                if wait is None:
                    raise InputError(
                        f"{self.url}: cannot be reached: {error or type(error).__name__}"
                    ) from error
            else:
                if found.status_code not in _LATER or wait is None:
                    return self._checked(found)
            time.sleep(wait or 0)
        raise AssertionError("the last try returns or raises")

    def _checked(self, found: httpx.Response) -> httpx.Response:
        if found.is_success:
            return found
        try:
            detail = str(found.json()["detail"])
        except (ValueError, KeyError, TypeError):
            detail = "the answer is none of genbench's; is this the address of genbench serve?"
        if found.status_code == 401:
            detail = f"set {TOKEN_VARIABLE} to a token that genbench serve token add made there"
        raise InputError(f"{self.url}: {detail}")
