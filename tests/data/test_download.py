"""Rows from a hub: a real HTTP server stands in for it, `datasets` itself does the rest."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

COMMIT = "0123456789abcdef0123456789abcdef01234567"
ROWS = b'{"id": 1, "problem": "1+1?", "answer": "2"}\n{"id": 2, "problem": "2+2?", "answer": "4"}\n'
FILE = "train.jsonl"


class Hub(BaseHTTPRequestHandler):
    """The few routes that reading one public and one gated dataset takes."""

    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if "/none/" in path:
            self.reply(404, b"", {"X-Error-Code": "RepoNotFound"})
        elif path.startswith("/api/") and "/revision/" in path and COMMIT not in path:
            self.reply(404, b"", {"X-Error-Code": "RevisionNotFound"})
        elif path.startswith("/api/") and path.endswith(f"/tree/{COMMIT}"):
            entry = {"type": "file", "path": FILE, "oid": "ab" * 20, "size": len(ROWS)}
            self.reply_json([entry])
        elif path.startswith("/api/") and "/tree/" not in path:
            siblings = [{"rfilename": FILE}]
            self.reply_json(
                {"id": "org/toy", "sha": COMMIT, "private": False, "siblings": siblings, "tags": []}
            )
        elif "/gated/" in path or "org/gated" in path:
            self.reply(401, b"", {"X-Error-Code": "GatedRepo"})
        elif path.endswith(FILE):
            etag = hashlib.sha256(ROWS).hexdigest()
            self.reply(200, ROWS, {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT})
        else:
            self.reply(404, b"", {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.reply_json([])

    def reply_json(self, body: Any) -> None:
        self.reply(200, json.dumps(body).encode(), {"Content-Type": "application/json"})

    def reply(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        print(self.command, format % args, file=sys.stderr)


@contextmanager
def serving() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


PROGRAM = """
import json, sys
from genbench.data.hub import load_rows
from genbench.errors import DataError
from genbench.protocols import HubDataset
for given in json.loads(sys.argv[1]):
    given["columns"] = tuple(given["columns"])
    try:
        print("found", json.dumps(load_rows(HubDataset(**given), None)))
    except DataError as error:
        print("found", json.dumps({"error": str(error)}))
"""


def load(cache: Path, endpoint: str, *wanted: dict[str, Any]) -> list[Any]:
    """`load_rows` in a process of its own: the hub's address is read when `datasets` is imported."""
    usual = {"repo": "org/toy", "config": "default", "split": "train", "columns": ["id", "answer"]}
    env = os.environ | {"HF_ENDPOINT": endpoint, "HF_HOME": str(cache), "HF_HUB_DISABLE_TELEMETRY": "1"}
    env = {key: value for key, value in env.items() if key not in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE")}
    command = [sys.executable, "-c", PROGRAM, json.dumps([usual | dataset for dataset in wanted])]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.split("\n") if line.startswith("found ")]
    return [json.loads(line.removeprefix("found ")) for line in lines]


@pytest.mark.slow
def test_rows_come_at_the_pinned_commit_and_then_from_the_cache(tmp_path: Path) -> None:
    with serving() as endpoint:
        [(rows, provenance)] = load(tmp_path, endpoint, {"revision": COMMIT})
    assert rows == [{"id": 1, "answer": "2"}, {"id": 2, "answer": "4"}]
    assert (provenance["source"], provenance["revision"]) == ("hub", COMMIT)
    wrong = {"digest": "0" * 64}
    pins = [{"revision": COMMIT, "digest": provenance["digest"]}, {"revision": COMMIT} | wrong, wrong]
    (again, cached), refused, (_, other) = load(tmp_path, endpoint, *pins)
    assert again == rows
    assert (cached["revision"], cached["digest"]) == (None, provenance["digest"])
    assert "is pinned" in refused["error"]
    assert "is pinned" in other["warning"]


@pytest.mark.slow
def test_what_the_hub_refuses_is_said_with_a_remedy(tmp_path: Path) -> None:
    wanted: dict[str, dict[str, Any]] = {
        "hf auth login": {"repo": "org/gated"},
        "no such dataset": {"repo": "none/none"},
        "no revision": {"revision": "f" * 40},
        "no column level": {"columns": ["level"]},
        "2 rows where 3 are pinned": {"rows": 3, "revision": COMMIT},
        'Unknown split "test"': {"split": "test"},
    }
    with serving() as endpoint:
        answers = load(tmp_path, endpoint, *wanted.values())
    for message, answer in zip(wanted, answers, strict=True):
        assert message in answer["error"]


@pytest.mark.slow
def test_out_of_reach_and_not_cached_says_how_to_mirror(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = [{"revision": COMMIT}, {"revision": COMMIT, "files": [FILE]}]
    answer, of_files = load(tmp_path, "http://127.0.0.1:9", *asked)
    assert "is not in the cache and the hub cannot be asked" in of_files["error"]
    assert "DIR/org/toy/default/train.parquet" in answer["error"]
    assert f"revision='{COMMIT}'" in answer["error"]
