"""The seal of a task's lines: their number, and a digest that does not depend on their order."""

from __future__ import annotations

import hashlib

from pydantic import Field

from genbench.json_record import JsonRecord
from genbench.types import Completion, Verdict

_MASK = (1 << 64) - 1


class SealRecord(JsonRecord):
    """The lines of one file that results.json was made from."""

    lines: int = Field(ge=0, description="number of lines in force")
    digest: str = Field(description="sum of the lines' digests, 16 hexadecimal digits")


class Seal:
    """The seal of the lines added so far. Engines finish samples in any order, so it is a sum."""

    def __init__(self) -> None:
        self._lines, self._sum = 0, 0

    def add_completion(self, item: Completion) -> None:
        """Add a line of completions.jsonl."""
        self._add(f"{item.turn}\0{completion_words(item)}", item.sample.problem_id, item.sample.sample_index)

    def add_verdict(self, item: Verdict) -> None:
        """Add a line of verdicts.jsonl."""
        found = f"{item.status}\0{item.score!r}\0{item.extracted!r}\0{item.verifier}"
        self._add(found, item.sample.problem_id, item.sample.sample_index)

    def _add(self, text: str, problem_id: str, sample_index: int) -> None:
        data = f"{problem_id}\0{sample_index}\0{text}".encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(data, digest_size=8).digest()
        self._sum = (self._sum + int.from_bytes(digest, "big")) & _MASK
        self._lines += 1

    @property
    def record(self) -> SealRecord:
        """Return the record for results.json."""
        return SealRecord(lines=self._lines, digest=f"{self._sum:016x}")


def completion_words(item: Completion) -> str:
    """Return what a completion says as one text: its text, or its scores of given texts."""
    if not item.choices:
        return item.text
    return "\0".join(f"{one.logprob!r} {one.tokens} {one.greedy} {one.prior!r}" for one in item.choices)


def broken(kind: str, now: SealRecord, then: SealRecord) -> str | None:
    """Return how the lines differ from those that were sealed, in words, or None.

    Args:
        kind: the file, `completions` or `verdicts`.
    """
    if now == then:
        return None
    if now.lines != then.lines:
        return f"{kind}.jsonl has {now.lines} lines in force, results.json was made from {then.lines}"
    return f"{kind}.jsonl has other contents than results.json was made from ({now.lines} lines)"
