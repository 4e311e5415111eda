"""The state of a search of training files: what was found so far, and the progress line."""

from __future__ import annotations

import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from genbench.data.corpus import Batch
from genbench.data.ngrams import Powers, WordBatch
from genbench.data.overlap import Match, PassageIndex
from genbench.draw.progress import clock, fitted
from genbench.runs.overlap_record import OverlapHit, OverlapTask

_HITS_OF_PART, _HITS = 20, 1_000
_SHOWN_CHARACTERS = 300
_TTY_EVERY_S, _LOG_EVERY_S = 0.25, 15.0


@dataclass(slots=True)
class _Line:
    """What one line of a training file has of one passage."""

    path: Path
    number: int
    places: set[int] = field(default_factory=set)
    text: str = ""


class OverlapSearch:
    """What was found of each passage, in the batches so far.

    Of each passage the lines with most n-grams are kept, so memory is bounded.

    Args:
        index: the passages.
    """

    def __init__(self, index: PassageIndex) -> None:
        self._index, self._powers = index, Powers()
        self._kept: dict[int, list[_Line]] = {}
        self._counts: Counter[int] = Counter()
        self._last: dict[int, tuple[Path, int]] = {}
        self.problems: set[tuple[str, str]] = set()
        """The problems of which something was found."""

    def add(self, batch: Batch) -> None:
        """Search a batch. The texts of one line come one after the other."""
        if not batch.texts:
            return
        hashed = WordBatch(batch.texts, batch.documents, self._powers)
        for match in sorted(self._index.matches(hashed), key=lambda item: item.text_index):
            self._note(match, batch.path, batch.lines[match.text_index])

    def _note(self, match: Match, path: Path, number: int) -> None:
        passage = self._index.passages[match.passage]
        self.problems.add((passage.task, passage.problem_id))
        kept = self._kept.setdefault(match.passage, [])
        line = next((item for item in kept if (item.path, item.number) == (path, number)), None)
        if self._last.get(match.passage) != (path, number):
            self._last[match.passage] = (path, number)
            self._counts[match.passage] += line is None
        if line is None:
            line = _Line(path, number)
            kept.append(line)
        line.places.update(match.places)
        line.text = max(line.text, match.text, key=len)
        if len(kept) > 2 * _HITS_OF_PART:
            self._kept[match.passage] = _most(kept)

    def record(self, name: str, problems: int) -> OverlapTask:
        """Return what was found of one task.

        Args:
            name: the name of the task.
            problems: the number of its problems.
        """
        passages, searched = self._index.passages, self._index.searched
        own = [at for at, passage in enumerate(passages) if passage.task == name]
        hits = [hit for at in own if at in self._kept for hit in self._hits(at)]
        hits.sort(key=lambda hit: -hit.share)
        return OverlapTask(
            problems=problems,
            searched=len({passages[at].problem_id for at in own if searched[at]}),
            found=sum(task == name for task, _ in self.problems),
            mostly=len({hit.problem_id for hit in hits if hit.share >= 0.5}),
            lines=sum(self._counts[at] for at in own),
            hits=tuple(hits[:_HITS]),
        )

    def _hits(self, at: int) -> Iterable[OverlapHit]:
        passage, total = self._index.passages[at], int(self._index.searched[at])
        for line in _most(self._kept[at]):
            more = len(line.text) > _SHOWN_CHARACTERS
            yield OverlapHit(
                file=str(line.path),
                line=line.number,
                problem_id=passage.problem_id,
                part=passage.part,
                ngrams=len(line.places),
                share=len(line.places) / total,
                text=" ".join(line.text[:_SHOWN_CHARACTERS].split()) + (" …" if more else ""),
            )


def _most(lines: list[_Line]) -> list[_Line]:
    """Return the lines with most n-grams, the first of equal ones first."""
    return sorted(lines, key=lambda line: -len(line.places))[:_HITS_OF_PART]


class SearchLine:
    """The progress of a search on stderr: bytes, speed, time left, problems found.

    Args:
        total: bytes on disk of all files.
        quiet: write nothing.
        stream: where the line is written. None: stderr.
    """

    def __init__(self, total: int, quiet: bool, stream: TextIO | None = None) -> None:
        self._total, self._quiet = total, quiet
        self._stream = stream or sys.stderr
        self._tty = self._stream.isatty()
        self._started = self._shown = time.monotonic()

    def show(self, done: int, found: int) -> None:
        """Write the line, if the last one is old enough."""
        now = time.monotonic()
        if not self._quiet and now - self._shown >= (_TTY_EVERY_S if self._tty else _LOG_EVERY_S):
            self._shown = now
            self._write(self.line(done, found), end="" if self._tty else "\n")

    def close(self, done: int, found: int) -> None:
        """Write the last state of the line."""
        if not self._quiet:
            self._write(self.line(done, found), end="\n")

    def line(self, done: int, found: int) -> str:
        """Return the line: `searched 1.20 of 40.00 GB  0.81 GB/min  47:54 left  3 problems found`."""
        seconds = max(time.monotonic() - self._started, 1e-9)
        parts = [f"searched {done / 1e9:.2f} of {self._total / 1e9:.2f} GB"]
        if done:
            parts.append(f"{60 * done / seconds / 1e9:.2f} GB/min")
        if 0 < done < self._total:
            parts.append(f"{clock(seconds * (self._total - done) / done)} left")
        return "  ".join([*parts, f"{found} problem{'' if found == 1 else 's'} found"])

    def _write(self, text: str, end: str) -> None:
        shown = fitted(text, shutil.get_terminal_size().columns) if self._tty else text
        self._stream.write(f"{chr(13) + chr(27) + '[K' if self._tty else ''}{shown}{end}")
        self._stream.flush()
