"""What other commands ask of the nights of a track."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from genbench.nights.ledger.database import Ledger, open_ledger
from genbench.nights.ledger.history import previous_runs, stored_runs
from genbench.nights.trend.detect import detect_changes


@contextmanager
def open_nights(ledger: str | None, notes: Path | None = None) -> Iterator[Nights]:
    """Open a ledger that is there.

    Raises:
        InputError: there is none, or it cannot be opened.
    """
    with open_ledger(ledger, notes, create=False) as opened:
        yield Nights(opened)


@dataclass(frozen=True, slots=True)
class Nights:
    """A `protocols.History` of an open ledger."""

    ledger: Ledger

    def stored_runs(self, track: str) -> list[Path]:
        """Return the folders of the newest nights that are there, from old to new."""
        return stored_runs(self.ledger, track)

    def previous_runs(self, track: str, tested: Path) -> list[Path]:
        """Return the folders of the base, of the earlier nights, and the tested one."""
        return previous_runs(self.ledger, track, tested)

    def night_noise(self, track: str) -> Mapping[str, float]:
        """Return by task what nights vary by themselves. New nights are searched for changes first."""
        return detect_changes(self.ledger, track).night_noise
