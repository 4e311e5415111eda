"""Revisions of the ledger's tables, for Alembic."""
