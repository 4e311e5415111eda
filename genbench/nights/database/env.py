"""The environment in which Alembic runs a revision: the connection that a database has opened."""

from __future__ import annotations

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=context.config.attributes["metadata"],
    transactional_ddl=True,
)
context.run_migrations()
