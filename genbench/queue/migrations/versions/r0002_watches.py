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
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("rules", sa.Text(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("created", sa.String(), nullable=False),
        sa.Column("polled", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_watch")),
    )
    op.create_table(
        "checkpoint",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("watch", sa.String(), nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("identity", sa.String(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("pin", sa.String(), nullable=False),
        sa.Column("pinned", sa.String(), nullable=False),
        sa.Column("job_id", sa.Integer(), nullable=True),
        sa.Column("seen", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["watch"], ["watch.name"], name=op.f("fk_checkpoint_watch")),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_checkpoint_job_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_checkpoint")),
    )
    op.create_index("ix_checkpoint_watch", "checkpoint", ["watch", "path", "id"], unique=False)


def downgrade() -> None:
    """Remove the tables of watches. Jobs stay."""
    op.drop_index("ix_checkpoint_watch", table_name="checkpoint")
    op.drop_table("checkpoint")
    op.drop_table("watch")
