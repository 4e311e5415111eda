"""A real server of chat completions that can be told to misbehave, and suites that are judged by it."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.loopback import QuietHandler, send, send_bytes
from tests.ready_runs import run_bare

_OWN = re.compile(r"What is \d+\?")
"""The questions of the suites here; calibration sets ask others."""
COMMIT = "0123456789abcdef0123456789abcdef01234567"
MODEL = "grader"
STALL_S = 30.0
"""How long a stalled reply takes; shorter only where the server is closed."""


class WithBacklog(ThreadingHTTPServer):
    """A server that lets many connections wait. A sixth one would be tried again a second later."""

    request_queue_size = 128


class Server:
    """Grades by `grade(prompt)`; `faults[n]` spoils the n-th chat request (from 0)."""

    def __init__(self) -> None:
        self.grade: Callable[[str], str] = lambda prompt: "EQUAL"
        self.faults: dict[int, str] = {}
        self.every: str | None = None
        self.longest = 1 << 30
        """Characters of the longest prompt that fits."""
        self.down = False
        self.gets = 0
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.requests: list[dict[str, Any]] = []
        self.canaries: list[dict[str, Any]] = []
        self.keys: set[str | None] = set()
        self.lock = threading.Lock()
        self.closing = threading.Event()
        owner = self

        class Handler(QuietHandler):
            def do_GET(self) -> None:  # noqa: N802  the name that http.server calls
                owner.gets += 1
                if owner.down:
                    send(self, 503, {})
                elif self.path.endswith("/models"):
                    send(self, 200, {"data": [{"id": MODEL, "root": "weights", "max_model_len": 4096}]})
                elif self.path == "/version":
                    send(self, 200, {"version": "9.9"})
                else:
                    send(self, 404, {})

            def do_POST(self) -> None:  # noqa: N802
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                prompt = body["messages"][0]["content"]
                with owner.lock:
                    own = _OWN.search(prompt) is not None
                    number = len(owner.requests) if own else -1
                    (owner.requests if own else owner.canaries).append(body)
                    owner.asked[prompt] += 1
                    owner.keys.add(self.headers.get("Authorization"))
                owner.answer(self, prompt, owner.every or owner.faults.get(number))

        self.http = WithBacklog(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.05})
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_port}/v1"

    def answer(self, handler: BaseHTTPRequestHandler, prompt: str, fault: str | None) -> None:
        choice = {"message": {"content": self.grade(prompt)}, "finish_reason": "stop"}
        whole: dict[str, Any] = {"model": MODEL, "choices": [choice]}
        if fault in ("429", "500", "503"):
            send(handler, int(fault), {"error": "busy"}, {"Retry-After": "0.2"} if fault == "429" else {})
        elif fault == "stall":
            self.closing.wait(STALL_S)
        elif fault == "broken":
            send_bytes(handler, b'{"model": "grader", "choices": [')
        elif fault == "half":
            send(handler, 200, {"model": MODEL, "choices": []})
        elif fault == "cut":
            handler.send_response(200)
            handler.send_header("Content-Length", "500")
            handler.end_headers()
            handler.wfile.write(b'{"model"')
        elif fault == "other":
            send(handler, 200, whole | {"model": "another"})
        elif fault == "echo":
            send(handler, 400, {"error": f"no good: {handler.headers.get('Authorization')}"})
        elif len(prompt) > self.longest:
            send(handler, 400, {"error": "This model's maximum context length is exceeded."})
        elif fault == "refusal":
            choice["message"] = {"content": "I would rather not grade this."}
            send(handler, 200, whole)
        else:
            with self.lock:
                self.answered[prompt] += 1
            send(handler, 200, whole)

    def close(self) -> None:
        self.closing.set()
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


SUITE = """\
name: judged
models:
  m: {{path: nowhere}}
judge:
  server: {{base_url: "{url}", model: grader, revision: {commit}, timeout_s: 3, retries: {retries}{more}}}
tasks:
  - name: free
    kind: judge
    data: {{path: rows.jsonl, fields: {{id: id, question: question, reference: reference}}}}
    verifier: {{judge: {judge}{options}}}
    k: {k}
"""


class Case:
    """A folder with a suite whose answers are ready, and only the judge is asked."""

    def __init__(self, path: Path, url: str) -> None:
        self.path, self.url = path, url

    def write(
        self,
        *,
        n: int = 10,
        k: int = 2,
        judge: str = "free_form",
        options: str = "",
        more: str = "",
        retries: int = 4,
        reference: Callable[[int], object] = str,
    ) -> None:
        suite = SUITE.format(
            url=self.url, commit=COMMIT, judge=judge, options=options, k=k, more=more, retries=retries
        )
        (self.path / "suite.yaml").write_text(suite)
        rows = [{"id": f"q{i}", "question": f"What is {i}?", "reference": reference(i)} for i in range(n)]
        (self.path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        lines = [
            {"task": "free", "problem_id": f"q{i}", "sample_index": j, "text": f"It is {i}, said {j} times."}
            for i in range(n)
            for j in range(k)
        ]
        (self.path / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    def run(self, *overrides: str) -> Any:
        from genbench import pipeline

        options = pipeline.RunOptions(
            suite=str(self.path / "suite.yaml"),
            run_dir=self.path / "runs",
            responses=self.path / "answers.jsonl",
            overrides=overrides,
            quiet=True,
        )
        return run_bare(options)


@pytest.fixture
def judged(tmp_path: Path, server: Server) -> Case:
    return Case(tmp_path, server.url)
