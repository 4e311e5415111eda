"""The records of results.json: the scores of a run, its tokens, time and cost, and its notices."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from genbench.analysis.adaptive.results import AdaptiveResults
from genbench.analysis.corpus_metrics import CorpusMetricRecord
from genbench.analysis.instruction_accuracy import InstructionsRecord
from genbench.analysis.likelihood import LikelihoodRecord
from genbench.analysis.reading import ReadCounts
from genbench.analysis.records import Bounded, ExcludedSamples, StratumRecord
from genbench.analysis.results.judge_figures import (
    JudgedRecord,
)
from genbench.analysis.results.means import GroupRecord, MacroRecord
from genbench.analysis.stopping import StoppingRecord
from genbench.errors import InputError, RunFolderError
from genbench.json_record import Count, JsonRecord, Share, ShownRecord
from genbench.protocols import PublishedScore
from genbench.stats.estimates import EstimateRecord
from genbench.store.file_seal import FileSeal
from genbench.store.folder import RunFolder
from genbench.store.manifest import VerifierRecord
from genbench.store.seal import SealRecord
from genbench.types import Status


class TokenSums(JsonRecord):
    """Sums of tokens. All are null if tokens were not counted, as for imported responses."""

    prompt: Count | None = Field(description="tokens of all prompts")
    completion: Count | None = Field(description="tokens of all completions")
    trace: Count | None = Field(description="of the reasoning traces; null if any was not counted")
    answer: Count | None = Field(description="of the answers; null if any trace was not counted")
    per_correct: float | None = Field(description="completion tokens per correct answer")


class TotalTokens(JsonRecord):
    """Sums of tokens over all tasks, each null if any task's is."""

    prompt: Count | None = Field(description="tokens of all prompts")
    trace: Count | None = Field(description="of the reasoning traces")
    answer: Count | None = Field(description="of the answers")
    completion: Count | None = Field(description="tokens of all completions")


class TaskSeal(JsonRecord):
    """The lines of completions.jsonl and verdicts.jsonl that a task's results were made from."""

    completions: SealRecord = Field(description="identity and text of each turn")
    verdicts: SealRecord = Field(description="identity, status, score and extracted answer of each sample")


class RolloutsRecord(JsonRecord):
    """What the rollouts of an agent task took and did. Those that are excluded are left out."""

    count: Count = Field(description="rollouts with a score")
    turns: float = Field(description="completions of the model, mean of a rollout")
    new_tokens: float = Field(description="tokens of its completions, mean of a rollout")
    engine_s: float = Field(description="seconds in which a reply was waited for, mean of a rollout")
    tools_s: float = Field(description="seconds of the harness and its tools, mean of a rollout")
    ended_by: dict[str, Count] = Field(description="rollouts that a limit ended, by limit")
    touched: Count = Field(
        description="rollouts with a command that can find a solution in the history of a repository or in "
        "the network"
    )
    deciding: Count = Field(
        0,
        description="rollouts whose patch touches conftest.py, settings of tests, sitecustomize or *.pth",
    )
    at_limits: Count = Field(0, description="rollouts whose box reached its memory, processes or disk")
    begun_again: Count = Field(description="rollouts that a fault of ours ended at least once")
    replayed: Count = Field(description="requests that were answered with a reply drawn before")
    diverged: Count = Field(description="rollouts that took another way than before they were interrupted")


class ReportedRecord(JsonRecord):
    """The figure that the benchmark reports, made from the score (from the macro mean if there is one)."""

    name: str = Field(description="the figure's name in the field")
    better: Literal["higher", "lower"] = Field(description="in which direction it is better")
    value: float | None = Field(description="the figure; null if the score is missing")
    ci: tuple[float, float] | None = Field(description="95% interval for new questions of this kind")
    bounds: tuple[float, float] | None = Field(
        description="the figure if every excluded sample were one way, and if every one were the other"
    )


class OpenTracesRecord(JsonRecord):
    """Replies that ended by themselves within their trace, so that they have no answer."""

    samples: Count = Field(description="samples with such a reply")
    cause: Literal["stop", "parser", "model"] = Field(
        description="stop: a stop text may be in the trace; parser: the server returned reasoning without "
        "content; model: neither, so the model itself ended its turn"
    )
    stop: tuple[str, ...] = Field(description="the stop texts that the replies ended at")


