"""The simulated quarter that a newcomer looks at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from genbench.nights.ledger.database import open_ledger
from genbench.team.queue.database import open_queue
from genbench.team.queue.jobs import list_jobs
from genbench.team.service import demo
from genbench.team.service.app import make_app
from genbench.team.service.context import Service
from genbench.team.service.pages.overview import overview


@pytest.mark.slow
def test_a_newcomer_sees_a_drop_that_was_planted_and_a_job_that_waits(tmp_path: Path) -> None:
    lines: list[str] = []
    with open_ledger(tmp_path / "l.sqlite3") as ledger, open_queue(tmp_path / "l.sqlite3") as queue:
        for _ in range(2):
            demo.fill(ledger, queue, tmp_path, by="ada", say=lines.append)
        own = Service(ledger=ledger, queue=queue, runs=tmp_path / "runs")
        nightly, _ = overview(own).tracks
        (job,) = list_jobs(queue)
        with TestClient(make_app(own), base_url="http://127.0.0.1") as client:
            text = client.get("/").text
    assert "is there already" in lines[3] and job.track == "quickstart"
    assert nightly.listed.name == demo.NIGHTLY and len(nightly.trend.missing) == 1
    drops = [change for change, _ in nightly.opened if change.direction == "drop"]
    assert "arithmetic" in {change.task for change in drops}
    assert all(change.first.label in nightly.trend.tasks[0].points.label[-6:] for change in drops)
    assert "arithmetic fell" in text
    folder = next((tmp_path / "runs" / demo.NIGHTLY / "night-000").iterdir())
    assert json.loads((folder / "results.json").read_text())["warnings"] == [
        "simulated: put together from samples that were drawn once"
    ]


def test_packing_a_run_makes_samples_that_the_demo_reads(tmp_path: Path) -> None:
    pool = demo.read_pool()
    assert set(pool.tasks) == {"arithmetic", "choice", "code", "instructions"}
    for task in pool.tasks.values():
        assert len(task.problems) == len(task.samples[0]) == len(task.samples[1]) == 60
        base, tuned = (
            sum(verdict["score"] for problem in model for _, verdict in problem) for model in task.samples
        )
        assert base < tuned
