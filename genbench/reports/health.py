"""Health of a task's data as a run saw it: duplicates, dead problems, doubtful references, lost answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from genbench.analysis.samples import Sample
from genbench.types import OURS

AGREEING = 3
"""Fewer samples than this that give one other answer say nothing about the reference."""
SHINGLE = 8
"""Words in a row that are compared to find copies; prose seldom repeats so many by chance."""
COPIED = 0.5
"""An answer is a near-copy where this share of the prompt's, or of its own, shingles is in the other."""
_LOST = frozenset({"no_answer", "format_error", "no_code"})
_SHOWN = 50
_ANSWER_CHARS = 200
"""An answer that most samples agree on is shown so far; the whole of it may have megabytes."""


@dataclass(slots=True)
class TaskHealth:
    """Takes a task's samples one by one; `record` tells what looks wrong. Texts are not kept."""

    k: int
    scored: Counter[str] = field(default_factory=Counter)
    totals: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    answers: defaultdict[str, Counter[tuple[str, int, bool]]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    samples: int = 0
    ended: int = 0
    lost: int = 0
    copies: list[tuple[str, int]] = field(default_factory=list)
    excluded: Counter[tuple[str, str]] = field(default_factory=Counter)
    examples: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)
    _shingles: tuple[str, frozenset[int]] = ("", frozenset())

    def add(self, sample: Sample) -> None:
        if sample.status in OURS:
            reason = (sample.status, _why(sample))
            self.excluded[reason] += 1
            self.examples.setdefault(reason, (sample.problem_id, sample.sample_index))
            return
        self.samples += 1
        if not sample.answer.truncated and sample.status != "unclosed_trace":
            self.ended += 1
            self.lost += sample.status in _LOST
        if sample.score is not None:
            self.scored[sample.problem_id] += 1
            self.totals[sample.problem_id] += sample.score
        if sample.verdict and sample.verdict.extracted is not None:
            answer = " ".join(sample.verdict.extracted.split())
            known = (answer[:_ANSWER_CHARS], hash(answer), bool(sample.score))
            self.answers[sample.problem_id][known] += 1
        if sample.prompt and self._is_copy(sample.prompt, sample.answer.text):
            self.copies.append((sample.problem_id, sample.sample_index))

    def _is_copy(self, prompt: str, answer: str) -> bool:
        if self._shingles[0] != prompt:
            self._shingles = (prompt, shingles(prompt))
        asked, said = self._shingles[1], shingles(answer)
        if len(asked) < SHINGLE or len(said) < SHINGLE:
            return False
        return len(asked & said) >= COPIED * min(len(asked), len(said))

    def record(self, prompts: Mapping[str, str]) -> dict[str, Any]:
        """JSON for the report. `prompts` is problem_id -> its prompt, where they were kept."""
        means = {name: total / self.scored[name] for name, total in self.totals.items()}
        return {
            "problems": len(means),
            "samples": self.samples,
            "duplicates": duplicates(prompts)[:_SHOWN],
            "extraction_failures": self.lost,
            "extraction_failure_rate": self.lost / self.ended if self.ended else None,
            "always_right": sum(mean == 1 for mean in means.values()),
            "never_right": sum(mean == 0 for mean in means.values()),
            "suspicious_references": self.suspicious()[:_SHOWN],
            "excluded": [
                {"status": status, "why": why, "samples": count, "first": list(self.examples[status, why])}
                for (status, why), count in self.excluded.most_common(_SHOWN)
            ],
            "prompt_copies": len(self.copies),
            "prompt_copies_shown": [list(item) for item in self.copies[:_SHOWN]],
        }

    def suspicious(self) -> list[dict[str, Any]]:
        """Problems where most samples agree on one answer that the reference does not accept."""
        found: list[dict[str, Any]] = []
        for problem_id, answers in self.answers.items():
            scored = self.scored[problem_id]
            (answer, _, right), agreeing = answers.most_common(1)[0]
            if not right and agreeing >= AGREEING and 2 * agreeing > scored:
                found.append(
                    {"problem_id": problem_id, "answer": answer, "agreeing": agreeing, "samples": scored}
                )
        return sorted(found, key=lambda item: (-item["agreeing"] / item["samples"], item["problem_id"]))


def _why(sample: Sample) -> str:
    """Why a sample was excluded, as its verdict tells: messages of engine, verifier or judge."""
    if sample.verdict is None:
        return "not verified yet"
    detail = sample.verdict.detail
    text = next((str(detail[key]) for key in ("why", "error") if detail.get(key)), str(dict(detail)))
    # A traceback says at its end what happened.
    return text.strip().rpartition("\n")[2][:_ANSWER_CHARS]


def shingles(text: str) -> frozenset[int]:
    """Hashes of all runs of SHINGLE words; equal within one process, which is all that is asked."""
    words = text.split()
    return frozenset(hash(tuple(words[i : i + SHINGLE])) for i in range(len(words) - SHINGLE + 1))


def duplicates(prompts: Mapping[str, str]) -> list[list[str]]:
    """Groups of problems that ask the same, but for case and blanks."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for problem_id, prompt in prompts.items():
        groups[" ".join(prompt.casefold().split())].append(problem_id)
    return [ids for ids in groups.values() if len(ids) > 1]


def first_prompts(asks: Mapping[str, Sequence[Mapping[str, Any]]], ids: Iterable[str]) -> dict[str, str]:
    """problem_id -> the prompt of its first sample."""
    return {name: str(asks[name][0]["prompt"]) for name in ids if asks.get(name)}
