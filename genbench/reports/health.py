"""Signs of defects in a task's data: duplicates, dead problems, doubtful references, lost answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from hashlib import blake2b

from genbench.analysis.samples import Sample
from genbench.reports.report_record import ExcludedSamples, SuspiciousReference, TaskHealthRecord
from genbench.types import OURS, Status

AGREEING = 3
"""Samples that must give the same other answer before the reference counts as doubtful."""
SHINGLE = 8
"""Words in a row that are compared to find copies. Prose seldom repeats so many by chance."""
COPIED = 0.5
"""An answer is a near-copy if this share of the prompt's shingles, or of its own, is in the other."""
_LOST = frozenset({"no_answer", "format_error", "no_code"})
_SHOWN = 50
_ANSWER_CHARS = 200
"""Characters that are shown of an answer that most samples agree on. The answer may have megabytes."""


@dataclass(slots=True)
class TaskHealth:
    """Counts of a task's samples, added one by one.

    Texts are not kept. `record` returns the signs of defects.
    """

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
    excluded: Counter[tuple[Status, str]] = field(default_factory=Counter)
    examples: dict[tuple[Status, str], tuple[str, int]] = field(default_factory=dict)
    _prompts: defaultdict[bytes, list[str]] = field(default_factory=lambda: defaultdict(list))
    _shingles: tuple[str, frozenset[int]] = ("", frozenset())

    def add(self, sample: Sample) -> None:
        """Count a sample."""
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

    def add_prompt(self, problem_id: str, prompt: str) -> None:
        """Count the first prompt of a problem. Its digest is kept, which ignores case and blanks."""
        text = " ".join(prompt.casefold().split())
        self._prompts[blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()].append(
            problem_id
        )

    def _is_copy(self, prompt: str, answer: str) -> bool:
        if self._shingles[0] != prompt:
            self._shingles = (prompt, shingles(prompt))
        asked, said = self._shingles[1], shingles(answer)
        if len(asked) < SHINGLE or len(said) < SHINGLE:
            return False
        return len(asked & said) >= COPIED * min(len(asked), len(said))

    def record(self) -> TaskHealthRecord:
        """Return what was counted."""
        means = {name: total / self.scored[name] for name, total in self.totals.items()}
        return TaskHealthRecord(
            problems=len(means),
            samples=self.samples,
            duplicates=tuple(self.duplicates()[:_SHOWN]),
            extraction_failures=self.lost,
            extraction_failure_rate=self.lost / self.ended if self.ended else None,
            always_right=sum(mean == 1 for mean in means.values()),
            never_right=sum(mean == 0 for mean in means.values()),
            suspicious_references=tuple(self.suspicious()[:_SHOWN]),
            excluded=tuple(
                ExcludedSamples(status=status, why=why, samples=count, first=self.examples[status, why])
                for (status, why), count in self.excluded.most_common(_SHOWN)
            ),
            prompt_copies=len(self.copies),
            prompt_copies_shown=tuple(self.copies[:_SHOWN]),
        )

    def duplicates(self) -> list[tuple[str, ...]]:
        """Return groups of problems whose prompts differ only in case and blanks."""
        return [tuple(ids) for ids in self._prompts.values() if len(ids) > 1]

    def suspicious(self) -> list[SuspiciousReference]:
        """Return problems whose samples mostly agree on one answer that the reference does not accept."""
        found: list[SuspiciousReference] = []
        for problem_id, answers in self.answers.items():
            scored = self.scored[problem_id]
            (answer, _, right), agreeing = answers.most_common(1)[0]
            if not right and agreeing >= AGREEING and 2 * agreeing > scored:
                found.append(
                    SuspiciousReference(
                        problem_id=problem_id, answer=answer, agreeing=agreeing, samples=scored
                    )
                )
        return sorted(found, key=lambda item: (-item.agreeing / item.samples, item.problem_id))


def _why(sample: Sample) -> str:
    """Return why a sample was excluded: the message of engine, verifier or judge in its verdict."""
    if sample.verdict is None:
        return "not verified yet"
    detail = sample.verdict.detail
    text = next((str(detail[key]) for key in ("why", "error") if detail.get(key)), str(dict(detail)))
    # The last line of a traceback says what happened.
    return text.strip().rpartition("\n")[2][:_ANSWER_CHARS]


def shingles(text: str) -> frozenset[int]:
    """Return hashes of all runs of SHINGLE words. They can be compared only within one process."""
    words = text.split()
    return frozenset(hash(tuple(words[i : i + SHINGLE])) for i in range(len(words) - SHINGLE + 1))
