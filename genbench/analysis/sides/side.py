"""One side of a comparison: the scores of each task by problem, and further facts about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import Field

from genbench.analysis.likelihood import ScoredTexts
from genbench.analysis.reading import Reading
from genbench.analysis.results.judge_figures import JudgedRecord
from genbench.json_record import Count, JsonRecord
from genbench.stats.noise import NoiseMeasurement
from genbench.store.manifest import Manifest, TaskRecord
from genbench.store.sample_index import SampleIndex
from genbench.store.state import RunState, SealWord
from genbench.store.stopping import Ending
from genbench.types import OURS, Completion, Status

SideKind = Literal["run", "score file"]


class SideRecord(JsonRecord):
    """One side of a comparison: a run folder or a score file."""

    path: str = Field(description="the run folder or score file")
    kind: SideKind = Field(description="whether it is a run folder or a score file")
    name: str = Field(description="the model's name, or the file's")
    run_id: str = Field(description="name of the run in the seeds of resampling")
    model_identity: str | None = Field(description="digest of the model; null for a score file")
    run_seed: Count | None = Field(description="the seed of the run; null for a score file")
    seal: SealWord | None = Field(
        default=None,
        description="whole: its files are as they were written; unsealed: nothing tells (an older run, or "
        "one without results); edited: a file was changed; absent for a score file",
    )


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SideTask:
    """One task of one side. All sequences are in the order of `problem_ids` (n,).

    `scores[i]` contains problem i's samples by sample_index, None if one is excluded. `k` is the planned
    number of samples per problem, None if it is unknown (score files). `margin` is a fraction of 1.
    `described` is the task's entry in the manifest, None for score files.
    """

    name: str
    problem_ids: tuple[str, ...]
    scores: tuple[tuple[float | None, ...], ...]
    metric: str = "avg@k"
    metrics: tuple[str, ...] = ("avg@k",)
    k: int | None = None
    lacking: int = 0
    """Samples without a verdict: not drawn, or not verified yet."""
    answers: tuple[tuple[str | None, ...], ...] | None = None
    statuses: tuple[tuple[Status, ...], ...] | None = None
    readings: tuple[tuple[Reading | None, ...], ...] | None = None
    """How each answer was read. None for score files."""
    groups: tuple[str | None, ...] | None = None
    strata: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)
    gating: bool | None = None
    margin: float | None = None
    described: TaskRecord | None = None
    corpus: Mapping[str, tuple[tuple[float, ...], ...]] = field(default_factory=dict)
    """Counts of corpus metrics, summed over the samples of each problem."""
    without_counts: int = 0
    """Scored samples of such a task that have no counts."""
    index: SampleIndex | None = None
    """Prompts, seeds and digests of texts. None for score files."""
    followed: Mapping[str, tuple[tuple[float | None, ...], ...]] = field(default_factory=dict)
    """Shares of followed instructions, see instruction_accuracy.shares_by_kind."""
    broken: tuple[str, ...] = ()
    """What is wrong with the lines on disk: edited, lacking or contradicting ones. Empty for score files."""
    is_adaptive: bool = False
    """Whether the samples are those of an adaptive run, which differ in number by plan."""
    by_clock: int | None = None
    """Rollouts that the clock ended. None if no harness ran."""
    touched: int = 0
    """Rollouts with a command that can find a solution in the history of a repository or in the network."""
    at_limits: int = 0
    """Rollouts whose box reached its memory, processes or disk."""
    judged: JudgedRecord | None = None
    """The judge's entry of the task in results.json, or None."""
    texts: ScoredTexts | None = None
    """The measures of scored texts by problem. None if answers were drawn, and for score files."""
    parts: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    """The mean of each named part of the score by problem, None for a problem without a scored sample."""
    endings: Mapping[Ending, tuple[float | None, ...]] | None = None
    """The share of each problem's samples that end so. None if nothing was drawn, and for score files."""
    kept: tuple[Completion, ...] = ()
    """The completions of a few samples, if the side was opened to verify them again."""

    @property
    def largest_k(self) -> int:
        """Return the number of samples of the problem that has most."""
        return max(len(row) for row in self.scores)

    @property
    def smallest_k(self) -> int:
        """Return the number of samples of the problem that has fewest."""
        return min(len(row) for row in self.scores)

    @property
    def is_ragged(self) -> bool:
        """Return whether problems have different numbers of samples."""
        return self.smallest_k != self.largest_k

    @property
    def samples(self) -> int:
        """Return the number of samples of all problems, with missing ones."""
        return sum(len(row) for row in self.scores)

    @property
    def excluded(self) -> int:
        """Return the number of samples with a verdict but without a score."""
        return sum(score is None for row in self.scores for score in row) - self.lacking

    @property
    def excludes_unanswered(self) -> bool:
        """Return whether samples without an answer count neither way."""
        return self.described is not None and self.described.excludes_unanswered

    @property
    def unanswered_share(self) -> float:
        """Return the share of samples without an answer that count neither way, 0 if such ones are wrong."""
        if self.statuses is None or not self.excludes_unanswered:
            return 0.0
        silent = sum(
            score is None and status not in OURS
            for scores, statuses in zip(self.scores, self.statuses, strict=True)
            for score, status in zip(scores, statuses, strict=True)
        )
        return silent / self.samples

    @property
    def correct(self) -> float:
        """Return the sum of the scores."""
        return sum(score for row in self.scores for score in row if score is not None)

    def take(self, ids: Sequence[str]) -> SideTask:
        """Return the task with only these problems, in their order."""
        place = {name: row for row, name in enumerate(self.problem_ids)}
        rows = [place[name] for name in ids]
        return replace(
            self,
            problem_ids=tuple(ids),
            scores=_pick(self.scores, rows),
            answers=None if self.answers is None else _pick(self.answers, rows),
            statuses=None if self.statuses is None else _pick(self.statuses, rows),
            readings=None if self.readings is None else _pick(self.readings, rows),
            groups=None if self.groups is None else _pick(self.groups, rows),
            strata={column: _pick(labels, rows) for column, labels in self.strata.items()},
            followed={kind: _pick(shares, rows) for kind, shares in self.followed.items()},
            corpus={name: _pick(counts, rows) for name, counts in self.corpus.items()},
            parts={name: _pick(means, rows) for name, means in self.parts.items()},
            endings=None
            if self.endings is None
            else {name: _pick(shares, rows) for name, shares in self.endings.items()},
        )


