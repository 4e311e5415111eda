"""What a plug-in must offer: tasks, verifiers, engines, and the sinks that rooms hand to one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from genbench.types import Ask, Case, Completion, Finding, Problem, Question, Request

Row = Mapping[str, Any]
"""One row of a dataset, with the columns that its hub repository has."""


@dataclass(frozen=True, slots=True)
class HubDataset:
    """Where a benchmark's rows come from on the Hugging Face hub.

    `revision` is a commit hash, or `None` where no public source pins one: then `digest` (over
    `columns` of all rows, see data.digest) holds the rows to the ones that were measured.
    """

    repo: str
    config: str
    split: str
    columns: tuple[str, ...]
    revision: str | None = None
    digest: str | None = None
    rows: int | None = None
    gated: bool = False
    files: tuple[str, ...] = ()
    """JSON Lines of the repository that make up the split, where only a loading script knows it."""


@dataclass(frozen=True, slots=True)
class PublishedScore:
    """A score that someone else reports for a model; `value` is a fraction of 1."""

    model: str
    value: float
    source: str
    decoding: str


@dataclass(frozen=True, slots=True)
class TaskInfo:
    """The facts about a benchmark that can be told without reading its data."""

    name: str
    version: str
    """Changes whenever the prompt, the references or the grading of the task change."""
    summary: str
    dataset: HubDataset | None
    k: int
    verifier: str
    verifier_options: Mapping[str, Any] = field(default_factory=dict)
    licence: str = "not stated"
    metrics: tuple[str, ...] = ("avg@k", "pass@k", "maj@k")
    chance: float | None = None
    """Score of blind guessing in [0, 1], where it is not zero."""
    headline: str = "avg@k"
    shots: tuple[tuple[str, str], ...] = ()
    """(question, answer) pairs for a few-shot prompt of a base model."""
    published: tuple[PublishedScore, ...] = ()
    """What others report for known models, see tasks/published.py."""


@runtime_checkable
class Task(Protocol):
    """One benchmark: how its rows are read, asked and graded. Pure: no disk, no network, no clock."""

    @property
    def info(self) -> TaskInfo: ...

    def problems(self, rows: Sequence[Row]) -> list[Problem]:
        """All problems in the dataset's order; ids are unique and stable."""
        ...

    def ask(self, problem: Problem, sample_index: int, replies: Sequence[str]) -> Ask | None:
        """What to ask after `replies` (the answers so far, traces stripped); None ends the sample."""
        ...


@runtime_checkable
class Verifier(Protocol):
    """Judges cases one at a time in a worker process of its own (see verifiers/pool.py).

    Built as `Verifier(**options)` with the JSON options of its task. A wrong answer is a finding;
    an exception is a defect and becomes `verifier_error`.
    """

    @property
    def version(self) -> str:
        """Everything that can change a finding: own version, libraries, modes. Enters the digest."""
        ...

    def time_limit_s(self, case: Case) -> float:
        """Wall seconds after which the worker is killed and the sample becomes `timeout`."""
        ...

    def verify(self, case: Case) -> Finding: ...

    def close(self) -> None:
        """Release what the verifier holds (a sandbox, a file)."""
        ...


@dataclass(frozen=True, slots=True)
class ProblemScores:
    """All samples of one problem, as a metric sees them."""

    problem_id: str
    scores: tuple[float | None, ...]
    """One for each sample, in [0, 1]. None: the sample is excluded."""
    answers: tuple[str | None, ...]
    """What the verifier extracted from each sample. Empty for score files without answers."""
    strata: Mapping[str, str] = field(default_factory=dict)
    group: str | None = None


class Metric(Protocol):
    """A metric of a plug-in: the value of one problem.

    The metric of a task is the mean over its problems, with an interval that resamples whole clusters.
    """

    def __call__(self, problem: ProblemScores) -> float | None:
        """Return the value in [0, 1], or None if too few samples are scored to tell."""
        ...


@runtime_checkable
class Engine(Protocol):
    """Turns requests into completions. Started once, used concurrently, closed once."""

    async def start(self) -> None: ...

    async def generate(self, request: Request, attempt: int) -> Completion: ...

    async def close(self) -> None: ...


class JudgeEngine(Protocol):
    """Puts questions to a judge. Started once, used concurrently, closed once."""

    @property
    def record(self) -> Mapping[str, Any]:
        """Who answers, for the manifest: identity, or what a server declares."""
        ...

    async def start(self) -> None: ...

    async def reply(self, question: Question) -> str:
        """The judge's whole reply.

        Raises:
            RequestFailedError: this question has no reply, the judge goes on.
        """
        ...

    async def close(self) -> None: ...
