"""From a registry to results on a machine without a network: listed, fetched, proven and drawn."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from genbench.agents.images.layout import Layout
from genbench.agents.images.plan import read_lock
from genbench.runs.mirror import MirroredPart, mirror
from tests.agents.images.conftest import load_example
from tests.agents.images.test_registry import LocalRegistry

HERE = Path(__file__).parent
NAME = "r.example/own/task:1"
ALONE = """
import json, socket, sys
from pathlib import Path
from genbench.agents.images.layout import Layout
from genbench.agents.images.mirror import prove
from genbench.agents.images.store import Store, default_store
from genbench.consent import allow_code
from genbench.pipeline import RunOptions
from tests.ready_runs import run_bare

place, port = Path(sys.argv[1]), int(sys.argv[2])
try:
    socket.create_connection(("127.0.0.1", port), 5)
    sys.exit("there is a network")
except OSError:
    pass
allow_code(place)
Store(default_store()).add(Layout(place / "m" / "images"))
assert [item.why for item in prove(place / "suite.yaml", workers=2, again=False)] == [None, None]
out = run_bare(RunOptions(suite=str(place / "suite.yaml"), run_dir=place / "out", quiet=True)).folders["m"]
lines = map(json.loads, (out / "term" / "verdicts.jsonl").read_text().splitlines())
print(json.dumps({line["problem_id"]: [line["status"], line["score"]] for line in lines}))
"""


@pytest.fixture
def registry(maker: ModuleType, programs: bytes, tmp_path: Path) -> Iterator[LocalRegistry]:
    config = {"Env": ["PATH=/usr/bin:/bin"], "WorkingDir": "/tmp"}
    digest = maker.write_layout(tmp_path / "origin", "origin", [programs], config)
    with LocalRegistry(Layout(tmp_path / "origin"), digest) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def write(place: Path) -> Path:
    terminal = load_example("make_terminal")
    terminal.write_kit(place / "kit")
    for name in ("right", "wrong"):
        terminal.write_task(place / "tasks" / name, NAME)
    options = {
        "source": "tasks",
        "command": [sys.executable, str(HERE / "terminal_agent.py")],
        "images": "images.lock",
        "kit": "kit",
        "settings": {"do": {"right": "echo 42 > /tmp/answer"}},
        "limits": {"turns": 3, "wall_s": 120, "concurrent": 2},
    }
    suite = {
        "name": "terminal",
        "models": {"m": {"path": "m"}},
        "engine": {"kind": "tests.agents.gateway.scripted_engine:Engine"},
        "decoding": {"temperature": 0.5, "max_tokens": 32},
        "tasks": [{"name": "term", "task": "agent", "k": 1, "options": options}],
    }
    (place / "suite.yaml").write_text(json.dumps(suite))
    return place / "suite.yaml"


@pytest.mark.slow
def test_a_suite_is_mirrored_and_then_run_without_any_network(
    registry: LocalRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GENBENCH_IMAGES", str(tmp_path / "store"))
    suite = write(tmp_path)
    layer = Layout(tmp_path / "origin").image(registry.digest).layers[0].blob

    def fetch(to: str = "m", *, dry_run: bool = False) -> MirroredPart:
        registry.asked.clear()
        found = mirror(str(suite), tmp_path / to, registry_mirror=registry.host, dry_run=dry_run)
        (part,) = found.parts
        return part

    part = fetch(dry_run=True)
    assert (part.state, part.name, part.path) == ("planned", NAME, None)
    assert f"{layer.size / 1e6:,.1f} MB of it to fetch" in part.detail
    assert not any(layer.digest in path for path in registry.asked)
    assert not (tmp_path / "m").exists() and not (tmp_path / "images.lock").exists()

    registry.forged = layer.digest
    part = fetch("forged")
    assert part.state == "failed" and "another digest" in part.detail
    registry.forged, registry.breaks = None, 1
    assert fetch().state == "fetched"
    assert sum(layer.digest in path for path in registry.asked) == 2
    assert read_lock(tmp_path / "images.lock") == {NAME: registry.digest}
    part = fetch()
    assert part.state == "was there" and part.detail.endswith(" 0.0 MB of it fetched")
    assert registry.asked == []

    own = [] if os.getuid() == 0 else ["--map-root-user"]
    words = ["unshare", "--net", *own, sys.executable, "-c", ALONE, str(tmp_path), str(registry.server_port)]
    done = subprocess.run(words, cwd=HERE.parents[2], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {"right": ["correct", 1.0], "wrong": ["wrong", 0.0]}
