"""Real servers of completions that can be told to misbehave, and suites that are drawn from them."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from genbench import pipeline
from tests.loopback import QuietHandler, send, send_bytes
from tests.ready_runs import run_bare

MODEL = "tuned"
Fault = Callable[[int, dict[str, Any]], str | None]
"""(number of the request from 0, its body) -> what to do wrong."""


class Server:
    """Answers `4 SEED`; `fault` spoils requests; `die` closes everything, `revive` opens it again."""

    def __init__(self) -> None:
        self.fault: Fault = lambda number, body: None
        self.deaf = False
        self.only_v1 = False
        self.models = [{"id": MODEL, "root": "/weights/tuned", "max_model_len": 4096}]
        self.version = "9.9"
        self.requests: list[dict[str, Any]] = []
        self.answered: Counter[int] = Counter()
        self.keys: set[str | None] = set()
        self.most_at_once = 0
        self.at_once = 0
        self.lock = threading.Lock()
        self.alive = False
        self.port = 0
        self.revive()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def revive(self) -> None:
        self.http = ThreadingHTTPServer(("127.0.0.1", self.port), _handler(self))
        self.http.daemon_threads = True
        self.port = self.http.server_port
        self.connections: set[socket.socket] = set()
        self.alive = True
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def die(self) -> None:
        """As a killed process: the port refuses, and open connections are cut."""
        if not self.alive:
            return
        self.alive = False
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()
        for connection in list(self.connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

    def answer(self, handler: QuietHandler, body: dict[str, Any], number: int) -> None:
        whole = reply(handler.path, body)
        match self.fault(number, body):
            case "429":
                send(handler, 429, {"error": "busy"}, {"Retry-After": "0.3"})
            case "400" | "404" | "500" | "503" as status:
                send(handler, int(status), {"error": {"message": "as told"}})
            case "stall":
                time.sleep(3)
            case "broken":
                send_bytes(handler, b'{"model": "tuned", "choices": [')
            case "half":
                send(handler, 200, whole | {"choices": []})
            case "cut":
                handler.send_response(200)
                handler.send_header("Content-Length", "500")
                handler.end_headers()
                handler.wfile.write(b'{"model"')
                handler.close_connection = True
            case "other":
                send(handler, 200, whole | {"model": "another"})
            case "aborted":
                whole["choices"][0]["finish_reason"] = "abort"
                send(handler, 200, whole)
            case "counts":
                whole["usage"]["prompt_tokens"] += 1
                send(handler, 200, whole)
            case str() as odd if odd in REPLIES:
                code, headers, data = REPLIES[odd](whole)
                send_bytes(handler, data, code, headers)
            case "die":
                threading.Thread(target=self.die).start()
                time.sleep(1)
            case _:
                time.sleep(0.01)
                with self.lock:
                    self.answered[body["seed"]] += 1
                send(handler, 200, whole)


Odd = Callable[[dict[str, Any]], tuple[int, dict[str, str], bytes]]


def _changed(**fields: Any) -> Odd:
    return lambda whole: (200, {}, json.dumps({**whole, **fields}).encode())


def _choice(**fields: Any) -> Odd:
    def odd(whole: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
        return 200, {}, json.dumps({**whole, "choices": [{**whole["choices"][0], **fields}]}).encode()

    return odd


def _rows(*tokens: object) -> Odd:
    """Return a reply with log-probabilities of the tokens 5 6 7 8, or of what else it takes them for."""
    rows = [None, *({str(token): {"logprob": -1.0, "rank": 1}} for token in tokens)]
    return _choice(prompt_logprobs=rows)


ODD: dict[str, Odd] = {
    "deep": lambda whole: (200, {}, b"[" * 200_000 + b"]" * 200_000),
    "false encoding": lambda whole: (200, {"Content-Encoding": "gzip"}, json.dumps(whole).encode()),
    "bomb": lambda whole: (200, {"Content-Encoding": "gzip"}, gzip.compress(b" " * (64 << 20), 1)),
    "large": lambda whole: (200, {}, b'{"model": "tuned", "pad": "' + b"x" * (8 << 20) + b'"}'),
    "two choices": lambda whole: (200, {}, json.dumps({**whole, "choices": 2 * whole["choices"]}).encode()),
    "choices of another type": _changed(choices={"0": 1}),
    "content of another type": _choice(message={"content": 7}),
    "reasoning of another type": _choice(message={"content": "4", "reasoning": ["a"]}),
    "unknown end": _choice(finish_reason="because"),
    "end of another type": _choice(finish_reason=["stop"]),
    "no model": _changed(model=None),
    "absurd pause": lambda whole: (429, {"Retry-After": "1e300"}, b"{}"),
    "strange status": lambda whole: (599, {}, b"teapot"),
    "text tokens": _changed(usage={"prompt_tokens": "9", "completion_tokens": [3]}),
    "no number of tokens": _changed(usage={"prompt_tokens": float("nan"), "completion_tokens": 10**30}),
    "no usage": _changed(usage=[1, 2]),
    "filtered": _choice(finish_reason="content_filter"),
    "tool call": _choice(finish_reason="tool_calls"),
}
"""Replies that no correct server gives, and replies that few servers give."""
SCORED: dict[str, Odd] = {
    "scored": _rows(6, 7, 8),
    "rows of the next token": _rows(7, 8, 9),
    "a row too few": _rows(6, 7),
    "rows by text": _rows(" a", " b", " c"),
}
"""Log-probabilities of given texts: right ones, and such that their positions are wrong."""


def _error(status: int, body: object, **headers: str) -> Odd:
    return lambda whole: (status, headers, json.dumps(body).encode())


_FILTER = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
_CONTEXT = "This model's maximum context length is 2048 tokens. However, you requested 3000 tokens."
_THINKING = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
WORDS: dict[str, Odd] = {
    "filter by 400": _error(400, {"error": {"message": _FILTER, "code": "content_filter", "status": 400}}),
    "filter by 200": _choice(
        finish_reason="content_filter",
        message={"content": None},
        content_filter_results={
            "violence": {"filtered": True, "severity": "high"},
            "hate": {"filtered": False},
        },
    ),
    "context": _error(400, {"error": {"message": _CONTEXT, "type": "BadRequestError", "code": 400}}),
    "error with 200": _error(200, {"error": {"message": "Provider returned error", "code": 502}}),
    "refused with 200": _error(200, {"error": {"message": "No such tool", "code": 400}}),
    "error of a choice": _choice(error={"message": "upstream is gone"}, finish_reason=None),
    "parts": _choice(message={"content": [_THINKING, {"type": "text", "text": "4"}]}),
    "refusal": _choice(message={"content": None, "refusal": "I can't help with that. 4"}),
    "events": lambda whole: (200, {"Content-Type": "text/event-stream"}, b'data: {"choices": []}\n\n'),
    "moved": _error(307, {}, Location="http://elsewhere/v1/chat/completions"),
    "forbidden": _error(403, {"error": {"message": "blocked by the firewall"}}),
    "unauthorized": _error(401, {"error": {"message": "Incorrect API key provided"}}),
    "page": lambda whole: (200, {}, b"<html><body>Please log in</body></html>"),
    "unknown field": _error(400, {"error": {"message": "Unrecognized request argument supplied: seed"}}),
}
"""What servers say instead of an answer, as they say it."""
REPLIES = ODD | SCORED | WORDS


def reply(path: str, body: dict[str, Any]) -> dict[str, Any]:
    text = f"4 {body.get('seed')}"
    told = {"message": {"content": text}} if path.endswith("/chat/completions") else {"text": text}
    usage = {"prompt_tokens": len(body.get("prompt", "")), "completion_tokens": 3}
    return {"model": MODEL, "choices": [{**told, "finish_reason": "stop"}], "usage": usage}


def _handler(owner: Server) -> type[QuietHandler]:
    class Handler(QuietHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            owner.connections.add(self.connection)

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:
                return

        def do_GET(self) -> None:  # noqa: N802  http.server's own name
            if owner.deaf:
                time.sleep(3)
            elif owner.only_v1 and not self.path.startswith("/v1/"):
                send(self, 404, {"detail": "Not Found"})
            elif self.path.endswith("/models"):
                send(self, 200, {"data": owner.models})
            elif self.path == "/version":
                send(self, 200, {"version": owner.version})
            else:
                send(self, 404, {})

        def do_POST(self) -> None:  # noqa: N802  http.server's own name
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with owner.lock:
                number = len(owner.requests)
                owner.requests.append(body)
                owner.keys.add(self.headers.get("Authorization"))
                owner.at_once += 1
                owner.most_at_once = max(owner.most_at_once, owner.at_once)
            try:
                owner.answer(self, body, number)
            finally:
                with owner.lock:
                    owner.at_once -= 1

    return Handler


@pytest.fixture
def servers() -> Iterator[Callable[[], Server]]:
    made: list[Server] = []

    def make() -> Server:
        made.append(Server())
        return made[-1]

    yield make
    for server in made:
        server.die()


SUITE = """\
name: served
models:
  m: {path: "shipped:checkpoints/tiny-tuned"}
