"""The interfaces of plug-ins: tasks, verifiers, engines, and engines of judges."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from pydantic import Field

from genbench.errors import EngineError
from genbench.json_record import Count, JsonRecord, Share
from genbench.types import Ask, Case, Completion, Finding, Problem, Question, Request, SampleId, ScoreRequest

if TYPE_CHECKING:
    from markupsafe import Markup

Row = Mapping[str, Any]
"""One row of a dataset, with the columns of its hub repository."""


_HUB_NAME = re.compile(r"[\w{][\w.{}-]*/[\w{][\w.{}-]*", re.ASCII)
"""ORG/NAME of the hub. Some pages write `{config}` in it. A name that begins with a dot would be a path."""


def is_hub_name(text: object) -> bool:
    """Return whether a text can only be a repository of the hub, ORG/NAME, and no folder of this machine."""
    return isinstance(text, str) and _HUB_NAME.fullmatch(text) is not None


class HubSource(JsonRecord):
    """Rows from the Hugging Face hub."""

    repo: str
    config: str = "default"
    split: str = "test"
    revision: str | None = None


class ZippedTexts(JsonRecord):
    """Texts that a zip file of the repository has, and that the rows name."""

    column: str = Field(description="column that each row gets, with a list of its texts")
    archive: str = Field(description="the zip file, in the repository")
    names: str = Field(description="column with the names of a row's texts, in order")
    separator: str = Field(";", description="what separates these names")
    folder: str = Field("", description="where they are in the zip file, with columns as {column}")


class HubDataset(HubSource):
    """The source of a benchmark's rows on the Hugging Face hub, and which rows are the pinned ones.

    `revision` is a commit hash, or None if no public source pins one. Then `digest` (over `columns`
    of all rows, see data.digest) ensures that the rows are the ones that were measured.
    """

    columns: tuple[str, ...] = Field(description="columns that are read, in digest order")
    digest: str | None = Field(None, description="SHA-256 over `columns` of all rows")
    rows: int | dict[str, int] | None = Field(None, description="number of rows, or the number by config")
    gated: bool = False
    files: tuple[str, ...] = Field((), description="files of a split that only a loading script lists")
    configs: tuple[str, ...] = Field(
        (), description="several configs, which are joined in this order. `config` is then not used"
    )
    config_column: str = Field(
        "config", description="column that each row of several configs gets with the name of its config"
    )
    splits: tuple[str, ...] = Field(
        (), description="several splits of each config, which are joined. `split` is then not used"
    )
    split_column: str = Field(
        "split", description="column that each row of several splits gets with the name of its split"
    )
    texts: ZippedTexts | None = Field(
        None, description="texts of a zip file that the rows name; only from a mirror"
    )
    by_hand: str = Field("", description="how to make the mirror, if `datasets` cannot read the repository")
    licence: str = Field(
        "", description="licence of the rows, which messages name; a page has it as `licence`"
    )

    @property
    def name(self) -> str:
        """Return what messages call the dataset, with its licence."""
        licence = f"; licence: {self.licence}" if self.licence else ""
        return f"dataset {self.repo} ({self.config}, {self.split}{licence})"

    @property
    def row_count(self) -> int | None:
        """Return the number of rows of all configs, or None if it is not pinned."""
        if isinstance(self.rows, dict):
            return sum(self.rows[name] for name in self.configs)
        return self.rows

    @property
    def own_columns(self) -> tuple[str, ...]:
        """Return the columns of the digest: those that are read, after those that name config and split."""
        named = (self.config_column,) if self.configs else ()
        texts = () if self.texts is None else (self.texts.column,)
        return (*named, *((self.split_column,) if self.splits else ()), *self.columns, *texts)

    def parts(self) -> Iterator[tuple[HubDataset, dict[str, str]]]:
        """Yield the dataset of each config and split, with the columns that its rows get."""
        for config in self.configs or (self.config,):
            for split in self.splits or (self.split,):
                # Some benchmarks have a repository for each config, named with `{config}`.
                has_own = "{config}" in self.repo and bool(self.configs)
                one = {
                    "repo": self.repo.replace("{config}", config) if has_own else self.repo,
                    "config": self.config if has_own else config,
                    "split": split,
                }
                left = {"configs": (), "splits": (), "rows": None, "digest": None}
                columns = {self.config_column: config} if self.configs else {}
                columns |= {self.split_column: split} if self.splits else {}
                yield self.model_copy(update=one | left), columns

    def of_configs(self, names: tuple[str, ...]) -> HubDataset:
        """Return the dataset with some of its configs, of which no digest is pinned unless they are all."""
        digest = self.digest if names == self.configs else None
        return self.model_copy(update={"configs": names, "digest": digest})


ScoreOwner = Literal["this model", "its family", "the suite"]
"""Whose a published score is that is shown next to a run."""


PublishedMean = Literal["macro", "micro", "instructions"]
MEANS = (
    "which mean of a group or of a task's categories it is, or `instructions`, the mean of the strict "
    "accuracies of prompts and of instructions; absent if it is the plain score"
)


class PublishedScore(JsonRecord):
    """A score that someone else reports for a model."""

    model: str = Field(description="the model that was measured")
    value: Share = Field(description="score as a fraction of 1")
    source: str = Field(description="source of the score")
    decoding: str = Field(description="how its samples were drawn")
    n: Count | None = Field(None, description="problems of the source; absent if it does not say")
    k: Count | None = Field(None, description="samples of each problem; absent if it does not say")
    mean: PublishedMean | None = Field(None, description=MEANS)
    of: ScoreOwner | None = Field(
        None,
        description="why it is shown: the name of the model under test is this one, begins with it, or the "
        "suite says so; absent in the page of a task",
    )


Unanswered = Literal["wrong", "excluded"]
"""What an answer that is empty, cut off or never left its trace counts as."""


class ReportedScale(JsonRecord):
    """The figure that a benchmark reports, as a straight line over the score from 0 to 1.

    The score of a task is 1 for what is wanted, so that a loss is a loss everywhere. The reported figure may
    have another range (1 to 10), and it may be better if it is lower (attack success).
    """

    name: str = Field(description="the figure's name in the field")
    worst: float = Field(description="the figure at a score of 0")
    best: float = Field(description="the figure at a score of 1")
    of_macro: bool = Field(default=False, description="whether it is made from the mean over strata")

    @property
    def better(self) -> Literal["higher", "lower"]:
        """Return in which direction the figure is better."""
        return "lower" if self.best < self.worst else "higher"

    def of(self, score: float) -> float:
        """Return the figure at a score."""
        return self.worst + (self.best - self.worst) * score

    def bounds(self, ci: tuple[float, float]) -> tuple[float, float]:
        """Return the figures at both ends of an interval of the score, the lower one first."""
        low, high = sorted(map(self.of, ci))
        return low, high


MACRO_JOINT = " + "
MacroMean = Literal["plain", "harmonic"]
"""The mean over the values of a stratum. `harmonic` adds a point to each, and the mean keeps it (BBEH)."""


@dataclass(frozen=True, slots=True)
class TaskInfo:
    """The facts about a benchmark that are known without reading its data."""

    name: str
    version: str
    """The version, which changes if the prompt, the references or the grading of the task change."""
    summary: str
    dataset: HubDataset | None
    k: int
    verifier: str
    verifier_options: Mapping[str, Any] = field(default_factory=dict)
    licence: str = "not stated"
    metrics: tuple[str, ...] = ("avg@k", "pass@k", "maj@k")
    chance: float | None = None
    """Score of blind guessing in [0, 1]; None if it is zero."""
    headline: str = "avg@k"
    shots: tuple[tuple[str, str], ...] = ()
    """(question, answer) pairs for a few-shot prompt of a base model."""
    published: tuple[PublishedScore, ...] = ()
    """Scores that others report for known models, see tasks/published.py."""
    asks_alike: bool = False
    """Whether every sample of a problem gets the same prompt, so that the task is asked once for all of
    them."""
    protocol: str = "genbench"
    """Whose words, exemplars and extraction are used: genbench's own, or those of a source."""
    family: str = "other"
    """What the benchmark measures: knowledge, maths, code … (see tasks/page/model.py)."""
    languages: tuple[str, ...] = ("en",)
    """Codes of the languages of its questions."""
    macro: str | None = None
    """The stratum whose values count alike in the macro mean, or None if there is no such mean."""
    sources: tuple[HubDataset, ...] = ()
    """Datasets whose texts a task puts into rows that it generates."""
    is_scored: bool = False
    """Whether the model scores given texts instead of drawing an answer. Then k is 1."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """By value of that stratum, its weight in the macro mean. Empty: all count alike."""
    macro_mean: MacroMean = "plain"
    """Which mean of that stratum's values the macro mean is."""
    macro_spread: bool = False
    """Whether those values ask the same questions, so that their distance is a result of its own."""
    macro_lists: bool = False
    """Whether that stratum is a list of values, joined by `MACRO_JOINT`. A problem counts in each."""
    unanswered: Unanswered = "wrong"
    reported: ReportedScale | None = None
    """The figure that the benchmark reports, if it is not the score itself."""
    sensitive: bool = False
    """Whether prompts and answers may do harm. They stay in the run folder unless someone asks for them."""


