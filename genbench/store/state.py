"""What was found in a run folder: which of its files are not as they were written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

SealWord = Literal["whole", "unsealed", "edited"]
"""whole: the files are as they were written; unsealed: nothing tells, since the run has no results, or an
older version wrote them without digests; edited: a file was changed."""
FindingKind = Literal["source", "made", "aside", "absent"]
"""source: scoring cannot make the file anew; made: it can; aside: no number comes from the file; absent: the
lines were deleted, and the numbers in results.json are still those that were made from them."""


NOT_ENDED = "is not there, as the run did not end: nothing shows whether its files were changed"
GONE = "is gone, so nothing shows whether the files of the run were changed"


@dataclass(frozen=True, slots=True)
class Finding:
    """A file that is not as it was written."""

    kind: FindingKind
    file: str
    """Path in the run folder."""
    why: str
    task: str | None = None
    is_known: bool = False
    """Whether the manifest has it already, as a command found it earlier."""
    other_lines: bool = False
    """Whether the number of lines differs, which may also be that of a continued run."""

    def __str__(self) -> str:
        return f"{self.file} {self.why}"


@dataclass(frozen=True, slots=True)
class RunState:
    """What was found in a run folder. `word` says it in one word."""

    path: Path
    findings: tuple[Finding, ...]
    is_sealed: bool

    @property
    def word(self) -> SealWord:
        """Return the state in one word."""
        if self.edits:
            return "edited"
        return "whole" if self.is_sealed else "unsealed"

    @property
    def edits(self) -> tuple[Finding, ...]:
        """Return the changes of files that numbers come from."""
        return tuple(item for item in self.findings if item.kind in ("source", "made"))

    @property
    def remarks(self) -> tuple[Finding, ...]:
        """Return the changes that move no number."""
        return tuple(item for item in self.findings if item.kind in ("aside", "absent"))

    @property
    def edited_tasks(self) -> frozenset[str]:
        """Return the tasks that have as many lines as results.json was made from, but other contents.

        Other numbers of lines are those of a run that was continued. They are not an edit.
        """
        lines = [item for item in self.edits if not item.is_known and not item.other_lines]
        return frozenset(item.task for item in lines if item.task is not None)

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the files that scoring cannot make anew and that nobody found before."""
        return tuple(item.file for item in self.edits if item.kind == "source" and not item.is_known)

    @property
    def healed(self) -> tuple[str, ...]:
        """Return what was found and is gone once the run is scored: files that scoring makes anew."""
        found = [item for item in self.findings if item.kind != "source" and item.why != NOT_ENDED]
        return tuple(f"before it was scored, {self.path}/{item}" for item in found)

    def of(self, task: str | None) -> tuple[Finding, ...]:
        """Return what was found in the files of one task, or in those of the whole run."""
        return tuple(item for item in self.findings if item.task == task)

    def warnings(self) -> tuple[str, ...]:
        """Return one line for each file. What the manifest names is in the warnings of the results."""
        return tuple(f"{self.path}/{item.file}: {item.why}" for item in self.findings if not item.is_known)

    def all_warnings(self) -> tuple[str, ...]:
        """Return one line for each file, also for those that the manifest names."""
        return tuple(f"{self.path}/{item.file}: {item.why}" for item in self.findings)
