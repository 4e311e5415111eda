"""A small agent: it asks the model a few times, and tells what it got. It uses only the standard library.

Settings: `turns` (3), `pause_s` before each of them (0), `faults`, the share of requests that it gives up and
sends again, and `do`, what else it does. `reach` connects to an address, `peek` sends requests with other
keys, `write` writes outside, `look` tells its environment, `fill` sends more than a context takes.
`ignore` asks nobody, `fail` ends with status 3 at its first try, `crash` ends without a result, `sleep` uses
up its time.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import socket
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

OUT = Path(os.environ["GENBENCH_OUT"])
PROBLEM = json.loads(Path(os.environ["GENBENCH_PROBLEM"]).read_text())
SETTINGS = PROBLEM["settings"]
BASE = urlsplit(os.environ["GENBENCH_BASE_URL"])


def post(messages: list[Any], key: str, path: str = BASE.path) -> tuple[int, Any]:
    assert BASE.hostname is not None
    connection = http.client.HTTPConnection(BASE.hostname, BASE.port, timeout=300)
    body = json.dumps({"model": "any", "messages": messages, "temperature": 0.1, "seed": 7})
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    connection.request("POST", f"{path}/chat/completions", body, headers)
    if CHANCE.random() < SETTINGS.get("faults", 0):  # the client gives up, early or late
        time.sleep(CHANCE.choice((0, 0.05)))
        connection.close()
        return 0, None
    try:
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())
    except (OSError, http.client.HTTPException, ValueError):
        return 0, None


CHANCE = random.Random(PROBLEM["id"])


def ask(messages: list[Any]) -> str:
    for _ in range(50):
        status, found = post(messages, os.environ["GENBENCH_KEY"])
        if status == 200:
            return str(found["choices"][0]["message"]["content"])
        if status in (400, 403):
            return f"refused: {found['error']['message']}"
    raise SystemExit("no reply in 50 tries")


def extra(do: str) -> Any:
    """What an agent does that it should not."""
    try:
        if do == "reach":
            socket.create_connection((SETTINGS["host"], SETTINGS["port"]), timeout=3).close()
        elif do == "write":
            Path(SETTINGS["place"]).write_text("here")
    except OSError as error:
        return f"{type(error).__name__}: {error}"
    if do == "fill":
        status, found = post([{"role": "user", "content": "x y " * 20_000}], os.environ["GENBENCH_KEY"])
        return [status, found["error"]["message"]]
    if do == "peek":
        messages = [{"role": "user", "content": "hello"}]
        own = os.environ["GENBENCH_KEY"]
        head, index, tail = BASE.path.rsplit("/", 2)
        other = f"{head}/{1 - int(index)}/{tail}"
        keys = [("wrong", BASE.path), (own, other), (own[:-1], BASE.path), ("", BASE.path)]
        return [post(messages, key, path)[0] for key, path in keys]
    return {"look": [sorted(os.environ), [path.name for path in Path("/run").iterdir()]], "": None}.get(
        do, "done"
    )


def main() -> None:
    do = SETTINGS.get("do", "")
    if do == "ignore":
        print("asked https://api.openai.com", file=sys.stderr)
        found = extra("reach")
        print(found, file=sys.stderr)
        raise SystemExit(1)
    messages = [{"role": "user", "content": PROBLEM["instruction"] + os.environ.get("MACHINE", "")}]
    said = []
    for turn in range(SETTINGS.get("turns", 3)):
        time.sleep(SETTINGS.get("pause_s", 0))
        said.append(ask(messages))
        messages += [
            {"role": "assistant", "content": said[-1]},
            {"role": "user", "content": f"And then, {turn}?"},
        ]
        if do == "fail" and turn == 1 and not (marker := Path(SETTINGS["marker"])).exists():
            marker.touch()
            raise SystemExit(3)
    if do == "sleep":
        time.sleep(600)
    if do == "crash":
        raise SystemExit("the harness lost its way")
    detail = {"said": said, "extra": extra(do)}
    score = float(PROBLEM.get("answer", "") in "".join(said))
    (OUT / "result.json").write_text(json.dumps({"score": score, "detail": detail}))


main()
