"""The commands of the service: queue, workers, schedules, watches, the server, tokens, and clusters."""

from __future__ import annotations

from genbench.cli import launch, queue, serve, watch

__all__ = ["launch", "queue", "serve", "watch"]