engine: {kind: http, base_urls: [URLS], model: tuned, concurrency: 4, timeout_s: 2, outage_s: 3, MORE}
decoding: {temperature: 0.8, max_tokens: 32}
tasks:
  - name: free
    kind: math
    data: {path: rows.jsonl, fields: {id: id, question: question, reference: reference}}
    prompt: "{question}"
    k: 2
"""


class Drawn:
    """A folder with a suite of `n` problems, two samples each, drawn from servers."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, *servers: Server, n: int = 10, more: str = "prompts: chat", retries: int = 6) -> None:
        urls = ", ".join(f'"{server.url}"' for server in servers)
        text = SUITE.replace("URLS", urls).replace("MORE", f"retries: {retries}, {more}")
        (self.path / "suite.yaml").write_text(text)
        rows = [{"id": f"q{i}", "question": f"What is 2 + 2 ({i})?", "reference": "4"} for i in range(n)]
        (self.path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def options(self, *overrides: str, run_dir: str = "runs") -> pipeline.RunOptions:
        return pipeline.RunOptions(
            suite=str(self.path / "suite.yaml"),
            run_dir=self.path / run_dir,
            overrides=overrides,
            quiet=True,
        )

    def run(self, *overrides: str, run_dir: str = "runs") -> pipeline.RunReport:
        return run_bare(self.options(*overrides, run_dir=run_dir))

    def completions(self, run_dir: str = "runs") -> dict[tuple[str, int], dict[str, Any]]:
        """By identity; a second line for one fails."""
        path = self.path / run_dir / "m" / "free" / "completions.jsonl"
        found: dict[tuple[str, int], dict[str, Any]] = {}
        for line in path.read_text().splitlines() if path.exists() else ():
            record = json.loads(line)
            key = (record["problem_id"], record["sample_index"])
            assert key not in found
            found[key] = record
        return found

    def assert_whole(self, n: int = 10, run_dir: str = "runs") -> None:
        """Every sample once, each with the text of its own seed."""
        found = self.completions(run_dir)
        assert len(found) == 2 * n
        assert all(record["text"] == f"4 {record['seed']}" for record in found.values())


@pytest.fixture
def drawn(tmp_path: Path) -> Drawn:
    return Drawn(tmp_path)
