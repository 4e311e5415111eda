"""Sides of a comparison made in place: what a run folder or a score file is read as."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from genbench.analysis.sides.side import Side, SideTask

Scores = Sequence[Sequence[float | None]]


def side_task(scores: Scores, name: str = "t", **more: Any) -> SideTask:
    """A task with these scores by problem and sample. Problems are called p0, p1 …"""
    ids = tuple(f"p{number}" for number in range(len(scores)))
    return SideTask(name, ids, tuple(tuple(row) for row in scores), **more)


def score_side(path: str = "base.jsonl", **tasks: SideTask) -> Side:
    """A score file with these tasks."""
    return Side(Path(path), path, path, tasks)