class TaskResults(EstimateRecord):
    """One task of a run: its headline metric, then everything else that is known about it."""

    metrics: dict[str, EstimateRecord] = Field(description="all metrics by name")
    samples: Count = Field(description="samples with a verdict")
    lacking: Count = Field(description="samples without a verdict")
    status_counts: dict[Status, Count] = Field(description="samples by status")
    trace_counts: dict[str, Count] = Field(description="samples by the status of their trace")
    read_by: ReadCounts | None = Field(
        default=None,
        description="samples by how their answer was read, without excluded ones; absent if no verdict says "
        "it, as in older runs and in tasks whose verifier reads no answer",
    )
    truncated_share: Share | None = Field(
        description="share of samples that were cut off by max_tokens or a content filter, right or wrong"
    )
    replies: dict[str, Count] | None = Field(
        default=None,
        description="samples in which no function call could be read, by what the reply is instead; absent "
        "if there are none",
    )
    open_traces: OpenTracesRecord | None = Field(
        default=None,
        description="replies that ended in an open trace without being cut off; absent if there are none",
    )
    stopping: StoppingRecord | None = Field(
        default=None,
        description="how the replies ended; absent if given texts were scored, and in older runs",
    )
    clamped: Count = Field(description="completions whose max_tokens was lowered to fit the context")
    forgeable: Count | None = Field(
        default=None,
        description="samples that passed tests which a hostile program could fake; absent if there are none",
    )
    tokens: TokenSums = Field(description="sums over the task")
    strata: dict[str, dict[str, StratumRecord]] = Field(description="estimates by column, then by stratum")
    macro: MacroRecord | None = Field(
        default=None, description="mean over strata that count alike; absent unless the task names some"
    )
    reported: ReportedRecord | None = Field(
        default=None, description="the figure that the benchmark reports; absent if it is the score"
    )
    unanswered: Count | None = Field(
        default=None,
        description="samples without an answer, which count neither way and are among `excluded`; of a task "
        "that is never scored all samples; absent if they count as wrong",
    )
    refused: dict[str, Count] | None = Field(
        default=None,
        description="samples whose prompts a server refused, by content_filter or context; absent if there "
        "are none",
    )
    reasons: tuple[ExcludedSamples, ...] | None = Field(
        default=None,
        description="the most frequent reasons why samples were excluded or their prompts refused; absent if "
        "there are none",
    )
    instructions: InstructionsRecord | None = Field(
        default=None, description="absent unless the task checks instructions"
    )
    parts: dict[str, Bounded] | None = Field(
        default=None, description="means of the verifier's other measures by name; absent if it has none"
    )
    likelihood: LikelihoodRecord | None = Field(
        default=None, description="measures of scored texts; absent if answers were drawn"
    )
    corpus: dict[str, CorpusMetricRecord] | None = Field(
        default=None, description="metrics of the whole corpus by name; absent if the task has none"
    )
    rollouts: RolloutsRecord | None = Field(
        default=None, description="turns, tokens and time of agents; absent unless a harness ran"
    )
    judge: JudgedRecord | None = Field(default=None, description="absent if no LLM judges the task")
    of: Count = Field(description="problems of the whole task")
    role: str = Field(description="validation or test")
    chance: Share | None = Field(description="score of blind guessing; null if it is zero or unknown")
    published: tuple[PublishedScore, ...] = Field(default=(), description="what others report")
    verifier: VerifierRecord = Field(description="what graded the answers")
    cost: float | None = Field(default=None, description="cost in the suite's currency; null without a price")
    seal: TaskSeal | None = Field(default=None, description="the lines behind it; absent in older runs")


class TotalsRecord(JsonRecord):
    """Totals of tokens, time and cost of the whole run."""

    samples: Count = Field(description="samples with a verdict")
    drawn: Count = Field(description="samples drawn in all attempts")
    drawn_now: Count = Field(description="samples drawn by the last attempt")
    reused_now: Count = Field(description="samples that were on disk when the last attempt began")
    attempts: Count = Field(description="commands that worked on the folder")
    generation_s: float = Field(description="seconds of drawing in all attempts")
    seconds: float = Field(description="seconds of all attempts")
    tokens_per_s: float | None = Field(description="completion tokens per second of drawing")
    tokens: TotalTokens | None = Field(default=None, description="absent in older runs")
    gpu_busy: Share | None = Field(
        default=None, description="share of the drawing in which the GPUs worked, mean over those used"
    )
    cost: float | None = Field(default=None, description="cost in the suite's currency; null without a price")
    currency: str | None = Field(default=None, description="currency of the suite's price")


class Results(ShownRecord):
    """results.json: the scores of one run."""

    format: int = Field(description="version of the run folder's format")
    run_id: str = Field(description="name of the run in the seeds of resampling")
    suite: str = Field(description="the suite's name")
    model: str = Field(description="the model's name in the suite")
    model_path: str = Field(description="the model's path in the suite")
    model_identity: str = Field(description="digest of its weights, or of the ready responses")
    run_seed: Count = Field(description="run seed, from which every sample's seed derives")
    shard: str | None = Field(default=None, description="I/N if the run is one part of a job array")
    tasks: dict[str, TaskResults] = Field(description="results by task")
    groups: dict[str, GroupRecord] = Field(
        default_factory=dict, description="means of the groups of tasks; absent if the suite names no group"
    )
    totals: TotalsRecord = Field(description="time and tokens of the whole run")
    warnings: tuple[str, ...] = Field(description="reservations about the run")
    trust_remote_code: bool = Field(description="whether the model's own code was run")
    test_uses: Count = Field(description="commands that used a task of role test")
    max_excluded_share: Share = Field(description="largest share of a task's samples that may be excluded")
    sums: str | None = Field(
        default=None, description="sha256 of sums.json, written with this file; absent in older runs"
    )
    manifest: str | None = Field(
        default=None, description="sha256 of manifest.json, written before; absent in older runs"
    )
    digest: str | None = Field(
        default=None, description="sha256 of this file with 64 zeros in this place; absent in older runs"
    )
    files: dict[str, FileSeal] = Field(
        default_factory=dict,
        description="files that were there when this one was written, by their path in the folder; absent in "
        "older runs",
    )
    adaptive: AdaptiveResults | None = Field(
        default=None, description="looks of an adaptive run; absent if all samples were drawn"
    )
    failed: tuple[str, ...] = Field(description="tasks whose numbers must not be used, as lines `TASK: why`")


def read_results(folder: RunFolder) -> Results | None:
    """Read results.json of a run. Return None if the run is not finished.

    Raises:
        RunFolderError: the file cannot be read, or another version of genbench wrote it.
    """
    record = folder.results()
    if record is None:
        return None
    try:
        return Results.from_json(record, str(folder.results_path))
    except InputError as error:
        raise RunFolderError(str(error)) from error
