"""Revisions of the queue's tables, for Alembic."""
