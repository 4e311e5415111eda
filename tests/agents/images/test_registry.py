"""Images from a registry: a small one on this machine, which wants tokens and breaks downloads off."""

from __future__ import annotations

import http.server
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from genbench.agents.images.layout import Layout, platform
from genbench.agents.images.plan import read_lock
from genbench.agents.images.registry import Name, Registry, credentials, read_name
from genbench.agents.images.store import Store
from genbench.errors import DataError, InputError
from genbench.runs.mirror import mirror
from tests.agents.images.conftest import entry, tar

SECRET = "the-token-of-the-test"


class LocalRegistry(http.server.ThreadingHTTPServer):
    """A registry of one image under two names. It notes what it was asked."""

    def __init__(self, layout: Layout, digest: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.layout, self.digest = layout, digest
        self.asked: list[str] = []
        self.breaks = 0
        self.forged: str | None = None
        own = platform().partition("/")[2]
        other = {"digest": "sha256:" + "0" * 64, "platform": {"os": "linux", "architecture": "s390x"}}
        this = {"digest": digest, "platform": {"os": "linux", "architecture": own}}
        self.index = json.dumps({"mediaType": INDEX, "schemaVersion": 2, "manifests": [other, this]}).encode()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server_port}"


INDEX = "application/vnd.oci.image.index.v1+json"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: LocalRegistry

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        if self.path.startswith("/token"):
            scope = parse_qs(urlsplit(self.path).query)["scope"][0]
            self.say(200, json.dumps({"token": f"{SECRET} {scope}"}).encode())
        elif self.path == "/v2/" or SECRET not in self.headers.get("Authorization", ""):
            realm = f'Bearer realm="http://{self.server.host}/token",service="local"'
            self.say(401, b"", {"WWW-Authenticate": realm})
        elif re.fullmatch(r"/v2/own/task/manifests/(?:1|2)", self.path):
            self.say(200, self.server.index)
        else:
            self.send_blob(self.path.rpartition("/")[2])

    def send_blob(self, digest: str) -> None:
        path = self.server.layout.folder / "blobs" / "sha256" / digest.removeprefix("sha256:")
        if not path.exists():
            self.say(404, b"")
            return
        data = path.read_bytes()
        if digest == self.server.forged:
            data = b"x" * len(data)
        first = int((self.headers.get("Range") or "bytes=0-")[6:-1])
        if self.server.breaks and len(data) > 100_000:
            self.server.breaks -= 1
            self.send_response(206 if first else 200)
            self.send_header("Content-Length", str(len(data) - first))
            self.end_headers()
            self.wfile.write(data[first : first + 70_000])
            self.close_connection = True
            return
        self.say(206 if first else 200, data[first:])

    def say(self, status: int, data: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for key, value in {"Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def registry(maker: ModuleType, tmp_path: Path) -> Iterator[LocalRegistry]:
    layers = [tar(entry("a", bytes(range(256)) * 1_500)), tar(entry("b", b"2"))]
    digest = maker.write_layout(tmp_path / "origin", "origin", layers, {})
    with LocalRegistry(Layout(tmp_path / "origin"), digest) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_names_are_read_as_other_tools_do() -> None:
    assert read_name("alpine") == Name("docker.io", "library/alpine", "latest")
    assert read_name("org/x:1") == Name("docker.io", "org/x", "1")
    assert read_name("localhost/x:1") == Name("localhost", "x", "1")
    assert read_name("r.example:5000/a/b@sha256:0a").reference == "sha256:0a"
    with pytest.raises(InputError, match="no name of an image"):
        read_name("Not An Image")


def test_an_image_is_fetched_once_and_goes_on_after_a_break(registry: LocalRegistry, tmp_path: Path) -> None:
    registry.breaks = 3
    client = Registry(Layout(tmp_path / "to"), clock_pause_s=0.01)
    found = client.pull(f"{registry.host}/own/task:1")
    assert found.image.digest == registry.digest
    whole = sum(path.stat().st_size for path in (tmp_path / "origin/blobs/sha256").iterdir())
    assert found.fetched_bytes == whole + len(registry.index)
    assert registry.breaks == 0
    again = Registry(Layout(tmp_path / "to"))
    registry.asked.clear()
    assert again.pull(f"{registry.host}/own/task@{registry.digest}").fetched_bytes == 0
    assert registry.asked == []
    assert Layout(tmp_path / "to").broken(found.image) == []
    for one in (client, again):
        one.close()


def test_what_has_another_digest_is_refused_and_not_kept(registry: LocalRegistry, tmp_path: Path) -> None:
    registry.forged = Layout(tmp_path / "origin").image(registry.digest).layers[0].blob.digest
    client = Registry(Layout(tmp_path / "to"))
    with pytest.raises(DataError, match="another digest"):
        client.pull(f"{registry.host}/own/task:1")
    assert not Layout(tmp_path / "to").blob(registry.forged).exists()
    with pytest.raises(DataError, match="404; there is no such image"):
        client.pull(f"{registry.host}/own/none:1")
    client.close()


def test_credentials_are_those_of_other_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"auths": {"r.example": {"auth": "bjpw"}}}))
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    assert credentials("r.example") == "bjpw"
    assert credentials("other.example") is None


def test_mirror_fetches_the_images_of_a_suite_and_locks_their_tags(
    registry: LocalRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swe: ModuleType
) -> None:
    monkeypatch.setenv("GENBENCH_IMAGES", str(tmp_path / "store"))
    rows = [swe.row("a__b-1", image="r.example/own/task:1"), swe.row("a__b-2", image="none:1")]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = {"source": "rows.jsonl", "command": ["true"], "images": "images.lock"}
    suite: dict[str, Any] = {"name": "s", "models": {"m": {"path": "m"}}}
    suite |= {"decoding": {"temperature": 0, "max_tokens": 8}}
    suite |= {"tasks": [{"name": "fix", "task": "agent", "options": options}]}
    (tmp_path / "suite.yaml").write_text(json.dumps(suite))
    told: list[str] = []

    def fetch() -> dict[str, Any]:
        found = mirror(
            str(tmp_path / "suite.yaml"), tmp_path / "m", registry_mirror=registry.host, tell=told.append
        )
        return {part.name: part for part in found.parts}

    parts = fetch()
    assert parts["r.example/own/task:1"].state == "fetched"
    assert "404" in parts["none:1"].detail
    assert read_lock(tmp_path / "images.lock") == {"r.example/own/task:1": registry.digest}
    assert SECRET not in json.dumps([told, [part.detail for part in parts.values()]])
    assert fetch()["r.example/own/task:1"].state == "was there"
    names = [name for name, _, _ in Store(tmp_path / "store").add(Layout(tmp_path / "m" / "images"))]
    assert "r.example/own/task:1" in names
