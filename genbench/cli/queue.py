"""The commands of the service: the queue, its workers, schedules, the server and tokens."""

from __future__ import annotations

from genbench.cli import jobs, schedule, serve, worker

__all__ = ["jobs", "schedule", "serve", "worker"]
