"""A night of a training run on the real engine: server, worker, watcher, and a trainer that misbehaves."""

from __future__ import annotations

import json
import random
import shutil
import signal
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from http.server import HTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from genbench.nights.ledger.database import open_ledger
from genbench.nights.ledger.history import track_history
from genbench.nights.ledger.ingest import add
from genbench.pipeline import score
from genbench.suite.shipped import folder as shipped_folder
from genbench.team.queue.delivery import SIGNATURE, signature
from tests import warm
from tests.loopback import QuietHandler

pytestmark = [pytest.mark.engine, pytest.mark.slow]

SUITE = """\
name: watched
models:
  tuned: {path: "shipped:checkpoints/tiny-tuned"}
engine: {max_num_seqs: 64}
decoding: {temperature: 0.8, top_p: 0.95, max_tokens: 48, seed: 3}
tasks:
  - name: arithmetic
    kind: math
    data: {path: "shipped:data/quickstart/arithmetic.jsonl",
           fields: {id: id, question: question, reference: reference}}
    prompt: "{question}"
    k: 2
    limit: 40
    gating: true
"""
SECRET = "of this test"
STAGES = 3
"""Processes of a job: its run, and what puts it into the ledger and into the trend."""
WAIT_S = 600.0


class Receiver(QuietHandler):
    """A receiver of messages that keeps what it gets."""

    def do_POST(self) -> None:  # noqa: N802 - the name that http.server calls
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((body, self.headers.get(SIGNATURE)))  # type: ignore[attr-defined]
        self.send_response(204)
        self.end_headers()


@pytest.fixture
def receiver() -> Iterator[HTTPServer]:
    server = HTTPServer(("127.0.0.1", 0), Receiver)
    server.got = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def write_shard(source: Path, names: list[str], target: Path) -> None:
    """Write some tensors of a safetensors file into a file of their own."""
    whole = source.read_bytes()
    length = int.from_bytes(whole[:8], "little")
    header, data = json.loads(whole[8 : 8 + length]), whole[8 + length :]
    entries, parts, end = {}, [], 0
    for name in names:
        start, stop = header[name]["data_offsets"]
        entries[name] = header[name] | {"data_offsets": [end, end + stop - start]}
        parts.append(data[start:stop])
        end += stop - start
    text = json.dumps({"__metadata__": {"format": "pt"}, **entries}).encode()
    target.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(parts))


class Trainer:
    """A trainer that writes the shards of a checkpoint one after the other, its index last."""

    def __init__(self, out: Path) -> None:
        self._out = out
        out.mkdir()

    def write(self, name: str, weights: str, *, note: str, stop_before: str = "", cut: str = "") -> Path:
        """Write one checkpoint. `note` makes its identity its own. `cut` is a file that ends too early."""
        source, place = shipped_folder("checkpoints") / weights, self._out / name
        whole = (source / "model.safetensors").read_bytes()
        header = json.loads(whole[8 : 8 + int.from_bytes(whole[:8], "little")])
        names = sorted(name for name in header if name != "__metadata__")
        halves = {
            "model-00001-of-00002.safetensors": names[::2],
            "model-00002-of-00002.safetensors": names[1::2],
        }
        place.mkdir()
        config = json.loads((source / "config.json").read_text()) | {"note_of_test": note}
        (place / "config.json").write_text(json.dumps(config))
        for path in source.iterdir():
            if path.name.startswith(("tokenizer", "chat_template", "generation_config")):
                shutil.copy(path, place)
        for file, own in halves.items():
            if file == stop_before:
                return place
            time.sleep(0.6)
            write_shard(source / "model.safetensors", own, place / file)
            if file == cut:
                (place / file).write_bytes((place / file).read_bytes()[:-1000])
        index = {"weight_map": {name: file for file, own in halves.items() for name in own}}
        (place / "model.safetensors.index.json").write_text(json.dumps(index))
        return place


