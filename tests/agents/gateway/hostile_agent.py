"""A harness that asks the model once, and then does what the row of its problem says."""

from __future__ import annotations

import ctypes
import http.client
import json
import os
import socket
import sys
from pathlib import Path
from urllib.parse import urlsplit

OUT = Path(os.environ["GENBENCH_OUT"])
PROBLEM = json.loads(Path(os.environ["GENBENCH_PROBLEM"]).read_text())
BASE = urlsplit(os.environ["GENBENCH_BASE_URL"])
LOGS = (OUT / "out.log", OUT / "err.log")
LIBC = ctypes.CDLL(None, use_errno=True)


def ask() -> str:
    assert BASE.hostname is not None
    connection = http.client.HTTPConnection(BASE.hostname, BASE.port, timeout=60)
    body = json.dumps({"model": "any", "messages": [{"role": "user", "content": PROBLEM["instruction"]}]})
    headers = {"Authorization": f"Bearer {os.environ['GENBENCH_KEY']}", "Content-Type": "application/json"}
    connection.request("POST", f"{BASE.path}/chat/completions", body, headers)
    return str(json.loads(connection.getresponse().read())["choices"][0]["message"]["content"])


def result(score: float | None = 0.0, **more: object) -> None:
    (OUT / "result.json").write_text(json.dumps({"score": score, **more}))


def write(text: str) -> None:
    (OUT / "result.json").write_text(text)


def capabilities() -> list[str]:
    """Return the sets of capabilities that are not empty."""
    lines = Path("/proc/self/status").read_text().splitlines()
    sets = [line.split() for line in lines if line.startswith(("CapEff", "CapPrm", "CapBnd", "CapAmb"))]
    return [name for name, value in sets if int(value, 16)]


def reached(**found: object) -> None:
    """Tell what was possible that should not be: a test fails if there is any."""
    result(0.0, detail={"reached": {key: value for key, value in found.items() if value}})


def opens(path: str, flags: int = os.O_WRONLY) -> bool:
    """Whether a path can be opened so. Nothing is read or written."""
    try:
        os.close(os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY))
    except OSError:
        return False
    return True


def connects(family: int, kind: int, address: object = None, protocol: int = 0) -> bool:
    """Whether a socket can be made, and connected if there is an address."""
    try:
        with socket.socket(family, kind, protocol) as made:
            made.settimeout(2)
            if address is not None:
                made.connect(address)  # type: ignore[arg-type]
    except OSError:
        return False
    return True


ask()
print("begun", flush=True)
sys.setrecursionlimit(100_000)
exec(compile(PROBLEM["do"], "do", "exec"), globals())  # noqa: S102  what the generator wrote