@dataclass(frozen=True, slots=True)
class Side:
    """A run, or a score file. `run_id` names it in seeds of resampling. `manifest` is None for a file."""

    path: Path
    name: str
    run_id: str
    tasks: Mapping[str, SideTask]
    manifest: Manifest | None = None
    failed: tuple[str, ...] = ()
    """Lines `TASK: reason` of results.json about tasks whose numbers must not be used."""
    max_excluded_share: float | None = None
    """The share of a task's samples that may be excluded. None without results.json."""
    imported: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """For an imported score file: each tool whose log it was, and what that log does not record."""
    state: RunState | None = None
    """Whether the files of the run folder are as they were written. None for a score file."""
    noise: NoiseMeasurement | None = None
    """The record of noise.json, None if the run's false-alarm band was not measured."""

    @property
    def kind(self) -> SideKind:
        """Return what the side is, in words."""
        return "score file" if self.manifest is None else "run"

    @property
    def record(self) -> SideRecord:
        """Return the record of the side in a comparison."""
        return SideRecord(
            path=str(self.path),
            kind=self.kind,
            name=self.name,
            run_id=self.run_id,
            model_identity=self.identity,
            run_seed=self.run_seed,
            **({} if self.state is None else {"seal": self.state.word}),
        )

    @property
    def run_seed(self) -> int | None:
        """Return the seed of the run, or None for a score file."""
        return None if self.manifest is None else self.manifest.run_seed

    @property
    def identity(self) -> str | None:
        """Return the identity of the model, or None for a score file."""
        return None if self.manifest is None else self.manifest.model_identity


def _pick(values: Sequence[T], rows: Sequence[int]) -> tuple[T, ...]:
    return tuple(values[row] for row in rows)
