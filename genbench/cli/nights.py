"""The commands that know earlier runs: the ledger, trends, the gate of every night, and contamination."""

from __future__ import annotations

from genbench.cli import gate, leaks, ledger, trend

__all__ = ["gate", "leaks", "ledger", "trend"]