@runtime_checkable
class Task(Protocol):
    """One benchmark: how its rows are read, asked and graded. It uses no disk, network or clock.

    A plug-in without a dataset on the hub may have a further method `rows()` that returns its rows.
    """

    @property
    def info(self) -> TaskInfo:
        """Return the facts of the benchmark: its name, data, verifier and metrics."""
        ...

    def problems(self, rows: Sequence[Row]) -> list[Problem]:
        """Return all problems in the dataset's order. Their ids are unique and stable."""
        ...

    def ask(self, problem: Problem, sample_index: int, replies: Sequence[str]) -> Ask | None:
        """Return what to ask after `replies` (the answers so far, without traces). None ends the sample."""
        ...


@runtime_checkable
class Verifier(Protocol):
    """A verifier, which checks cases one at a time in its own worker process (see verifiers/pool/).

    It is made as `Verifier(**options)` with the JSON options of its task. A wrong answer is a finding.
    An exception is a defect and becomes `verifier_error`.
    """

    @property
    def version(self) -> str:
        """Return everything that can change a finding: own version, libraries, modes.

        It is part of the digest.
        """
        ...

    def time_limit_s(self, case: Case) -> float:
        """Return the wall seconds after which the worker is killed and the sample becomes `timeout`.

        Where more processes want a core than there are cores, it has as many times longer, up to four times.
        """
        ...

    def verify(self, case: Case) -> Finding:
        """Return the finding on one case."""
        ...

    def close(self) -> None:
        """Release what the verifier has opened (a sandbox, a file)."""
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


