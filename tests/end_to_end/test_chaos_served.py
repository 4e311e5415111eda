"""A run whose server fails, whose disk fills and whose parts are killed ends as an undisturbed one."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import Place
from .faults import DEADLINE_S, FULL, FaultyRun, FaultyServer, JumpingClock, facts

pytestmark = [pytest.mark.slow]

SEED = 20_261_122
SERVED = """\
name: served
models:
  m: {path: none, server: {base_urls: ["URL"], model: m}}
engine: {kind: http, prompts: chat, api: openai, concurrency: 4, timeout_s: 3, retries: 8, outage_s: 60}
decoding: {temperature: 0.6, max_tokens: 64, seed: 11}
verify: {workers: 1}
tasks:
  - name: code
    kind: code
    data: {path: code.jsonl, fields: {id: id, question: q, reference: {fn_name: fn, tests: tests}}}
    prompt: "{question}"
    k: K
  - name: sums
    kind: math
    data: {path: sums.jsonl, fields: {id: id, question: q, reference: a}}
    prompt: "{question}"
    k: K
"""
SERVED_K = 28 if FULL else 5
SERVED_PROBLEMS = {"code": 40, "sums": 60}
SERVED_FAULTS = (
    {"429": 3, "500": 3, "trickle": 2, "half": 2, "run": 3, "torn line": 2, "full disk": 1}
    | {"sandbox": 3, "verifier": 2, "hang": 2, "long": 2, "short": 2, "stopped": 2}
    | {"a day back": 2, "a day ahead": 2}
    if FULL
    else dict.fromkeys(
        (
            *("429", "500", "trickle", "half", "run", "torn line", "full disk", "sandbox"),
            *("hang", "long", "short", "stopped", "a day back", "a day ahead"),
        ),
        1,
    )
)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    yield place
    place.end_all()


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    server = FaultyServer()
    yield server
    server.close()


def write_served(place: Place, url: str) -> dict[str, int]:
    """Write the suite of a served model. Return the samples of each task."""
    suite = SERVED.replace("URL", url).replace("k: K", f"k: {SERVED_K}")
    (place.path / "suite.yaml").write_text(suite)
    rows: dict[str, list[dict[str, object]]] = {
        "code": [
            {
                "id": f"c{i}",
                "q": f"a program f that adds {i}",
                "fn": "f",
                "tests": [f"assert f(1) == {i + 1}"],
            }
            for i in range(SERVED_PROBLEMS["code"])
        ],
        "sums": [{"id": f"s{i}", "q": f"{i} + 0?", "a": str(i)} for i in range(SERVED_PROBLEMS["sums"])],
    }
    for name, records in rows.items():
        text = "".join(json.dumps(record) + "\n" for record in records)
        (place.path / f"{name}.jsonl").write_text(text)
    return {name: n * SERVED_K for name, n in SERVED_PROBLEMS.items()}


def test_faults_of_server_disk_and_processes_change_nothing(place: Place, server: FaultyServer) -> None:
    samples = write_served(place, server.url)
    clock = JumpingClock(place.path)
    place.results("--run-dir", "whole", timeout_s=DEADLINE_S)
    run = FaultyRun(place, place.path / "hit" / "m", samples, random.Random(SEED), server, clock)
    ended = run.run(run.plan(SERVED_FAULTS, {"sandbox": 0.3, "verifier": 0.7}))
    assert ended.returncode == 0, ended.stderr
    assert Counter(run.done) == SERVED_FAULTS
    assert facts(run.folder, samples) == facts(place.path / "whole" / "m", samples)
    totals = json.loads(ended.stdout)["models"]["m"]["totals"]
    assert (
        totals["attempts"]
        == run.begun
        == 1 + sum(SERVED_FAULTS[fault] for fault in ("run", "torn line", "full disk"))
    )
