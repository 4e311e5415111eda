"""The record of what was done with each folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from genbench.ledger.add import FolderOutcome
from genbench.ledger.database import Ledger
from genbench.ledger.listing import AddedRun, LedgerAdded


def added_record(ledger: Ledger, done: Sequence[FolderOutcome]) -> LedgerAdded:
    """Return the record that `ledger add` and `ledger rebuild` print."""
    folders = tuple(AddedRun.model_validate(asdict(item)) for item in done)
    return LedgerAdded(format=1, ledger=ledger.where, folders=folders)
