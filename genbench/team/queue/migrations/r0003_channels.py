"""The channels by which a message has arrived."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column. Messages of before were sent by one channel, all or nothing."""
    op.add_column("message", sa.Column("arrived", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    """Remove the column."""
    with op.batch_alter_table("message") as table:
        table.drop_column("arrived")
