"""The adapter of tau2 and the other models that take part, with a package of tau2's interface.

benchmarks/agents/tau2_rewards.py does the same with the real one.
"""

from __future__ import annotations

import json
import shutil
import site
import threading
import time
import venv
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import ConfigError
from genbench.pipeline import RunOptions
from tests.ready_runs import run_bare

HERE = Path(__file__).parent
ASSERTED = {"reward_basis": ["DB", "NL_ASSERTION"], "nl_assertions": ["The agent is kind."]}
SUITE = """\
name: talks
models: {{m: {{path: m}}}}
engine: {{kind: "tests.agents.gateway.scripted_engine:Engine"}}
decoding: {{temperature: 0.5, max_tokens: 32, seed: 4}}
tasks:
  - {{name: talk, task: agent, k: {k}, options: {options}}}
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the package of this folder."""
    folder = tmp_path_factory.mktemp("envs") / "tau2"
    venv.create(folder, symlinks=True)
    (place,) = folder.glob("lib/python3*/site-packages")
    shutil.copytree(HERE / "packages" / "tau2", place / "tau2")
    (place / "tau2-1.0.dist-info").mkdir()
    (place / "own.pth").write_text("\n".join(site.getsitepackages()))  # pydantic
    return folder


class Others(ThreadingHTTPServer):
    """A server of other models. A user fails on `deaf`; the judge says `said`."""

    def __init__(self, said: str = "yes", seconds: float = 0.0) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.said, self.seconds = said, seconds
        self.bodies: list[dict[str, Any]] = []
        self.keys: set[str | None] = set()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = self.server
        assert isinstance(server, Others)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.bodies.append(body)
        server.keys.add(self.headers.get("Authorization"))
        time.sleep(server.seconds)
        asked = body["messages"][0]["content"]
        said = server.said if body["model"] == "judge-1" else f"I am {asked}."
        text = json.dumps({"choices": [{"message": {"role": "assistant", "content": said}}]}).encode()
        self.send_response(500 if "deaf" in asked else 200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def others() -> Iterator[Others]:
    server = Others()
    yield server
    server.shutdown()
    server.server_close()


def write(
    folder: Path, python: Path, kinds: list[str], peers: dict[str, Any], k: int = 1, **more: Any
) -> Path:
    rows = [
        {
            "id": f"t{place}",
            "description": kind.removesuffix(" judged"),
            "user_scenario": {"instructions": f"You are customer {place}."},
            "evaluation_criteria": ASSERTED if kind.endswith("judged") else {"reward_basis": ["DB"]},
        }
        for place, kind in enumerate(kinds)
    ]
    folder.mkdir(exist_ok=True)
    (folder / "tasks.json").write_text(json.dumps(rows))
    options = {
        "source": "tasks.json",
        "harness": "tau2",
        "python": str(python),
        "settings": {"domain": "mock"},
        "peers": peers,
        "limits": {"wall_s": 60},
        **more,
    }
    (folder / "suite.yaml").write_text(SUITE.format(k=k, options=json.dumps(options)))
    return folder


def run(folder: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the verdicts in the order of the problems, and the manifest."""
    report = run_bare(RunOptions(suite=str(folder / "suite.yaml"), run_dir=folder / "out", quiet=True))
    place = report.folders["m"]
    lines = [json.loads(line) for line in (place / "talk" / "verdicts.jsonl").read_text().splitlines()]
    verdicts = sorted(lines, key=lambda line: (line["problem_id"], line["sample_index"]))
    return verdicts, json.loads((place / "manifest.json").read_text())


@pytest.mark.slow
def test_a_conversation_s_reward_is_the_score_and_faults_of_the_user_are_ours(
    python: Path, others: Others, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THEIR_KEY", "secret")
    user = {"base_url": others.url, "model": "user-1", "args": {"temperature": 0.2}, "key": "THEIR_KEY"}
    kinds = ["plain", "forever", "broken", "deaf", "plain judged"]
    verdicts, manifest = run(write(tmp_path / "s", python, kinds, {"user": user}))
    found = [verdict["status"] for verdict in verdicts]
    assert found == ["correct", "truncated", "wrong", "unavailable", "unscored"]
    assert "peers.judge" in verdicts[4]["detail"]["why"]
    assert verdicts[0]["detail"]["rollout"]["peer_requests"] == 1
    assert others.keys == {"Bearer secret"}
    assert {body["temperature"] for body in others.bodies} == {0.2}
    terms = manifest["terms"]["decoding"]["talk"]["agent"]
    assert terms["peers"] == {
        "user": {"base_url": others.url, "model": "user-1", "args": {"temperature": 0.2}}
    }


@pytest.mark.slow
def test_a_judge_decides_and_its_address_is_that_of_the_suite(python: Path, tmp_path: Path) -> None:
    for said, status in (("yes", "correct"), ("no", "wrong")):
        server = Others(said)
        peers = {name: {"base_url": server.url, "model": f"{name}-1"} for name in ("user", "judge")}
        verdicts, _ = run(write(tmp_path / said, python, ["plain judged"], peers))
        server.shutdown()
        server.server_close()
        assert [verdict["status"] for verdict in verdicts] == [status]
        assert [body["model"] for body in server.bodies] == ["user-1", "judge-1"]


@pytest.mark.slow
def test_the_user_s_seed_follows_from_the_sample(python: Path, others: Others, tmp_path: Path) -> None:
    seeds = []
    for name in ("a", "b"):
        others.bodies.clear()
        peers = {"user": {"base_url": others.url, "model": "user-1"}}
        run(write(tmp_path / name, python, ["plain"], peers, k=2))
        seeds.append({body["seed"] for body in others.bodies})
    assert len(seeds[0]) == 2
    assert seeds[0] == seeds[1]


@pytest.mark.slow
def test_waiting_for_another_model_is_not_the_harness_s_time(python: Path, tmp_path: Path) -> None:
    server = Others(seconds=6.0)
    peers = {"user": {"base_url": server.url, "model": "user-1"}}
    limits = {"wall_s": 60, "first_request_s": 5}
    verdicts, _ = run(write(tmp_path / "s", python, ["plain"], peers, limits=limits))
    server.shutdown()
    server.server_close()
    assert verdicts[0]["status"] == "correct"
    assert verdicts[0]["detail"]["rollout"]["peers_s"] >= 6


@pytest.mark.parametrize(
    ("peers", "said"),
    [
        ({"user": {"base_url": "localhost:1", "model": "x"}}, "peers.user.base_url"),
        ({"user": {"base_url": "http://h/v1"}}, "peers.user.model"),
        ({"user": "gpt"}, "peers.user"),
        (
            {"user": {"base_url": "http://h/v1", "model": "x", "key": "NO_SUCH_KEY"}},
            "NO_SUCH_KEY is not a variable",
        ),
    ],
)
def test_wrong_peers_are_named(python: Path, tmp_path: Path, peers: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        run(write(tmp_path / "s", python, ["plain"], peers))
