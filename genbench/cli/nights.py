"""The commands of nights: the ledger of runs, their trends, and the gate that knows the history."""

from __future__ import annotations

from genbench.cli import gate, ledger, trend

__all__ = ["gate", "ledger", "trend"]
