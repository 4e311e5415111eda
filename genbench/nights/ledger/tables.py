"""The tables of the ledger, the same on SQLite and PostgreSQL."""

from __future__ import annotations

from sqlalchemy import (
    REAL,
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from genbench.nights.database import metadata

METADATA = metadata()

meta = Table("meta", METADATA, Column("key", String, primary_key=True), Column("value", Text, nullable=False))

track = Table(
    "track",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False, unique=True),
    Column("kind", String, nullable=False),
    Column("suite", String, nullable=False),
    Column("alarms_per_year", Double, nullable=False),
    Column("nights_per_year", Double, nullable=False),
    Column("base_uid", String),
    Column("base_reason", Text, nullable=False),
)
"""`base_uid` is not a foreign key: a note may name a run before it is added. The track "" has all other
runs."""

run = Table(
    "run",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("uid", String, nullable=False, unique=True),
    Column("run_id", String, nullable=False),
    Column("track_id", ForeignKey("track.id"), nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("role", String, nullable=False),
    Column("model", String, nullable=False),
    Column("identity", String, nullable=False),
    Column("suite", String, nullable=False),
    Column("suite_digest", String, nullable=False),
    Column("run_seed", BigInteger, nullable=False),
    Column("terms_digest", String, nullable=False),
    Column("circumstances_digest", String, nullable=False),
    Column("packages", Text, nullable=False),
    Column("state", String, nullable=False),
    Column("failed", Text, nullable=False),
    Column("created", String, nullable=False),
    Column("seconds", Double),
    Column("tokens", BigInteger),
    Column("cost", Double),
    Column("currency", String),
    Column("version", String),
    Column("git", String),
    Column("sealed_lines", BigInteger, nullable=False),
    Column("seal_digest", String, nullable=False),
    Column("source_digest", String, nullable=False),
    Column("kept", String, nullable=False),
    Column("tags", Text),
    Column("note", Text),
    Column("meta", Text),
)
"""`packages`, `failed`, `tags` and `meta` are JSON. `sealed_lines` and `seal_digest` sum up the seals."""
Index("ix_run_place", run.c.track_id, run.c.position)
Index("ix_run_created", run.c.created)

location = Table(
    "location",
    METADATA,
    Column("path", String, primary_key=True),
    Column("run_id", ForeignKey("run.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("host", String, nullable=False),
    Column("present", Boolean, nullable=False),
)

problem_set = Table(
    "problem_set",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("digest", String, nullable=False, unique=True),
    Column("n", Integer, nullable=False),
    Column("ids", LargeBinary, nullable=False),
    Column("groups", LargeBinary),
)
"""`ids` and `groups` are JSON lists, compressed by zlib."""

task_key = Table(
    "task_key",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("digest", String, nullable=False, unique=True),
    Column("task", String, nullable=False),
    Column("problem_set_id", ForeignKey("problem_set.id"), nullable=False),
    Column("record", LargeBinary, nullable=False),
)
"""`record` is what the digest is made of, and the digest of each problem (`asked`): JSON, by zlib."""

series = Table(
    "series",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("track_id", ForeignKey("track.id"), nullable=False),
    Column("task", String, nullable=False),
    UniqueConstraint("track_id", "task"),
)

score = Table(
    "score",
    METADATA,
    Column("series_id", ForeignKey("series.id"), primary_key=True),
    Column("position", BigInteger, primary_key=True),
    Column("run_id", ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
    Column("key_id", ForeignKey("task_key.id"), nullable=False),
    Column("k", Integer, nullable=False),
    Column("gating", Boolean, nullable=False),
    Column("value", Double),
    Column("ci_low", REAL),
    Column("ci_high", REAL),
    Column("rerun_low", REAL),
    Column("rerun_high", REAL),
    Column("excluded", Integer, nullable=False),
    Column("truncated", REAL),
    Column("tokens", REAL),
    Column("cost", REAL),
    Column("chance", REAL),
    Column("base_id", Integer),
    Column("difference", Double),
    Column("difference_low", REAL),
    Column("difference_high", REAL),
    Column("difference_rerun_low", REAL),
    Column("difference_rerun_high", REAL),
    Column("vector", LargeBinary, nullable=False),
    Column("loops", REAL),
    Column("empty", REAL),
    Column("measures", LargeBinary),
    Column("parts", Text),
    sqlite_with_rowid=False,
)
"""One task of one run. `vector` has sums and counts of its problems (see vectors). `truncated`, `loops` and
`empty` are shares of the samples, and `tokens` is the mean of completion tokens. `measures` has those of its
problems next to the score (see measures), and `parts` are means of its named parts as JSON. The columns from
`base_id` on compare with the track's base."""
Index("ix_score_run", score.c.run_id)

change = Table(
    "change",
    METADATA,
    Column("id", String, primary_key=True),
    Column("track", String, nullable=False),
    Column("task", String),
    Column("direction", String, nullable=False),
    Column("gating", Boolean, nullable=False),
    Column("first_uid", String, nullable=False),
    Column("last_before_uid", String, nullable=False),
    Column("found_uid", String, nullable=False),
    Column("found_position", BigInteger, nullable=False),
    Column("z", Double, nullable=False),
    Column("threshold", Double, nullable=False),
    Column("size", Double, nullable=False),
    Column("ci_low", Double, nullable=False),
    Column("ci_high", Double, nullable=False),
    Column("suspects", Text, nullable=False),
    Column("state", String, nullable=False),
    Column("by", String, nullable=False),
    Column("note", Text, nullable=False),
    Column("at", String, nullable=False),
    Column("closed_uid", String),
)
"""A change of level. `task` is null for the pooled line. `suspects` is a JSON list of uids."""
Index("ix_change_track", change.c.track, change.c.state)

annotation = Table(
    "annotation",
    METADATA,
    Column("id", String, primary_key=True),
    Column("track", String, nullable=False, index=True),
    Column("position", BigInteger, nullable=False),
    Column("kind", String, nullable=False),
    Column("text", Text, nullable=False),
    Column("by", String, nullable=False),
    Column("at", String, nullable=False),
)

place = Table(
    "place",
    METADATA,
    Column("uid", String, primary_key=True),
    Column("track", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("role", String, nullable=False),
)
"""The place of a run that its own manifest does not name, as a person gave it."""

root = Table(
    "root",
    METADATA,
    Column("path", String, primary_key=True),
    Column("number", SmallInteger, nullable=False),
)
"""Folders that were added. A rebuild looks for runs in them."""
