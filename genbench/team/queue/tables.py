"""The tables of the queue, the same on SQLite and PostgreSQL."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
)

from genbench.nights.database import metadata

METADATA = metadata()

job = Table(
    "job",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("key", String, nullable=False, unique=True),
    Column("spec", Text, nullable=False),
    Column("track", String, nullable=False),
    Column("label", String, nullable=False),
    Column("run_dir", String, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("slots", Integer, nullable=False),
    Column("max_hours", Double),
    Column("state", String, nullable=False),
    Column("owner", String, nullable=False),
    Column("fence", Integer, nullable=False),
    Column("beat", Integer, nullable=False),
    Column("turn", Integer, nullable=False),
    Column("starts", Integer, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("stored", BigInteger, nullable=False),
    Column("not_before", Double),
    Column("retry_at", Double),
    Column("wait_s", Double, nullable=False),
    Column("cancel", Boolean, nullable=False),
    Column("exit_code", Integer),
    Column("error", Text, nullable=False),
    Column("requested_by", String, nullable=False),
    Column("created", String, nullable=False),
    Column("started", String),
    Column("ended", String),
)
"""`fence` counts the owners that a job had, and `beat` how often its owner renewed the lease. `turn` is the
order of starts. `attempts` counts the latest attempts that added no sample, and `stored` is the bytes of
completions at their start. `not_before` and `retry_at` are seconds of the epoch."""
Index("ix_job_waiting", job.c.state, job.c.priority, job.c.id)
Index("ix_job_track", job.c.track, job.c.id)

job_event = Table(
    "job_event",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("job_id", ForeignKey("job.id"), nullable=False, index=True),
    Column("at", String, nullable=False),
    Column("who", String, nullable=False),
    Column("what", String, nullable=False),
    Column("detail", Text, nullable=False),
)
"""What happened to a job and who did it. Rows are only added."""

worker = Table(
    "worker",
    METADATA,
    Column("id", String, primary_key=True),
    Column("host", String, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("start_ticks", BigInteger, nullable=False),
    Column("slots", Integer, nullable=False),
    Column("devices", String, nullable=False),
    Column("beat", Integer, nullable=False),
    Column("seen", Double, nullable=False),
    Column("state", String, nullable=False),
    Column("started", String, nullable=False),
)

schedule = Table(
    "schedule",
    METADATA,
    Column("name", String, primary_key=True),
    Column("cron", String, nullable=False),
    Column("zone", String, nullable=False),
    Column("spec", Text, nullable=False),
    Column("runs", String, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("slots", Integer, nullable=False),
    Column("deadline_hours", Double, nullable=False),
    Column("last", String, nullable=False),
    Column("created_by", String, nullable=False),
    Column("created", String, nullable=False),
)
"""Jobs that are submitted by the clock. `last` is the newest firing that was dealt with, in UTC."""

message = Table(
    "message",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("key", String, nullable=False, unique=True),
    Column("kind", String, nullable=False),
    Column("track", String, nullable=False),
    Column("text", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("at", String, nullable=False),
    Column("state", String, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("next_try", Double, nullable=False),
    Column("wait_s", Double, nullable=False),
    Column("error", Text, nullable=False),
    Column("arrived", Text, nullable=False, server_default=""),
)
"""What people should know, once each: `key` is unique. `detail` is JSON.
`arrived` names the channels that have it, separated by spaces."""
Index("ix_message_state", message.c.state, message.c.next_try)

token = Table(
    "token",
    METADATA,
    Column("name", String, primary_key=True),
    Column("digest", String, nullable=False, unique=True),
    Column("scope", String, nullable=False),
    Column("created", String, nullable=False),
    Column("expires", Double),
    Column("used", String),
    Column("revoked", Boolean, nullable=False),
)
"""`digest` is the SHA-256 of the token, which is nowhere else."""

idempotency = Table(
    "idempotency",
    METADATA,
    Column("owner", String, primary_key=True),
    Column("key", String, primary_key=True),
    Column("body", String, nullable=False),
    Column("job_id", ForeignKey("job.id"), nullable=False),
    Column("at", Double, nullable=False),
)
"""The job that belongs to an Idempotency-Key. `body` is the digest of the request."""

watch = Table(
    "watch",
    METADATA,
    Column("name", String, primary_key=True),
    Column("rules", Text, nullable=False),
    Column("created_by", String, nullable=False),
    Column("created", String, nullable=False),
    Column("polled", Double),
)
"""Folders of training runs that are watched. `rules` is JSON, `polled` seconds of the epoch."""

checkpoint = Table(
    "checkpoint",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("watch", ForeignKey("watch.name"), nullable=False),
    Column("path", String, nullable=False),
    Column("step", BigInteger),
    Column("state", String, nullable=False),
    Column("reason", Text, nullable=False),
    Column("identity", String, nullable=False),
    Column("fingerprint", String, nullable=False),
    Column("pin", String, nullable=False),
    Column("pinned", String, nullable=False),
    Column("job_id", ForeignKey("job.id")),
    Column("seen", String, nullable=False),
)
"""What became of each checkpoint folder. A folder that was written again has several rows. `fingerprint` is
of the trainer's files, and `pinned` of the kept ones."""
Index("ix_checkpoint_watch", checkpoint.c.watch, checkpoint.c.path, checkpoint.c.id)
