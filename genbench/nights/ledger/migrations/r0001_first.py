"""The first tables of the ledger."""

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
        "annotation",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("track", sa.String, nullable=False),
        sa.Column("position", sa.BigInteger, nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("by", sa.String, nullable=False),
        sa.Column("at", sa.String, nullable=False),
    )
    op.create_index(op.f("ix_annotation_track"), "annotation", ["track"])
    op.create_table(
        "change",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("track", sa.String, nullable=False),
        sa.Column("task", sa.String),
        sa.Column("direction", sa.String, nullable=False),
        sa.Column("gating", sa.Boolean, nullable=False),
        sa.Column("first_uid", sa.String, nullable=False),
        sa.Column("last_before_uid", sa.String, nullable=False),
        sa.Column("found_uid", sa.String, nullable=False),
        sa.Column("found_position", sa.BigInteger, nullable=False),
        sa.Column("z", sa.Double, nullable=False),
        sa.Column("threshold", sa.Double, nullable=False),
        sa.Column("size", sa.Double, nullable=False),
        sa.Column("ci_low", sa.Double, nullable=False),
        sa.Column("ci_high", sa.Double, nullable=False),
        sa.Column("suspects", sa.Text, nullable=False),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("by", sa.String, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("at", sa.String, nullable=False),
        sa.Column("closed_uid", sa.String),
    )
    op.create_index("ix_change_track", "change", ["track", "state"])
    op.create_table(
        "meta",
        sa.Column("key", sa.String, primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
    op.create_table(
        "place",
        sa.Column("uid", sa.String, primary_key=True),
        sa.Column("track", sa.String, nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("position", sa.BigInteger, nullable=False),
        sa.Column("role", sa.String, nullable=False),
    )
    op.create_table(
        "problem_set",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("digest", sa.String, nullable=False, unique=True),
        sa.Column("n", sa.Integer, nullable=False),
        sa.Column("ids", sa.LargeBinary, nullable=False),
        sa.Column("groups", sa.LargeBinary),
    )
    op.create_table(
        "root",
        sa.Column("path", sa.String, primary_key=True),
        sa.Column("number", sa.SmallInteger, nullable=False),
    )
    op.create_table(
        "track",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String, nullable=False, unique=True),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("suite", sa.String, nullable=False),
        sa.Column("alarms_per_year", sa.Double, nullable=False),
        sa.Column("nights_per_year", sa.Double, nullable=False),
        sa.Column("base_uid", sa.String),
        sa.Column("base_reason", sa.Text, nullable=False),
    )
    op.create_table(
        "run",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("uid", sa.String, nullable=False, unique=True),
        sa.Column("run_id", sa.String, nullable=False),
        sa.Column("track_id", sa.Integer, sa.ForeignKey("track.id"), nullable=False),
        sa.Column("position", sa.BigInteger, nullable=False),
        sa.Column("role", sa.String, nullable=False),
        sa.Column("model", sa.String, nullable=False),
        sa.Column("identity", sa.String, nullable=False),
        sa.Column("suite", sa.String, nullable=False),
        sa.Column("suite_digest", sa.String, nullable=False),
        sa.Column("run_seed", sa.BigInteger, nullable=False),
        sa.Column("terms_digest", sa.String, nullable=False),
        sa.Column("circumstances_digest", sa.String, nullable=False),
        sa.Column("packages", sa.Text, nullable=False),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("failed", sa.Text, nullable=False),
        sa.Column("created", sa.String, nullable=False),
        sa.Column("seconds", sa.Double),
        sa.Column("tokens", sa.BigInteger),
        sa.Column("cost", sa.Double),
        sa.Column("currency", sa.String),
        sa.Column("version", sa.String),
        sa.Column("git", sa.String),
        sa.Column("sealed_lines", sa.BigInteger, nullable=False),
        sa.Column("seal_digest", sa.String, nullable=False),
        sa.Column("source_digest", sa.String, nullable=False),
        sa.Column("kept", sa.String, nullable=False),
    )
    op.create_index("ix_run_created", "run", ["created"])
    op.create_index("ix_run_place", "run", ["track_id", "position"])
    op.create_table(
        "series",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("track_id", sa.Integer, sa.ForeignKey("track.id"), nullable=False),
        sa.Column("task", sa.String, nullable=False),
        sa.UniqueConstraint("track_id", "task"),
    )
    op.create_table(
        "task_key",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("digest", sa.String, nullable=False, unique=True),
        sa.Column("task", sa.String, nullable=False),
        sa.Column("problem_set_id", sa.Integer, sa.ForeignKey("problem_set.id"), nullable=False),
        sa.Column("record", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "location",
        sa.Column("path", sa.String, primary_key=True),
        sa.Column("run_id", sa.Integer, sa.ForeignKey("run.id", ondelete="CASCADE"), nullable=False),
        sa.Column("host", sa.String, nullable=False),
        sa.Column("present", sa.Boolean, nullable=False),
    )
    op.create_index(op.f("ix_location_run_id"), "location", ["run_id"])
    op.create_table(
        "score",
        sa.Column("series_id", sa.Integer, sa.ForeignKey("series.id"), primary_key=True),
        sa.Column("position", sa.BigInteger, primary_key=True),
        sa.Column("run_id", sa.Integer, sa.ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("key_id", sa.Integer, sa.ForeignKey("task_key.id"), nullable=False),
        sa.Column("k", sa.Integer, nullable=False),
        sa.Column("gating", sa.Boolean, nullable=False),
        sa.Column("value", sa.Double),
        sa.Column("ci_low", sa.REAL),
        sa.Column("ci_high", sa.REAL),
        sa.Column("rerun_low", sa.REAL),
        sa.Column("rerun_high", sa.REAL),
        sa.Column("excluded", sa.Integer, nullable=False),
        sa.Column("truncated", sa.REAL),
        sa.Column("tokens", sa.REAL),
        sa.Column("cost", sa.REAL),
        sa.Column("chance", sa.REAL),
        sa.Column("base_id", sa.Integer),
        sa.Column("difference", sa.Double),
        sa.Column("difference_low", sa.REAL),
        sa.Column("difference_high", sa.REAL),
        sa.Column("difference_rerun_low", sa.REAL),
        sa.Column("difference_rerun_high", sa.REAL),
        sa.Column("vector", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_score_run", "score", ["run_id"])


def downgrade() -> None:
    """Remove the tables."""
    for name in (
        *("score", "location", "task_key", "series", "run", "track"),
        *("root", "problem_set", "place", "meta", "change", "annotation"),
    ):
        op.drop_table(name)
