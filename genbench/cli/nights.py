"""The commands that know earlier runs: the ledger, trends, the gate of every night, contamination, curves."""

from __future__ import annotations

from genbench.cli import contamination, ledger, scored

__all__ = ["contamination", "ledger", "scored"]
