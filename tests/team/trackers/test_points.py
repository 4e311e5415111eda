"""Scores of runs in the outbox: each run once, again after it was scored again, late ones too."""

from __future__ import annotations

from pathlib import Path

from genbench.nights.ledger.database import open_ledger
from genbench.nights.ledger.ingest import add
from genbench.team.queue.database import open_queue
from genbench.team.queue.messages import FOR_PEOPLE, due_messages, list_messages
from genbench.team.trackers.exporter import COLUMNS, KIND, tell_points
from tests.nights.ledger.synthetic import flat, make_run


def test_each_run_is_told_once_and_late_ones_too(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    with open_ledger(tmp_path / "l.sqlite3") as ledger, open_queue(tmp_path / "l.sqlite3") as queue:
        for number in (0, 2):
            make_run(runs / f"n{number}", {"math": flat(20, 2, 0.5, number)}, position=20_000 + number)
        add(ledger, [runs])
        assert (tell_points(ledger, queue, "nightly"), tell_points(ledger, queue, "nightly")) == (2, 0)
        make_run(runs / "n1", {"math": flat(20, 2, 0.25, 1)}, position=20_001)
        add(ledger, [runs])
        assert tell_points(ledger, queue, "nightly") == 1
        first, late = due_messages(queue, 0.0, {KIND})
        assert [point["position"] for point in first.detail["points"]] == [20_000, 20_002]
        (point,) = late.detail["points"]
        assert point["position"] == 20_001 and late.detail["kind"] == "night"
        names = {name.removeprefix("math/") for name in point["values"]}
        assert {"value", "ci_low", "ci_high", "rerun_low", "rerun_high"} <= names <= set(COLUMNS)
        assert list_messages(queue) == [] and KIND not in FOR_PEOPLE and due_messages(queue, 0.0) == []
