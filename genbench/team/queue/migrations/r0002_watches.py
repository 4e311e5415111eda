"""Watched folders and their checkpoints."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables of watches."""
    op.create_table(
        "watch",
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("rules", sa.Text, nullable=False),
        sa.Column("created_by", sa.String, nullable=False),
        sa.Column("created", sa.String, nullable=False),
        sa.Column("polled", sa.Double),
    )
    op.create_table(
        "checkpoint",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("watch", sa.String, sa.ForeignKey("watch.name"), nullable=False),
        sa.Column("path", sa.String, nullable=False),
        sa.Column("step", sa.BigInteger),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("identity", sa.String, nullable=False),
        sa.Column("fingerprint", sa.String, nullable=False),
        sa.Column("pin", sa.String, nullable=False),
        sa.Column("pinned", sa.String, nullable=False),
        sa.Column("job_id", sa.Integer, sa.ForeignKey("job.id")),
        sa.Column("seen", sa.String, nullable=False),
    )
    op.create_index("ix_checkpoint_watch", "checkpoint", ["watch", "path", "id"])


def downgrade() -> None:
    """Remove the tables of watches. Jobs stay."""
    op.drop_table("checkpoint")
    op.drop_table("watch")
