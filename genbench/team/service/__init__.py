"""The service of a team: an HTTP API and pages over the ledger and the queue."""
