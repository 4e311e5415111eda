"""The seal of a task's lines: their number, and a digest that does not depend on their order."""

from __future__ import annotations

import hashlib
import json

from pydantic import Field

from genbench.json_record import JsonRecord
from genbench.types import Completion, Verdict

_MASK = (1 << 64) - 1
_COUNTED = ("forgeable", "corpus", "measures")
"""What results are made from in the detail of a verdict. Its seconds differ in equal runs."""


class SealRecord(JsonRecord):
    """The lines of one file that results.json was made from."""

    lines: int = Field(ge=0, description="number of lines in force")
    digest: str = Field(description="sum of the lines' digests, 16 hexadecimal digits")
    facts: str | None = Field(
        default=None,
        description="the same of tokens, seeds and finish reasons, or of what else results are made "
        "from in verdicts; absent in older runs",
    )
    more: str | None = Field(
        default=None,
        description="the same of what else scoring reads: ends of conversations, opened traces, seconds and "
        "refusals, or details of verdicts; absent in older runs",
    )


class Seal:
    """The seal of the lines added so far. Engines finish samples in any order, so it is a sum."""

    def __init__(self) -> None:
        self._lines, self._sum = 0, 0
        self._facts: int | None = None
        self._more = 0

    def add_completion(self, item: Completion) -> None:
        """Add a line of completions.jsonl."""
        sample = item.sample
        self._add(f"{item.turn}\0{completion_words(item)}", sample.problem_id, sample.sample_index)
        counts = (item.prompt_tokens, item.completion_tokens, item.trace_tokens, item.max_tokens)
        facts = f"{item.turn} {item.seed} {item.prompt_digest} {item.finish_reason} {counts}"
        self._add_facts(facts, sample.problem_id, sample.sample_index)
        seconds = None if item.seconds is None else round(item.seconds, 4)
        ends = (item.trace_opened, item.final, item.refused, seconds, item.offsets, item.prompt, item.logged)
        self._add_more(ends, sample.problem_id, sample.sample_index)

    def add_verdict(self, item: Verdict) -> None:
        """Add a line of verdicts.jsonl."""
        found = f"{item.status}\0{item.score!r}\0{item.extracted!r}\0{item.verifier}"
        self._add(found, item.sample.problem_id, item.sample.sample_index)
        counted = {key: item.detail[key] for key in _COUNTED if key in item.detail}
        told = [counted, dict(item.parts), item.trace_status, item.truncated]
        facts = json.dumps(told, sort_keys=True, default=str)
        self._add_facts(facts, item.sample.problem_id, item.sample.sample_index)
        self._add_more(item.detail, item.sample.problem_id, item.sample.sample_index)

    def _add_more(self, told: object, problem_id: str, sample_index: int) -> None:
        # As it is read from the file: with keys that are texts, and lists.
        text = json.dumps(json.loads(json.dumps(told, default=dict)), sort_keys=True)
        self._more = (self._more + _digest(f"{problem_id}\0{sample_index}\0{text}")) & _MASK

    def _add_facts(self, text: str, problem_id: str, sample_index: int) -> None:
        own = _digest(f"{problem_id}\0{sample_index}\0{text}")
        self._facts = ((self._facts or 0) + own) & _MASK

    def _add(self, text: str, problem_id: str, sample_index: int) -> None:
        self._sum = (self._sum + _digest(f"{problem_id}\0{sample_index}\0{text}")) & _MASK
        self._lines += 1

    @property
    def record(self) -> SealRecord:
        """Return the record for results.json."""
        further = (
            {} if self._facts is None else {"facts": f"{self._facts:016x}", "more": f"{self._more:016x}"}
        )
        return SealRecord(lines=self._lines, digest=f"{self._sum:016x}", **further)


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
        facts = "tokens, seeds, ends or seconds" if kind == "completions" else "details, parts or traces"
        return f"{kind}.jsonl has other {facts} than results.json was made from"
    return None


def is_edited(now: SealRecord, then: SealRecord) -> bool:
    """Return whether as many lines have other contents. Seals of older runs lack `facts` or `more`."""
    if now.lines != then.lines:
        return False
    further = ((now.facts, then.facts), (now.more, then.more))
    return now.digest != then.digest or any(old is not None and new != old for new, old in further)
