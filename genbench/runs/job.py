"""What one command wants of one model: everything that a run needs, made before its folder is opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.draw.lengths import Lengths
from genbench.draw.responses import Responses
from genbench.judges.session import JudgeSession
from genbench.models.prepared import PreparedModel
from genbench.store.contract import digest
from genbench.suite.suitefile import Suite
from genbench.tasks.loaded import LoadedTask


@dataclass(frozen=True, slots=True)
class Job:
    """What one command wants of one model.

    `origin` is what `genbench score` needs to read the same data again: data folder, limit, tasks.
    """

    suite: Suite
    tasks: Sequence[LoadedTask]
    model: PreparedModel
    path: Path
    responses: Responses | None
    origin: Mapping[str, Any]
    machine: Mapping[str, Any]
    """Taken once a command, before any engine adds variables of its own to the environment."""
    quiet: bool = False
    lengths: Lengths | None = None
    """What tells the order of drawing; None: each task's max_tokens."""
    reused: bool = False
    """The folder is a stored run that was named: where it is complete nothing in it is touched."""

    @property
    def deferred(self) -> bool:
        """Some verdicts wait for a judge that loads when all models under test are closed."""
        return bool(JudgeSession(self.suite, self.tasks, self.path).deferred)

    @property
    def run_id(self) -> str:
        """The run's name in seeds of resampling: the same for the same model, terms and run seed."""
        terms = {**self.model.terms, "decoding": None}
        return digest([self.suite.name, self.model.identity, terms, self.suite.config.decoding.seed])[:12]
