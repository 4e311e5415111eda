"""The first tables of the queue."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "job",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("key", sa.String, nullable=False, unique=True),
        sa.Column("spec", sa.Text, nullable=False),
        sa.Column("track", sa.String, nullable=False),
        sa.Column("label", sa.String, nullable=False),
        sa.Column("run_dir", sa.String, nullable=False),
        sa.Column("priority", sa.Integer, nullable=False),
        sa.Column("slots", sa.Integer, nullable=False),
        sa.Column("max_hours", sa.Double),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("owner", sa.String, nullable=False),
        sa.Column("fence", sa.Integer, nullable=False),
        sa.Column("beat", sa.Integer, nullable=False),
        sa.Column("turn", sa.Integer, nullable=False),
        sa.Column("starts", sa.Integer, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("stored", sa.BigInteger, nullable=False),
        sa.Column("not_before", sa.Double),
        sa.Column("retry_at", sa.Double),
        sa.Column("wait_s", sa.Double, nullable=False),
        sa.Column("cancel", sa.Boolean, nullable=False),
        sa.Column("exit_code", sa.Integer),
        sa.Column("error", sa.Text, nullable=False),
        sa.Column("requested_by", sa.String, nullable=False),
        sa.Column("created", sa.String, nullable=False),
        sa.Column("started", sa.String),
        sa.Column("ended", sa.String),
    )
    op.create_index("ix_job_track", "job", ["track", "id"])
    op.create_index("ix_job_waiting", "job", ["state", "priority", "id"])
    op.create_table(
        "message",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("key", sa.String, nullable=False, unique=True),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("track", sa.String, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("at", sa.String, nullable=False),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("next_try", sa.Double, nullable=False),
        sa.Column("wait_s", sa.Double, nullable=False),
        sa.Column("error", sa.Text, nullable=False),
    )
    op.create_index("ix_message_state", "message", ["state", "next_try"])
    op.create_table(
        "schedule",
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("cron", sa.String, nullable=False),
        sa.Column("zone", sa.String, nullable=False),
        sa.Column("spec", sa.Text, nullable=False),
        sa.Column("runs", sa.String, nullable=False),
        sa.Column("priority", sa.Integer, nullable=False),
        sa.Column("slots", sa.Integer, nullable=False),
        sa.Column("deadline_hours", sa.Double, nullable=False),
        sa.Column("last", sa.String, nullable=False),
        sa.Column("created_by", sa.String, nullable=False),
        sa.Column("created", sa.String, nullable=False),
    )
    op.create_table(
        "token",
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("digest", sa.String, nullable=False, unique=True),
        sa.Column("scope", sa.String, nullable=False),
        sa.Column("created", sa.String, nullable=False),
        sa.Column("expires", sa.Double),
        sa.Column("used", sa.String),
        sa.Column("revoked", sa.Boolean, nullable=False),
    )
    op.create_table(
        "worker",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("host", sa.String, nullable=False),
        sa.Column("pid", sa.Integer, nullable=False),
        sa.Column("start_ticks", sa.BigInteger, nullable=False),
        sa.Column("slots", sa.Integer, nullable=False),
        sa.Column("devices", sa.String, nullable=False),
        sa.Column("beat", sa.Integer, nullable=False),
        sa.Column("seen", sa.Double, nullable=False),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("started", sa.String, nullable=False),
    )
    op.create_table(
        "idempotency",
        sa.Column("owner", sa.String, primary_key=True),
        sa.Column("key", sa.String, primary_key=True),
        sa.Column("body", sa.String, nullable=False),
        sa.Column("job_id", sa.Integer, sa.ForeignKey("job.id"), nullable=False),
        sa.Column("at", sa.Double, nullable=False),
    )
    op.create_table(
        "job_event",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("job_id", sa.Integer, sa.ForeignKey("job.id"), nullable=False),
        sa.Column("at", sa.String, nullable=False),
        sa.Column("who", sa.String, nullable=False),
        sa.Column("what", sa.String, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
    )
    op.create_index(op.f("ix_job_event_job_id"), "job_event", ["job_id"])


def downgrade() -> None:
    """Remove the tables."""
    for name in ("job_event", "idempotency", "worker", "token", "schedule", "message", "job"):
        op.drop_table(name)