class Engine(ABC):
    """An engine, which turns requests into completions. Derive from it, and write the first three methods.

    It is started once, used by many tasks at the same time, and closed once. How a suite names and
    configures an engine is described in genbench/engines/kind.py. What an engine can do or tell beyond the
    first three methods has a default.
    """

    @abstractmethod
    async def start(self) -> None:
        """Get ready to answer: load a model, or wait for a server.

        Raises:
            EngineDiedError: the engine was killed from outside. Another one is started.
            EngineError: it cannot be started. The message says why and what to do.
        """

    @abstractmethod
    async def generate(self, request: Request, attempt: int) -> Completion:
        """Return the completion of one request. `attempt` numbers the commands that wrote the run folder.

        Sampling follows the task's decoding (see engines/kind.py) with `request.seed` and
        `request.max_tokens`. Token counts are None if they are unknown.

        Raises:
            RequestFailedError: this request is refused. Its sample becomes `engine_error`.
            RequestStuckError: no answer came in all tries. The sample is drawn again later.
            EngineDiedError: the engine is gone. Another one is started and draws what it had.
            EngineError: no request can be answered any more. The run ends.
        """

    @abstractmethod
    async def close(self) -> None:
        """Release everything. This is also called for an engine whose start failed."""

    async def score(self, request: ScoreRequest, attempt: int) -> Completion:
        """Return the log-probabilities of given continuations, as a completion without text.

        `Completion.choices` has one entry for each choice of the request. Errors are those of `generate`.
        """
        raise EngineError(
            f"task {request.sample.task} scores given texts, and {type(self).__name__} has no method "
            "`score`; use engine.kind vllm"
        )

    def serve(self, settings: Any) -> Engine:
        """Return the engine as one more model uses it, whose settings have an equal `share_key`.

        What is returned is started before its first request, and its `start` may wait for a free place.
        Closing it ends the use by that model, and the engine stays up.
        """
        raise EngineError(f"{type(self).__name__} has a share_key and no method 'serve'; add one")

    @property
    def facts(self) -> Mapping[str, Any]:
        """Return JSON on how the engine was loaded and worked, for the record of an attempt.

        It is read before `close`.
        """
        return {}

    @property
    def tokens_made(self) -> int:
        """Return the tokens of all requests so far, those of running requests among them. 0: not counted."""
        return 0

    @property
    def kv_tokens(self) -> int | None:
        """Return how many tokens fit into the engine's KV cache, or None if unknown. Known after `start`.

        Several engines that know it are kept equally busy.
        """
        return None

    def has_begun(self, sample: SampleId) -> bool:
        """Tell whether the engine computes a sample already. Another engine may get one that waits."""
        return True

    @property
    def others_in_flight(self) -> int:
        """Return how many requests of other models are in the engine."""
        return 0

    @property
    def is_wanted(self) -> bool:
        """Tell whether another model waits until this engine is closed."""
        return False


