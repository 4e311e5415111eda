"""What the settings of all shipped engines have in common."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonSettings:
    """The run folder of an engine, and what is true of most engines.

    `work` is the folder of the log and of small files.
    """

    work: Path = Path()

    @property
    def log(self) -> Path:
        """Return the file of the engine's log."""
        return self.work / "engine.log"

    @property
    def generates(self) -> bool:
        """Return True: completions are sampled, not only read."""
        return True

    @property
    def no_scores(self) -> str:
        """Return why the engine cannot score given texts."""
        return "it gives no log-probabilities of given texts; use engine.kind vllm"

    @property
    def share_key(self) -> tuple[object, int] | None:
        """Return None: there is nothing to keep between two models."""
        return None
