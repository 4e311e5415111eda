"""What every test server on loopback does: answers with whole replies and prints nothing."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler


class QuietHandler(BaseHTTPRequestHandler):
    """A handler that logs nothing."""

    def log_message(self, format: str, *args: object) -> None:
        return


def send(
    handler: BaseHTTPRequestHandler, status: int, record: object, headers: dict[str, str] | None = None
) -> None:
    """Answers with a record as JSON."""
    send_bytes(handler, json.dumps(record).encode(), status, headers or {})


def send_bytes(
    handler: BaseHTTPRequestHandler, data: bytes, status: int = 200, headers: dict[str, str] | None = None
) -> None:
    """Answers with these bytes; a client that is gone is not a fault of the server."""
    try:
        handler.send_response(status)
        for name, value in (headers or {}).items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)
    except OSError:
        handler.close_connection = True
