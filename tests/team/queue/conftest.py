"""An empty queue for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from genbench.team.queue.database import Queue, open_queue


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Queue]:
    with open_queue(tmp_path / "ledger.sqlite3") as opened:
        yield opened
