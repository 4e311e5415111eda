"""Export to the real packages of trackers, each with a store of its own on this disk."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import InputError
from genbench.nights.ledger.database import open_ledger
from genbench.nights.ledger.ingest import add
from genbench.team.queue.database import Queue, open_queue
from genbench.team.queue.delivery import SendError, deliver
from genbench.team.queue.jobs import submit
from genbench.team.queue.messages import list_messages, put_message
from genbench.team.trackers import sending
from genbench.team.trackers.exporter import Exporter, Tracker, trackers_of
from tests.nights.ledger.synthetic import flat, make_run
from tests.team.queue.conftest import queue
from tests.team.queue.killing import placed

__all__ = ["queue"]


def put_scores(queue: Queue, *positions: int) -> None:
    """Put scores of a training run into the outbox, at these steps."""
    points = [
        {"uid": f"u{step}", "model": "m", "position": step, "values": {"math/value": step / 1000}}
        for step in positions
    ]
    detail = {"told": [f"u{step}" for step in positions], "kind": "step", "points": points}
    with queue.write() as connection:
        put_message(connection, f"scores:{positions}", "scores", "sft-42", "scores", detail=detail)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder where the trackers keep everything, without a network."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))
    return tmp_path


@pytest.mark.slow
def test_late_checkpoints_arrive_in_weights_and_biases(queue: Queue, place: Path) -> None:
    put_scores(queue, 500, 1000)
    put_scores(queue, 250)
    lines = deliver(queue, [Tracker("wandb", limit_s=60)])
    assert lines == ["message 1 sent", "message 2 sent"]
    rows = [row for file in sorted(place.glob("wandb/offline-run-*/*.wandb")) for row in wandb_rows(file)]
    assert [(row["train/step"], row["math/value"]) for row in rows] == [(500, 0.5), (1000, 1.0), (250, 0.25)]


def wandb_rows(file: Path) -> list[dict[str, Any]]:
    """The rows of the history in a file of an offline run: blocks of 32 kB as in the log of LevelDB."""
    code = """
import json, sys
from wandb.proto import wandb_internal_pb2 as records
data, at, whole = open(sys.argv[1], "rb").read(), 7, b""
while at + 7 <= len(data):
    if 32768 - at % 32768 < 7:
        at += 32768 - at % 32768
        continue
    size, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
    whole += data[at + 7 : at + 7 + size]
    at += 7 + size
    if kind in (1, 4):
        record = records.Record()
        record.ParseFromString(whole)
        whole = b""
        if record.HasField("history"):
            items = record.history.item
            print(json.dumps({"/".join(i.nested_key) or i.key: json.loads(i.value_json) for i in items}))
"""
    done = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.slow
def test_mlflow_has_one_run_a_track_with_all_steps(queue: Queue, place: Path) -> None:
    put_scores(queue, 500, 1000)
    put_scores(queue, 250)
    assert deliver(queue, [Tracker("mlflow", limit_s=120)]) == ["message 1 sent", "message 2 sent"]
    with sqlite3.connect(place / "mlflow.db") as connection:
        rows = connection.execute("SELECT run_uuid, key, step, value FROM metrics ORDER BY step").fetchall()
        tags = connection.execute("SELECT value FROM tags WHERE key = 'genbench.track'").fetchall()
    assert [row[1:] for row in rows] == [("math/value", s, s / 1000) for s in (250, 500, 1000)]
    assert len({row[0] for row in rows}) == 1 and tags == [("sft-42",)]


@pytest.mark.slow
def test_trackio_has_one_run_a_track_with_all_steps(queue: Queue, place: Path) -> None:
    put_scores(queue, 500, 1000)
    put_scores(queue, 250)
    assert deliver(queue, [Tracker("trackio", "mine", limit_s=60)]) == ["message 1 sent", "message 2 sent"]
    with sqlite3.connect(place / "trackio" / "mine.db") as connection:
        rows = connection.execute("SELECT run_name, step, metrics FROM metrics ORDER BY step").fetchall()
    found = [(name, step, json.loads(text)["math/value"]) for name, step, text in rows]
    assert found == [("sft-42", 250, 0.25), ("sft-42", 500, 0.5), ("sft-42", 1000, 1.0)]


@pytest.mark.slow
def test_a_tracker_that_fails_harms_nothing_and_is_tried_again(
    queue: Queue, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACKIO_DIR", "/proc/nowhere")
    put_scores(queue, 500)
    (line,) = deliver(queue, [Tracker("trackio")], 1000.0)
    assert line.startswith("message 1 did not arrive: trackio: ")
    (message,) = list_messages(queue)
    assert (message.state, message.tries) == ("waiting", 1)
    with pytest.raises(SendError, match=r"no answer within 0\.01 s"):
        Tracker("trackio", limit_s=0.01).send(message, 0.0)


def test_trackers_are_named_by_a_variable() -> None:
    assert trackers_of({}) == []
    (found,) = trackers_of({"GENBENCH_TRACKERS": "trackio"})
    assert found.name == "trackio" and set(sending.SENDERS) == {"wandb", "mlflow", "trackio"}
    with pytest.raises(InputError, match="unknown tracker 'wandbb'; did you mean 'wandb'"):
        trackers_of({"GENBENCH_TRACKERS": "wandbb"})


def test_scores_of_a_finished_job_are_sent_by_a_thread(tmp_path: Path) -> None:
    seen: list[str] = []

    class Remembering(Tracker):
        def send(self, message: Any, clock: float) -> None:
            seen.append(message.track)

    where, said = str(tmp_path / "l.sqlite3"), list[str]()
    make_run(tmp_path / "runs" / "n0", {"math": flat()}, position=20_000)
    with open_ledger(where) as ledger, open_queue(where) as queue:
        add(ledger, [tmp_path / "runs"])
        job, _ = submit(queue, placed(1, track="nightly"), tmp_path / "runs", by="ada")
        exporter = Exporter(queue, [Remembering("trackio")], say=said.append, ledger=where)
        exporter.finished(job)
        exporter.close()
        assert seen == ["nightly"] and said == ["message 1 sent"]
        exporter.close()
        assert len(said) == 1