def earlier_step(run: Path, target: Path, step: int) -> None:
    """Write a copy of a run as an earlier step with better or worse answers. It saves an engine start."""
    shutil.copytree(run, target)
    draw = random.Random(step)
    manifest = json.loads((target / "manifest.json").read_text())
    manifest["uid"] = str(uuid.UUID(int=draw.getrandbits(128), version=4))
    manifest["track"]["position"] = step
    (target / "manifest.json").write_text(json.dumps(manifest))
    verdicts = target / "arithmetic" / "verdicts.jsonl"
    records = [json.loads(line) for line in verdicts.read_text().splitlines()]
    # The order of the lines is that in which the answers came.
    records.sort(key=lambda record: (record["problem_id"], record["sample_index"]))
    other = ({"score": 1.0, "status": "correct"}, {"score": 0.0, "status": "wrong"})[step // 10 % 2]
    for record in draw.sample(records, 3):
        record.update(other)
    verdicts.write_text("".join(json.dumps(record) + "\n" for record in records))
    for name in ("results.json", "sums.json"):
        (target / name).unlink()
    score(target)


def wait_for(what: str, found: Callable[[], object], processes: Sequence[warm.Popen]) -> Any:
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        assert [process.poll() for process in processes] == [None] * len(processes), what
        value = found()
        if value:
            return value
        time.sleep(0.2)
    raise AssertionError(f"{what}: not within {WAIT_S:g} s")


def test_a_night_of_a_training_run(
    tmp_path: Path, receiver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "suite.yaml").write_text(SUITE)
    monkeypatch.setenv("GENBENCH_WEBHOOK_URL", f"http://127.0.0.1:{receiver.server_port}/")
    monkeypatch.setenv("GENBENCH_WEBHOOK_SECRET", SECRET)
    monkeypatch.setenv("GENBENCH_LEDGER", str(tmp_path / "ledger.sqlite3"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    trainer = Trainer(tmp_path / "out")
    watching = (
        "watch",
        "start",
        "out",
        "--suite=suite.yaml",
        "--track=sft",
        "--settle=1",
        "--poll=0.3",
        "--pending=9",
    )
    commands = (("serve", f"--port={port}"), ("queue", "work"), watching)
    with (tmp_path / "log").open("ab") as log:
        processes = [
            warm.Popen(
                words, engine=words[0] == "queue", jobs=3 * STAGES, cwd=tmp_path, stdout=log, stderr=log
            )
            for words in commands
        ]
    api = httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1")
    try:

        def states() -> dict[str, list[str]]:
            try:
                record = api.get("/watches/sft").json()
            except httpx.TransportError:
                return {}
            found: dict[str, list[str]] = {}
            for item in sorted(record.get("checkpoints", ()), key=lambda item: item["id"]):
                found.setdefault(item["path"], []).append(item["state"])
            return found

        first = trainer.write("checkpoint-100", "tiny-tuned", note="100")
        wait_for("a job for step 100", lambda: states().get("checkpoint-100") == ["queued"], processes)
        shutil.rmtree(first)
        trainer.write("checkpoint-150", "tiny-tuned", note="150", cut="model-00002-of-00002.safetensors")
        half = trainer.write(
            "checkpoint-200", "tiny-tuned", note="200", stop_before="model-00002-of-00002.safetensors"
        )
        wait_for("a look at step 200", lambda: "checkpoint-200" in states(), processes)
        shutil.rmtree(half)
        wait_for("the run of step 100", lambda: states()["checkpoint-100"] == ["done"], processes)
        run = tmp_path / "runs" / "sft" / "checkpoint-100"
        for step in range(10, 90, 10):
            earlier_step(run, tmp_path / "earlier" / f"step-{step}", step)
        with open_ledger() as ledger:
            add(ledger, [tmp_path / "earlier"])
        again = trainer.write("checkpoint-300", "tiny-base", note="300")
        wait_for("a job for step 300", lambda: "queued" in states().get("checkpoint-300", ()), processes)
        shutil.rmtree(again)
        trainer.write("checkpoint-300", "tiny-base", note="300 again")
        wait_for("both runs of step 300", lambda: states()["checkpoint-300"] == ["done", "done"], processes)
        wait_for("a message", lambda: receiver.got, processes)  # type: ignore[attr-defined]
        ends = states()
        jobs = api.get("/jobs").json()["items"]
        changes = api.get("/tracks/sft/changes").json()
    finally:
        api.close()
        for process in processes:
            process.send_signal(signal.SIGTERM)
        for process in processes:
            process.wait(60)
    told = (tmp_path / "log").read_text()
    assert states_of(jobs) == ["finished"] * 3, told
    assert [change["state"] for change in changes] == ["open"] and changes[0]["direction"] == "drop"
    assert changes[0]["first"]["label"] == "step-300"
    ((body, signed),) = receiver.got  # type: ignore[attr-defined]
    assert signed == signature(SECRET, body, int(signed.partition(",")[0][2:]))
    record = json.loads(body)
    assert (record["kind"], record["track"]) == ("change", "sft") and "arithmetic fell" in record["text"]
    with open_ledger() as ledger:
        labels = [point.label for point in track_history(ledger, "sft").points]
    assert labels[-3:] == ["step-100", "step-300", "step-300"] and len(labels) == 11
    assert (ends["checkpoint-150"], ends["checkpoint-200"]) == (["settling"], ["vanished"])


def states_of(jobs: list[dict[str, Any]]) -> list[str]:
    return [job["state"] for job in jobs]
