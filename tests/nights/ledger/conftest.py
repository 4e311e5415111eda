"""An empty ledger for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from genbench.nights.ledger.database import Ledger, open_ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(tmp_path / "ledger.sqlite3") as opened:
        yield opened
