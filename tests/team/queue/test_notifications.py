"""Messages about changes of a track: each change is told when it opens and when it recovers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from genbench.nights.ledger.changes import change_id, open_change, settle_change
from genbench.nights.ledger.database import Ledger, open_ledger
from genbench.nights.ledger.history import track_history
from genbench.nights.ledger.ingest import add
from genbench.nights.ledger.notes import Change
from genbench.team.queue.database import Queue
from genbench.team.queue.jobs import submit
from genbench.team.queue.messages import list_messages
from genbench.team.queue.notifications import notify_changes
from genbench.team.queue.worker import Maintenance
from tests.nights.ledger.synthetic import flat, make_run
from tests.team.queue.killing import placed


def opened(ledger: Ledger, task: str | None, *, gating: bool = True) -> str:
    uids = [night.uid for night in track_history(ledger, "t1").points]
    change = Change(
        id=change_id("t1", task, "drop", uids[-1]),
        track="t1",
        task=task,
        direction="drop",
        gating=gating,
        first_uid=uids[-1],
        last_before_uid=uids[0],
        found_uid=uids[-1],
        found_position=20_001,
        z=-4.4,
        threshold=3.6,
        size=-0.021,
        ci=(-0.03, -0.012),
        suspects=(uids[-1],),
        state="open",
        by="",
        note="",
        at="",
    )
    open_change(ledger, change)
    return change.id


@pytest.mark.slow
def test_changes_of_a_run_are_one_message_and_told_once(queue: Queue, tmp_path: Path) -> None:
    for night in range(2):
        scores = {"gpqa": flat(20, 2, 0.7 - 0.3 * night)}
        make_run(tmp_path / "runs" / f"n{night}", scores, track="t1", position=20_000 + night)
    with open_ledger(tmp_path / "ledger.sqlite3") as ledger:
        add(ledger, [tmp_path / "runs"])
        assert not notify_changes(ledger, queue, "t1")
        first = opened(ledger, "gpqa")
        opened(ledger, None)
        opened(ledger, "watched", gating=False)
        assert notify_changes(ledger, queue, "t1") and not notify_changes(ledger, queue, "t1")
        (message,) = list_messages(queue)
        why = (
            r"fell 2\.1 points \[1\.2, 3\.0\] \(c-.{8}, run .{8}\), "
            r"67\.5 -> 35\.0 \(1 run before, 1 after\); "
            r"32\.5 points of it from more wrong answers \(32\.5 -> 65\.0 % of the samples\)"
        )
        for what in ("gpqa", "all gating tasks together"):
            assert re.search(f"{what} {why}", message.text)
        assert "watched" not in message.text
        assert len(message.detail["changes"]) == 2
        settle_change(ledger, first, "recovered", by="genbench", note="stepped back")
        job, _ = submit(queue, placed(1), tmp_path, by="ada")
        said: list[str] = []
        Maintenance(queue, say=said.append, ledger=str(tmp_path / "ledger.sqlite3")).finished(job)
        assert said == ["t1: a message about changes"]
        assert list_messages(queue)[0].text == f"t1: gpqa has recovered ({first})"


def test_a_ledger_that_is_not_there_is_said(queue: Queue, tmp_path: Path) -> None:
    job, _ = submit(queue, placed(1), tmp_path, by="ada")
    said: list[str] = []
    Maintenance(queue, say=said.append, ledger=str(tmp_path / "none.sqlite3")).finished(job)
    assert said[0].startswith("worker: ") and "no ledger" in said[0]