class JudgeEngine(Protocol):
    """An LLM judge's engine. It is started once, used by many tasks at the same time, and closed once."""

    @property
    def record(self) -> Mapping[str, Any]:
        """Return who answers, for the manifest: an identity, or what a server declares."""
        ...

    @property
    def workers(self) -> int:
        """Return how many questions are answered at the same time."""
        ...

    async def start(self) -> None:
        """Get ready to answer. Raise EngineError if that fails."""
        ...

    async def reply(self, question: Question) -> str:
        """Return the judge's whole reply.

        Raises:
            RequestFailedError: this question is refused. The judge still works.
            RequestStuckError: no reply came in all tries. The judge may still work.
        """
        ...

    async def close(self) -> None:
        """Release everything."""
        ...


class History(Protocol):
    """What a ledger knows of the runs of a track. `registry.HISTORY` opens one.

    Each method raises InputError if there is no such track, or what is asked for is not there any more.
    """

    def stored_runs(self, track: str) -> list[Path]:
        """Return the folders of the newest runs that are there, from old to new."""

    def previous_runs(self, track: str, tested: Path) -> list[Path]:
        """Return the folders of the base, of the earlier runs from old to new, and the tested one."""

    def night_noise(self, track: str) -> Mapping[str, float]:
        """Return by task the variance of the nights themselves."""


class View(Protocol):
    """How a notebook shows a record that has several pictures. `registry.VIEWS` has those of annexes."""

    def head(self, record: Any) -> Markup:
        """Return what stands above the pictures."""

    def names(self, record: Any) -> list[str]:
        """Return the names of its pictures."""

    def picture(self, record: Any, name: str) -> tuple[Markup, str]:
        """Return a picture as SVG, and its styles in addition to those of a report."""
