"""The environment in which Alembic runs a revision: the connection that the queue has opened."""

from __future__ import annotations

from alembic import context

from genbench.queue.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    transactional_ddl=True,
)
context.run_migrations()
