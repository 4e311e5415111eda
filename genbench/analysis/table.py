"""Verdicts to numbers: the table of one task, its estimates, counts and shares."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from genbench.analysis.metrics import plug_in_estimate
from genbench.protocols import ProblemScores
from genbench.stats.estimates import estimate
from genbench.stats.strata import estimate_strata
from genbench.tasks.metrics import is_built_in
from genbench.types import OURS, STATUSES, Completion, Estimate, Problem, Verdict


@dataclass(slots=True)
class VerdictTable:
    """Scores of one task as rows of problems by samples; None where a sample is excluded or missing.

    `scores[i][j]` belongs to `problems[i]` and sample j; `drawn[i][j]` says whether it was drawn.
    """

    problems: Sequence[Problem]
    k: int
    scores: list[list[float | None]] = field(init=False)
    answers: list[list[str | None]] = field(init=False)
    judged: list[list[bool]] = field(init=False)
    parts: list[list[Mapping[str, float]]] = field(init=False)
    statuses: Counter[str] = field(default_factory=Counter)
    traces: Counter[str] = field(default_factory=Counter)
    truncated: int = 0
    _rows: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self.scores = [[None] * self.k for _ in self.problems]
        self.answers = [[None] * self.k for _ in self.problems]
        self.parts = [[] for _ in self.problems]
        self.judged = [[False] * self.k for _ in self.problems]
        self._rows = {problem.problem_id: row for row, problem in enumerate(self.problems)}

    def add(self, verdict: Verdict) -> bool:
        """Takes a verdict; False where it is left out: beyond problems and k, or a second one."""
        row = self._rows.get(verdict.sample.problem_id)
        column = verdict.sample.sample_index
        if row is None or column >= self.k or self.judged[row][column]:
            return False
        self.judged[row][column] = True
        self.scores[row][column] = verdict.score
        self.answers[row][column] = verdict.extracted
        if verdict.parts and verdict.score is not None:
            self.parts[row].append(verdict.parts)
        self.statuses[verdict.status] += 1
        self.traces[verdict.trace_status] += 1
        self.truncated += verdict.truncated
        return True

    @property
    def rows(self) -> list[ProblemScores]:
        """Return the samples of each problem, as metrics of plug-ins get them."""
        return [
            ProblemScores(
                problem.problem_id, tuple(scores), tuple(answers), dict(problem.strata), problem.group
            )
            for problem, scores, answers in zip(self.problems, self.scores, self.answers, strict=True)
        ]

    @property
    def lacking(self) -> int:
        """Samples without a verdict: not drawn, or not verified yet."""
        return sum(not judged for row in self.judged for judged in row)

    @property
    def excluded(self) -> int:
        return sum(self.statuses[status] for status in OURS)


def estimate_seed(run_id: str, task: str) -> int:
    """The seed of a task's resampling: same run, same bounds."""
    return int.from_bytes(hashlib.sha256(f"{run_id}\0{task}".encode()).digest()[:8], "big") >> 1


def estimates(
    table: VerdictTable, metrics: Iterable[str], seed: int, folder: str | None = None
) -> dict[str, Estimate]:
    """The task's metrics. Each is missing, with the reason, where samples lack."""
    groups = [problem.group for problem in table.problems]
    grouped = groups if any(groups) else None
    found: dict[str, Estimate] = {}
    for metric in metrics:
        name = metric.replace("@k", f"@{table.k}").replace("^k", f"^{table.k}")
        if table.lacking:
            missing = f"{table.lacking} of {len(table.problems) * table.k} samples have no verdict"
            found[name] = Estimate(name, None, len(table.problems), table.k, missing=missing)
            continue
        if not is_built_in(metric):
            found[name] = plug_in_estimate(metric, table.rows, k=table.k, seed=seed, folder=folder)
            continue
        found[name] = estimate(
            metric, table.scores, seed=seed, groups=grouped, answers=table.answers, k=table.k, label=name
        )
    return found


def strata_records(table: VerdictTable, metric: str, seed: int) -> dict[str, dict[str, Any]]:
    """The metric within each stratum (level, subject, difficulty …), where a task has strata."""
    if table.lacking:
        return {}
    names = sorted({name for problem in table.problems for name in problem.strata})
    groups = [problem.group for problem in table.problems]
    found: dict[str, dict[str, Any]] = {}
    for name in names:
        labels = [problem.strata.get(name) for problem in table.problems]
        rows = estimate_strata(
            metric,
            table.scores,
            labels,
            seed=seed,
            groups=groups if any(groups) else None,
            answers=table.answers if metric.startswith("maj") else None,
        )
        found[name] = {
            label: {"value": row.value, "n": row.n, "ci": list(row.ci) if row.ci else None}
            for label, row in rows.items()
        }
    return found


def estimate_record(item: Estimate) -> dict[str, Any]:
    """An estimate as JSON; values and bounds are fractions of 1."""
    return {
        "metric": item.metric,
        "value": item.value,
        "n": item.n,
        "k": item.k,
        "se": item.se,
        "ci": list(item.ci) if item.ci else None,
        "ci_method": item.ci_method,
        "rerun_ci": list(item.rerun_ci) if item.rerun_ci else None,
        "rerun_ci_method": item.rerun_ci_method,
        "excluded": item.excluded,
        "bounds": list(item.bounds) if item.bounds else None,
        "missing": item.missing,
    }


@dataclass(slots=True)
class TokenCount:
    """Tokens of a task's completions; None where nobody counted them (ready responses)."""

    prompt: int = 0
    completion: int = 0
    trace: int = 0
    counted: int = 0
    traced: int = 0
    clamped: int = 0

    def add(self, item: Completion, max_tokens: int) -> None:
        self.clamped += item.max_tokens is not None and item.max_tokens < max_tokens
        if item.completion_tokens is None:
            return
        self.counted += 1
        self.prompt += item.prompt_tokens or 0
        self.completion += item.completion_tokens
        self.traced += item.trace_tokens is not None
        self.trace += item.trace_tokens or 0

    def record(self, correct: float) -> dict[str, Any]:
        """Sums, and tokens per correct answer; trace and answer together are the completion."""
        if not self.counted:
            return dict.fromkeys(("prompt", "completion", "trace", "answer", "per_correct"))
        split = self.traced == self.counted
        return {
            "prompt": self.prompt,
            "completion": self.completion,
            "trace": self.trace if split else None,
            "answer": self.completion - self.trace if split else None,
            "per_correct": self.completion / correct if correct else None,
        }


def task_record(
    table: VerdictTable, found: Mapping[str, Estimate], headline: str, tokens: TokenCount
) -> dict[str, Any]:
    """One task of results.json: the headline estimate flattened, all metrics, counts and tokens."""
    lead = found[headline.replace("@k", f"@{table.k}").replace("^k", f"^{table.k}")]
    correct = sum(score for row in table.scores for score in row if score is not None)
    judged = sum(table.statuses.values())
    return estimate_record(lead) | {
        "metrics": {name: estimate_record(item) for name, item in found.items()},
        "samples": judged,
        "lacking": table.lacking,
        "excluded": table.excluded,
        "status_counts": {status: table.statuses[status] for status in STATUSES if table.statuses[status]},
        "trace_counts": dict(table.traces),
        "truncated_share": table.truncated / judged if judged else None,
        "clamped": tokens.clamped,
        "tokens": tokens.record(correct),
    }
