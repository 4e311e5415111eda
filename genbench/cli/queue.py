"""The commands of the service: the queue, its workers, schedules, the server, tokens, and clusters."""

from __future__ import annotations

from genbench.cli import jobs, launch, schedule, serve, worker

__all__ = ["jobs", "launch", "schedule", "serve", "worker"]
