"""The commands of the service: queue, workers, schedules, watches, the server, tokens, and clusters."""

from __future__ import annotations

from genbench.cli import jobs, launch, schedule, serve, watch, worker

__all__ = ["jobs", "launch", "schedule", "serve", "watch", "worker"]
