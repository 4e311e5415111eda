"""Exports of scores to experiment trackers, after a run is in the ledger."""
