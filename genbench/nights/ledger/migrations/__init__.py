"""The revisions of the ledger's tables, one module each, in order."""
