"""The table of one task's verdicts, with its estimates and its strata."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from genbench.analysis.plugin_metrics import plug_in_estimate
from genbench.analysis.reading import Reading, reading_of
from genbench.analysis.records import ExcludedSamples, StratumRecord
from genbench.errors import InputError
from genbench.protocols import MACRO_JOINT, ProblemScores
from genbench.stats.estimates import EstimateRecord, estimate
from genbench.stats.intervals import LEVEL
from genbench.stats.strata import estimate_strata
from genbench.store.seal import Seal
from genbench.tasks.metrics import is_built_in
from genbench.types import OURS, Problem, Status, TraceStatus, Verdict

NEVER_SCORED = "its answers are for people to read, and nothing scores them"
"""Why a task of kind none has no metric."""


def is_never_scored(found: object) -> bool:
    """Return whether an estimate is that of a task of kind none."""
    return isinstance(found, EstimateRecord) and found.missing == NEVER_SCORED


_MOST_WHYS = 1_000
"""Reasons that are kept. A verifier may have another one for each sample."""
_SHOWN_WHYS = 3
_WHY_CHARS = 200


def why_excluded(detail: Mapping[str, Any]) -> str:
    """Return why a sample was excluded or refused: the message of server, verifier or judge."""
    text = next((str(detail[key]) for key in ("why", "error") if detail.get(key)), str(dict(detail)))
    # The last line of a traceback says what happened.
    return text.strip().rpartition("\n")[2][:_WHY_CHARS]


@dataclass(slots=True)
class VerdictTable:
    """Scores of one task as rows of problems by samples. None marks a sample that is excluded or missing.

    `scores[i][j]` belongs to `problems[i]` and sample j. `verified[i][j]` says whether it has a verdict.
    """

    problems: Sequence[Problem]
    k: int
    counts: Mapping[str, int] | None = None
    """The samples of each problem in an adaptive run. None: each problem has k."""
    excludes_unanswered: bool = False
    """Whether samples without an answer count neither way."""
    is_unrated: bool = False
    """Whether answers are shown to people and never scored."""
    scores: list[list[float | None]] = field(init=False)
    answers: list[list[str | None]] = field(init=False)
    verified: list[list[bool]] = field(init=False)
    parts: list[list[Mapping[str, float]]] = field(init=False)
    corpus: list[list[Mapping[str, Sequence[float]]]] = field(init=False)
    """Counts of corpus metrics by problem, of the samples that have any."""
    details: list[Mapping[str, Any] | None] = field(init=False)
    """The details of verdicts on scored texts, one for each problem."""
    statuses: Counter[Status] = field(default_factory=Counter)
    traces: Counter[TraceStatus] = field(default_factory=Counter)
    readings: Counter[Reading] = field(default_factory=Counter)
    """Verdicts by how the answer was read."""
    truncated: int = 0
    left_open: int = 0
    """Samples whose trace is open, though nothing cut the reply off."""
    unanswered: int = 0
    """Samples without an answer that the task excludes."""
    replies: Counter[str] = field(default_factory=Counter)
    """Samples in which no call could be read, by what the reply is instead."""
    refused: Counter[str] = field(default_factory=Counter)
    """Samples whose prompts a server refused, by what refused them: content_filter or context."""
    whys: dict[tuple[Status, str], list[Any]] = field(default_factory=dict)
    """By status and reason, how many samples were excluded or refused, and the first of them."""
    forgeable: int = 0
    """Samples with a score whose tests a hostile program could fake (see verifiers.code)."""
    rollouts: list[Mapping[str, Any]] = field(default_factory=list)
    """What each scored rollout of an agent took and did."""
    seal: Seal = field(default_factory=Seal)
    _rows: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        sizes = [self.k if self.counts is None else self.counts[item.problem_id] for item in self.problems]
        self.scores = [[None] * size for size in sizes]
        self.answers = [[None] * size for size in sizes]
        self.parts = [[] for _ in self.problems]
        self.corpus = [[] for _ in self.problems]
        self.details = [None] * len(self.problems)
        self.verified = [[False] * size for size in sizes]
        self._rows = {problem.problem_id: row for row, problem in enumerate(self.problems)}

    def add(self, verdict: Verdict) -> bool:
        """Add a verdict. Return False if it is left out: beyond problems and k, or a second one."""
        row = self._rows.get(verdict.sample.problem_id)
        column = verdict.sample.sample_index
        if row is None or column >= len(self.verified[row]) or self.verified[row][column]:
            return False
        self.verified[row][column] = True
        self.seal.add_verdict(verdict)
        self.scores[row][column] = verdict.score
        self.answers[row][column] = verdict.extracted
        if verdict.parts and verdict.score is not None:
            self.parts[row].append(verdict.parts)
        if verdict.score is not None and (counts := verdict.detail.get("corpus")):
            self.corpus[row].append(counts)
        if "measures" in verdict.detail and verdict.score is not None:
            self.details[row] = verdict.detail
        if "rollout" in verdict.detail and verdict.score is not None:
            self.rollouts.append(verdict.detail["rollout"])
        self.statuses[verdict.status] += 1
        self.traces[verdict.trace_status] += 1
        if (reading := reading_of(verdict.status, verdict.detail)) is not None:
            self.readings[reading] += 1
        if isinstance(instead := verdict.detail.get("reply"), str):
            self.replies[instead] += 1
        self.truncated += verdict.truncated
        self.left_open += verdict.status == "unclosed_trace" and not verdict.truncated
        self.unanswered += verdict.score is None and verdict.status not in OURS
        if kind := verdict.detail.get("refused"):
            self.refused[str(kind)] += 1
        if kind or verdict.status in OURS:
            self._note(verdict)
        self.forgeable += bool(verdict.score) and verdict.detail.get("forgeable") is True
        return True

    def _note(self, verdict: Verdict) -> None:
        """Count why a sample was excluded or refused."""
        key = (verdict.status, why_excluded(verdict.detail))
        if key in self.whys:
            self.whys[key][0] += 1
        elif len(self.whys) < _MOST_WHYS:
            self.whys[key] = [1, verdict.sample.problem_id, verdict.sample.sample_index]

    @property
    def reasons(self) -> tuple[ExcludedSamples, ...]:
        """Return the most frequent reasons why samples were excluded, or prompts refused."""
        most = sorted(self.whys.items(), key=lambda item: -item[1][0])[:_SHOWN_WHYS]
        return tuple(
            ExcludedSamples(status=status, why=why, samples=count, first=(problem, index))
            for (status, why), (count, problem, index) in most
        )

    @property
    def rows(self) -> list[ProblemScores]:
        """Return the samples of each problem in the form that plug-in metrics get."""
        return [
            ProblemScores(
                problem.problem_id, tuple(scores), tuple(answers), dict(problem.strata), problem.group
            )
            for problem, scores, answers in zip(self.problems, self.scores, self.answers, strict=True)
        ]

    @property
    def is_scored(self) -> bool:
        """Return whether given texts were scored, instead of answers drawn."""
        return any(detail is not None for detail in self.details)

    @property
    def lacking(self) -> int:
        """Return the number of samples without a verdict: not drawn, or not verified yet."""
        return sum(not verified for row in self.verified for verified in row)

    @property
    def excluded(self) -> int:
        """Return the number of samples without a score: a defect that is not the model's, or no answer."""
        return sum(self.statuses[status] for status in OURS) + self.unanswered

    @property
    def correct(self) -> float:
        """Return the sum of the scores."""
        return sum(score for row in self.scores for score in row if score is not None)

    @property
    def groups(self) -> list[str | None] | None:
        """Return the group of each problem, or None if no problem has one."""
        groups = [problem.group for problem in self.problems]
        return groups if any(groups) else None

    def label(self, metric: str) -> str:
        """Return the metric's name with the table's k, `avg@8` for `avg@k`."""
        if self.counts is not None:
            return metric
        return metric.replace("@k", f"@{self.k}").replace("^k", f"^{self.k}")


