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
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("track", sa.String(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_annotation")),
    )
    op.create_index(op.f("ix_annotation_track"), "annotation", ["track"], unique=False)
    op.create_table(
        "change",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("track", sa.String(), nullable=False),
        sa.Column("task", sa.String(), nullable=True),
        sa.Column("direction", sa.String(), nullable=False),
        sa.Column("gating", sa.Boolean(), nullable=False),
        sa.Column("first_uid", sa.String(), nullable=False),
        sa.Column("last_before_uid", sa.String(), nullable=False),
        sa.Column("found_uid", sa.String(), nullable=False),
        sa.Column("found_position", sa.BigInteger(), nullable=False),
        sa.Column("z", sa.Double(), nullable=False),
        sa.Column("threshold", sa.Double(), nullable=False),
        sa.Column("size", sa.Double(), nullable=False),
        sa.Column("ci_low", sa.Double(), nullable=False),
        sa.Column("ci_high", sa.Double(), nullable=False),
        sa.Column("suspects", sa.Text(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.Column("closed_uid", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_change")),
    )
    op.create_index("ix_change_track", "change", ["track", "state"], unique=False)
    op.create_table(
        "meta",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_meta")),
    )
    op.create_table(
        "place",
        sa.Column("uid", sa.String(), nullable=False),
        sa.Column("track", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("uid", name=op.f("pk_place")),
    )
    op.create_table(
        "problem_set",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("ids", sa.LargeBinary(), nullable=False),
        sa.Column("groups", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_problem_set")),
        sa.UniqueConstraint("digest", name=op.f("uq_problem_set_digest")),
    )
    op.create_table(
        "root",
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("number", sa.SmallInteger(), nullable=False),
        sa.PrimaryKeyConstraint("path", name=op.f("pk_root")),
    )
    op.create_table(
        "track",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("alarms_per_year", sa.Double(), nullable=False),
        sa.Column("nights_per_year", sa.Double(), nullable=False),
        sa.Column("base_uid", sa.String(), nullable=True),
        sa.Column("base_reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_track")),
        sa.UniqueConstraint("name", name=op.f("uq_track_name")),
    )
    op.create_table(
        "run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("uid", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("track_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("identity", sa.String(), nullable=False),
        sa.Column("suite", sa.String(), nullable=False),
        sa.Column("suite_digest", sa.String(), nullable=False),
        sa.Column("run_seed", sa.BigInteger(), nullable=False),
        sa.Column("terms_digest", sa.String(), nullable=False),
        sa.Column("circumstances_digest", sa.String(), nullable=False),
        sa.Column("packages", sa.Text(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("failed", sa.Text(), nullable=False),
        sa.Column("created", sa.String(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("tokens", sa.BigInteger(), nullable=True),
        sa.Column("cost", sa.Double(), nullable=True),
        sa.Column("currency", sa.String(), nullable=True),
        sa.Column("version", sa.String(), nullable=True),
        sa.Column("git", sa.String(), nullable=True),
        sa.Column("sealed_lines", sa.BigInteger(), nullable=False),
        sa.Column("seal_digest", sa.String(), nullable=False),
        sa.Column("source_digest", sa.String(), nullable=False),
        sa.Column("kept", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["track_id"], ["track.id"], name=op.f("fk_run_track_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run")),
        sa.UniqueConstraint("uid", name=op.f("uq_run_uid")),
    )
    op.create_index("ix_run_created", "run", ["created"], unique=False)
    op.create_index("ix_run_place", "run", ["track_id", "position"], unique=False)
    op.create_table(
        "series",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("track_id", sa.Integer(), nullable=False),
        sa.Column("task", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["track_id"], ["track.id"], name=op.f("fk_series_track_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_series")),
        sa.UniqueConstraint("track_id", "task", name=op.f("uq_series_track_id")),
    )
    op.create_table(
        "task_key",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("task", sa.String(), nullable=False),
        sa.Column("problem_set_id", sa.Integer(), nullable=False),
        sa.Column("record", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["problem_set_id"], ["problem_set.id"], name=op.f("fk_task_key_problem_set_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_task_key")),
        sa.UniqueConstraint("digest", name=op.f("uq_task_key_digest")),
    )
    op.create_table(
        "location",
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("host", sa.String(), nullable=False),
        sa.Column("present", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_location_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("path", name=op.f("pk_location")),
    )
    op.create_index(op.f("ix_location_run_id"), "location", ["run_id"], unique=False)
    op.create_table(
        "score",
        sa.Column("series_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("key_id", sa.Integer(), nullable=False),
        sa.Column("k", sa.Integer(), nullable=False),
        sa.Column("gating", sa.Boolean(), nullable=False),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("ci_low", sa.REAL(), nullable=True),
        sa.Column("ci_high", sa.REAL(), nullable=True),
        sa.Column("rerun_low", sa.REAL(), nullable=True),
        sa.Column("rerun_high", sa.REAL(), nullable=True),
        sa.Column("excluded", sa.Integer(), nullable=False),
        sa.Column("truncated", sa.REAL(), nullable=True),
        sa.Column("tokens", sa.REAL(), nullable=True),
        sa.Column("cost", sa.REAL(), nullable=True),
        sa.Column("chance", sa.REAL(), nullable=True),
        sa.Column("base_id", sa.Integer(), nullable=True),
        sa.Column("difference", sa.Double(), nullable=True),
        sa.Column("difference_low", sa.REAL(), nullable=True),
        sa.Column("difference_high", sa.REAL(), nullable=True),
        sa.Column("difference_rerun_low", sa.REAL(), nullable=True),
        sa.Column("difference_rerun_high", sa.REAL(), nullable=True),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["key_id"], ["task_key.id"], name=op.f("fk_score_key_id")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_score_run_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["series_id"], ["series.id"], name=op.f("fk_score_series_id")),
        sa.PrimaryKeyConstraint("series_id", "position", "run_id", name=op.f("pk_score")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_score_run", "score", ["run_id"], unique=False)


def downgrade() -> None:
    """Remove the tables."""
    op.drop_index("ix_score_run", table_name="score")
    op.drop_table("score")
    op.drop_index(op.f("ix_location_run_id"), table_name="location")
    op.drop_table("location")
    op.drop_table("task_key")
    op.drop_table("series")
    op.drop_index("ix_run_place", table_name="run")
    op.drop_index("ix_run_created", table_name="run")
    op.drop_table("run")
    op.drop_table("track")
    op.drop_table("root")
    op.drop_table("problem_set")
    op.drop_table("place")
    op.drop_table("meta")
    op.drop_index("ix_change_track", table_name="change")
    op.drop_table("change")
    op.drop_index(op.f("ix_annotation_track"), table_name="annotation")
    op.drop_table("annotation")
