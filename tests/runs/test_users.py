"""A run with a simulated user: the model and the user answer from one scripted server."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from genbench.errors import ConfigError, EngineError
from genbench.pipeline import RunOptions, run
from genbench.runs.execution.simulated_users import SimulatedUsers
from genbench.runs.inputs import open_suite
from genbench.runs.selection import load_tasks
from tests.loopback import QuietHandler, send

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "user"
USER = ["<think>Who am I?</think>I am Bela. Cancel my order, I no longer need it.", "###STOP###"]
MODEL = [
    '[find_order(customer="Bela")]',
    '[cancel_order(number="18", reason="no longer needed")]',
    "It is cancelled. You get 1250 back.",
]
SUITE = """\
models: {{m: {{path: m}}}}
engine: {{kind: http, base_urls: ["{url}"], model: m, prompts: chat, api: openai, concurrency: 2}}
decoding: {{temperature: 0.5, max_tokens: 64}}
tasks:
  - name: shop
    task: user_loop
    options:
      functions: "{place}/shop.py:Shop"
      rows: rows.jsonl
      {user}
    k: 2
"""
SERVED = "user: {{server: {{base_url: '{url}', model: u, revision: main, structured: none}}}}"


class Scripted(QuietHandler):
    """Answers as the user or as the model, by how much each of them has said."""

    def do_GET(self) -> None:  # noqa: N802  http.server's own name
        listed = [{"id": name, "object": "model", "max_model_len": 9_000} for name in ("m", "u")]
        send(self, 200, {"object": "list", "data": listed})

    def do_POST(self) -> None:  # noqa: N802  http.server's own name
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        script = USER if body["model"] == "u" else MODEL
        said = sum(message["role"] == "assistant" for message in body["messages"])
        message = {"role": "assistant", "content": script[said]}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}
        record: dict[str, Any] = {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
        }
        send(self, 200, {**record, "choices": [choice], "usage": usage})


@pytest.fixture
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def options(place: Path, url: str, user: str) -> RunOptions:
    (place / "suite.yaml").write_text(SUITE.format(url=url, place=EXAMPLE, user=user))
    (place / "rows.jsonl").write_text((EXAMPLE / "rows.jsonl").read_text().splitlines()[0] + "\n")
    return RunOptions(suite=str(place / "suite.yaml"), run_dir=place / "out", quiet=True)


@pytest.mark.slow
def test_a_user_behind_a_server_talks_to_the_model_until_it_stops(tmp_path: Path, url: str) -> None:
    folder = run(options(tmp_path, url, SERVED.format(url=url))).folders["m"]
    verdicts = [json.loads(line) for line in (folder / "shop" / "verdicts.jsonl").read_text().splitlines()]
    assert [verdict["status"] for verdict in verdicts] == ["correct"] * 2
    lines = [json.loads(line) for line in (folder / "shop" / "completions.jsonl").read_text().splitlines()]
    texts = [line["text"] for line in sorted(lines, key=lambda line: (line["sample_index"], line["turn"]))]
    assert texts[:5] == ["I am Bela. Cancel my order, I no longer need it.", *MODEL, "###STOP###"]
    attempt = json.loads((folder / "manifest.json").read_text())["attempts"][0]
    assert "user of shop" in json.dumps(attempt)


def test_tasks_without_a_user_start_no_engine(tmp_path: Path) -> None:
    assert SimulatedUsers([], tmp_path, tmp_path).records == {}


def test_a_task_that_does_not_say_who_plays_the_user_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(ConfigError, match=r"options\.user is missing"):
        run(options(tmp_path, url, ""))


def test_a_user_that_cannot_start_closes_those_that_did(tmp_path: Path, url: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        given = options(tmp_path, url, SERVED.format(url=url))
        text = (tmp_path / "suite.yaml").read_text()
        entry = text[text.index("  - name: shop") :]
        other = entry.replace("name: shop", "name: other").replace(
            SERVED.format(url=url), SERVED.format(url=nowhere).replace("structured", "retries: 0, structured")
        )
        (tmp_path / "suite.yaml").write_text(text + other)
        suite, _ = open_suite(given)
        users = SimulatedUsers(load_tasks(suite, given), tmp_path, tmp_path)

        async def enter() -> None:
            async with users:
                pass

        with pytest.raises(
            EngineError, match=r"user server .*; start it, or mend options\.user\.server\.base_url"
        ):
            asyncio.run(enter())
    servers = [vars(engine)["_server"] for engine in vars(users)["_engines"].values()]
    assert len(servers) == 2 and all(vars(server)["_client"] is None for server in servers)