def estimate_seed(run_id: str, task: str) -> int:
    """Return the seed of a task's resampling. The same run gives the same bounds."""
    digest = hashlib.sha256(f"{run_id}\0{task}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") >> 1  # below 2^63, as every seed


def estimates(
    table: VerdictTable,
    metrics: Iterable[str],
    seed: int,
    folder: str | None = None,
    *,
    level: float = LEVEL,
) -> dict[str, EstimateRecord]:
    """Return the task's metrics by name. Each is missing, with the reason, if samples lack a verdict.

    Args:
        folder: the folder that is searched for the modules of plug-in metrics.
        level: confidence of the intervals. An adaptive run has that of its last look.
    """
    groups = table.groups
    found: dict[str, EstimateRecord] = {}
    for metric in metrics:
        name = table.label(metric)
        if table.lacking:
            missing = f"{table.lacking} of {sum(map(len, table.verified))} samples have no verdict"
            found[name] = EstimateRecord.without_value(name, len(table.problems), table.k, missing)
            continue
        if table.is_unrated:
            found[name] = EstimateRecord.without_value(
                name, len(table.problems), table.k, NEVER_SCORED, excluded=table.excluded
            )
            continue
        if not is_built_in(metric):
            found[name] = plug_in_estimate(metric, table.rows, k=table.k, seed=seed, folder=folder)
            continue
        try:
            found[name] = estimate(
                metric,
                table.scores,
                seed=seed,
                groups=groups,
                answers=table.answers,
                k=table.k if table.counts is None else None,
                label=name,
                level=level,
                may_be_silent=table.excludes_unanswered,
            )
        except InputError as error:  # one metric that cannot be given must not cost the others
            found[name] = EstimateRecord.without_value(name, len(table.problems), table.k, str(error))
    if table.is_scored:
        return {name: one.without_rerun for name, one in found.items()}
    return found


def strata_records(
    table: VerdictTable, metric: str, seed: int, *, level: float = LEVEL, lists: str | None = None
) -> dict[str, dict[str, StratumRecord]]:
    """Return the metric within each stratum (level, subject, difficulty …), by column and stratum.

    Args:
        lists: the column, if any, that is a list of strata, in each of which a problem counts.
    """
    if table.lacking or table.is_unrated:
        return {}
    names = sorted({name for problem in table.problems for name in problem.strata})
    found: dict[str, dict[str, StratumRecord]] = {}
    for name in names:
        labels: list[str | None] = [problem.strata.get(name) for problem in table.problems]
        places = list(range(len(labels)))
        if name == lists:
            placed = [
                (at, one) for at, own in enumerate(labels) for one in set((own or "").split(MACRO_JOINT))
            ]
            places, labels = [at for at, _ in placed], [one or None for _, one in placed]
        groups = table.groups
        rows = estimate_strata(
            metric,
            [table.scores[at] for at in places],
            labels,
            seed=seed,
            groups=None if groups is None else [groups[at] for at in places],
            answers=[table.answers[at] for at in places] if metric.startswith("maj") else None,
            level=level,
            may_be_silent=table.excludes_unanswered,
        )
        found[name] = {label: StratumRecord.from_object(row) for label, row in rows.items()}
    return found
