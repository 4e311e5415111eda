"""A process that is killed in the middle of adding a run leaves a ledger that goes on."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from genbench.nights.ledger.database import open_ledger
from genbench.nights.ledger.history import track_history
from genbench.nights.ledger.ingest import add, rebuild
from tests.nights.ledger.equality import all_rows
from tests.nights.ledger.synthetic import flat, make_run

KILLED = """
import os, signal, sys
from pathlib import Path
from genbench.nights.ledger.ingest import add
from genbench.nights.ledger.database import open_ledger
from genbench.nights.ledger.ingest import ingest
from genbench.nights.ledger.run_facts import read_facts
ledger, runs = open_ledger(sys.argv[1]), Path(sys.argv[2])
add(ledger, [runs / "other0"])
with ledger.write() as connection:
    ingest(ledger, connection, read_facts(runs / "n1"))
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_a_run_is_added_whole_or_not_at_all(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    make_run(runs / "other0", {"math": flat()}, track="other")
    for night in range(3):
        make_run(runs / f"n{night}", {"math": flat(20, 2, 0.5, night)}, position=20_000 + night)
    path = tmp_path / "ledger.sqlite3"
    done = subprocess.run([sys.executable, "-c", KILLED, str(path), str(runs)], check=False)
    assert done.returncode == -signal.SIGKILL
    with open_ledger(path) as ledger:
        assert len(all_rows(ledger)["run"]) == 1
        add(ledger, [runs])
        wanted = all_rows(ledger)
        # The note that pinned the base was written before the kill, so it counts.
        base = track_history(ledger, "nightly").base
        assert base is not None and base.path == str(runs / "n1")
        rebuild(ledger)
        assert all_rows(ledger) == wanted
