"""A service behind a real HTTP server on loopback, in a thread."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from genbench.team.service.app import server_config


@contextmanager
def serving(app: ASGIApp) -> Iterator[str]:
    """Serve an application. Yield its address."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        config = server_config(app)
        config.lifespan = "off"
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        until = time.monotonic() + 60
        while not server.started and time.monotonic() < until:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(60)
