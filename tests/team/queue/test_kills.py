"""Workers and children that are killed or stopped, a clock that jumps, and a server of the database that is
gone for a while: each job is done once."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.team.queue.database import open_queue
from tests.nights.ledger.postgres import postgres_server
from tests.team.queue.killing import kill_at_random


@pytest.mark.slow
def test_every_job_is_done_once_on_sqlite(tmp_path: Path) -> None:
    done = kill_at_random(tmp_path, str(tmp_path / "ledger.sqlite3"), jobs=12, kills=5, seed=7, pause_s=0.01)
    assert done.faults(12) == [], (tmp_path / "workers.log").read_text()[-2000:]
    assert sum(done.kills.values()) == 5 and done.starts >= 12
    assert done.kills["stopped worker"] == 2


@pytest.mark.slow
def test_every_job_is_done_once_on_postgres(tmp_path: Path) -> None:
    with postgres_server() as url:
        with open_queue(url) as queue:
            assert queue.where.startswith("postgresql://")
        done = kill_at_random(tmp_path, url, jobs=12, kills=5, seed=11, pause_s=0.01, served=6)
    assert done.faults(12) == [], (tmp_path / "workers.log").read_text()[-2000:]
    assert done.kills["stopped worker"] == done.kills["stopped service"] == 1
