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
    facts: str | None = Field(
        default=None,
        description="the same of tokens, seeds and finish reasons; absent for verdicts and in older runs",
    )


class Seal:
    """The seal of the lines added so far. Engines finish samples in any order, so it is a sum."""

    def __init__(self) -> None:
        self._lines, self._sum = 0, 0
        self._facts: int | None = None

    def add_completion(self, item: Completion) -> None:
        """Add a line of completions.jsonl."""
        sample = item.sample
        self._add(f"{item.turn}\0{completion_words(item)}", sample.problem_id, sample.sample_index)
        counts = (item.prompt_tokens, item.completion_tokens, item.trace_tokens, item.max_tokens)
        facts = f"{item.turn} {item.seed} {item.prompt_digest} {item.finish_reason} {counts}"
        own = _digest(f"{sample.problem_id}\0{sample.sample_index}\0{facts}")
        self._facts = ((self._facts or 0) + own) & _MASK

    def add_verdict(self, item: Verdict) -> None:
        """Add a line of verdicts.jsonl."""
        found = f"{item.status}\0{item.score!r}\0{item.extracted!r}\0{item.verifier}"
        self._add(found, item.sample.problem_id, item.sample.sample_index)

    def _add(self, text: str, problem_id: str, sample_index: int) -> None:
        self._sum = (self._sum + _digest(f"{problem_id}\0{sample_index}\0{text}")) & _MASK
        self._lines += 1

    @property
    def record(self) -> SealRecord:
        """Return the record for results.json."""
        facts = {} if self._facts is None else {"facts": f"{self._facts:016x}"}
        return SealRecord(lines=self._lines, digest=f"{self._sum:016x}", **facts)


def _digest(text: str) -> int:
    data = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big")


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
    if now.lines != then.lines:
        return f"{kind}.jsonl has {now.lines} lines in force, results.json was made from {then.lines}"
    if now.digest != then.digest:
        return f"{kind}.jsonl has other contents than results.json was made from ({now.lines} lines)"
    if is_edited(now, then):
        return f"{kind}.jsonl has other tokens, seeds or finish reasons than results.json was made from"
    return None


def is_edited(now: SealRecord, then: SealRecord) -> bool:
    """Return whether as many lines have other contents. Seals of older runs have no `facts`."""
    if now.lines != then.lines:
        return False
    return now.digest != then.digest or (then.facts is not None and now.facts != then.facts)
