"""The records of manifest.json: the model, suite, terms, tasks and attempts of a run."""

from __future__ import annotations

import os
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from genbench.redaction import hidden, secrets_of, without_secrets
from genbench.store.jsonrecord import JsonRecord

Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class SuiteRecord(JsonRecord):
    """The suite that was run."""

    name: str = Field(description="the suite's name")
    path: str = Field(description="the file")
    overrides: tuple[str, ...] = Field(description="what `--set` changed, in order")
    digest: str = Field(description="sha256 of the whole configuration")
    git: str | None = Field(description="commit of the suite's folder, with + if it was dirty")
    config: dict[str, Any] = Field(description="the whole configuration, see suites/suite.schema.json")


class OriginRecord(JsonRecord):
    """The origin of a run's data, from which `genbench score` and `genbench merge` read it again."""

    data_dir: str | None = Field(default=None, description="the mirror of the data; null: the hub")
    limit: int | None = Field(default=None, description="the `--limit` of the last command")
    problems: dict[str, tuple[str, ...]] | None = Field(
        default=None, description="the problems of each task, if a subset was answered or merged"
    )
    tasks: tuple[str, ...] = Field(default=(), description="the tasks of the last command")
    shard: str | None = Field(default=None, description="I/N if the folder is one part of a job array")
    whole: dict[str, Count] = Field(default_factory=dict, description="problems of each task before sharding")
    command: str = Field(default="", description="the command line")


class ModelRecord(JsonRecord):
    """The model under test, with the suite's settings for it."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str = Field(description="its name in the suite")
    path: str = Field(description="a local folder, a hub id, or shipped:checkpoints/NAME")
    revision: str | None = Field(default=None, description="hub commit")
    adapter: str | None = Field(default=None, description="LoRA adapter")
    dtype: str = Field(default="bfloat16", description="of the weights")
    tokenizer: str | None = Field(default=None, description="a tokenizer other than the model's own")
    chat_template: str | None = Field(default=None, description="a file that replaces the model's template")
    chat_template_kwargs: dict[str, Any] = Field(default_factory=dict, description="for the chat template")
    system_prompt: str | None = Field(default=None, description="put before every chat")
    prompt_style: str = Field(default="chat", description="chat, plain or few_shot")
    shots: int = Field(default=4, description="exemplars if the style is few_shot")
    trust_remote_code: bool = Field(description="the model's own code was run")
    server: dict[str, Any] | None = Field(default=None, description="where it is served, with engine http")


class ReasoningRecord(JsonRecord):
    """The tags and tokens that separate reasoning traces from answers."""

    format: str = Field(description="the name of the format")
    open: tuple[str, ...] = Field(description="tags that open a trace")
    close: tuple[str, ...] = Field(description="tags that close it")
    end_tokens: tuple[str, ...] = Field(description="special tokens that end a turn")


class VerifierRecord(JsonRecord):
    """The verifier of a task."""

    name: str = Field(description="as the suite names it")
    version: str = Field(description="everything that can change a finding")
    digest: str = Field(description="of name, options and version; verdicts carry it")


class PublishedRecord(JsonRecord):
    """A score that someone else reported."""

    model: str = Field(description="the model that was measured")
    value: Share = Field(description="fraction of 1")
    source: str = Field(description="where it is reported")
    decoding: str = Field(description="how its samples were drawn")
    of: Literal["this model", "its family", "the suite"] = Field(
        description="why it is shown: the name of the model under test is this one, begins with it, "
        "or the suite says so"
    )


class OpponentRecord(JsonRecord):
    """The stored run with whose answers the answers are compared."""

    name: str = Field(description="its model's name")
    identity: str = Field(description="its model's identity")
    digest: str = Field(description="of its answers")


class CanaryRecord(JsonRecord):
    """The results of a judge on cases with known labels."""

    labels: dict[str, str | None] = Field(description="label by case; null if no verdict was read")
    drifted: tuple[str, ...] | None = Field(description="cases that moved since the pin; null if not pinned")


class JudgeRecord(JsonRecord):
    """The LLM judge of a task."""

    name: str = Field(description="the judge file's name")
    digest: str = Field(description="of everything that can change its verdicts")
    form: str = Field(description="label, pairwise, rubric, checklist, or a form from outside")
    in_pairs: bool = Field(default=False, description="answers are compared with an opponent's")
    prompt_digest: str = Field(description="of its prompt")
    unpinned: bool = Field(description="its revision is not pinned, so its verdicts cannot be made again")
    cascade: tuple[str, ...] = Field(description="the verifiers in order, the judge last")
    statuses: dict[str, str] = Field(description="the status of each label")
    baseline: OpponentRecord | None = Field(description="the opponent of pairs; null if there is none")
    engine: dict[str, Any] = Field(description="who answers, as the engine or server describes itself")
    canary: CanaryRecord | None = Field(description="null if nothing was asked")


class TaskRecord(JsonRecord):
    """One task of a run, as the manifest describes it."""

    judge: JudgeRecord | None = Field(default=None, description="absent if no LLM judges the task")
    version: str = Field(description="of the task: its prompt, references and grading")
    k: Count = Field(description="samples of each problem")
    n: Count = Field(description="problems in force")
    of: Count = Field(description="problems of the whole task")
    role: str = Field(description="validation or test")
    gating: bool = Field(description="the gate counts it")
    margin: float | None = Field(description="non-inferiority margin, points of 100")
    headline: str = Field(description="the metric that represents the task")
    metrics: tuple[str, ...] = Field(description="all metrics")
    chance: Share | None = Field(description="score of blind guessing; null if it is zero or unknown")
    published: tuple[PublishedRecord, ...] = Field(default=(), description="what others report")
    decoding: dict[str, Any] = Field(description="sampling fields; the run seed is kept apart")
    verifier: VerifierRecord = Field(description="what graded the answers")
    data: dict[str, Any] = Field(default_factory=dict, description="where the rows came from")
    data_digest: str | None = Field(description="sha256 of the rows")


class AttemptRecord(JsonRecord):
    """One command that worked on the folder. The keys from `ended` on are absent if it was killed."""

    attempt: Count = Field(description="number from 1")
    started: str = Field(description="local time with offset")
    pid: int = Field(default=0, description="its process")
    circumstances: dict[str, Any] = Field(description="what moves only rounding or speed")
    reused: Count = Field(default=0, description="samples that were on disk when it began")
    ended: str | None = Field(default=None, description="local time with offset")
    interrupted: str | None = Field(default=None, description="the signal or limit that stopped it")
    drawn: Count = Field(default=0, description="samples drawn")
    verdicts: Count = Field(default=0, description="verdicts made")
    completion_tokens: Count = Field(default=0, description="tokens drawn")
    generation_s: float = Field(default=0.0, description="seconds of drawing")
    seconds: float = Field(default=0.0, description="seconds in all")
    healed_bytes: Count = Field(default=0, description="bytes of torn lines that were cut")
    gpu_busy: dict[str, float] | None = Field(
        default=None, description="share of the drawing in which each GPU worked"
    )

    @property
    def has_ended(self) -> bool:
        """Whether the command recorded its end. A killed command does not."""
        return self.ended is not None


class MergedRecord(JsonRecord):
    """The folders that were merged into this one."""

    from_: tuple[str, ...] = Field(alias="from", description="their paths")
    attempts: Count = Field(description="attempts that they had in all")


class ScoredRecord(JsonRecord):
    """One `genbench score` on the folder."""

    at: str = Field(description="local time with offset")
    again: bool = Field(description="all verdicts were made anew")


class TakenRecord(JsonRecord):
    """Samples of one task that were copied from an earlier run, because nothing about them changed."""

    task: str = Field(description="the task")
    run: str = Field(description="the folder that they were drawn in")
    samples: Count = Field(description="how many")


class TaskBinding(JsonRecord):
    """The properties of a task that may not change while its folder is continued."""

    version: str = Field(description="of the task")
    data_digest: str | None = Field(description="sha256 of the rows")
    decoding: dict[str, Any] = Field(description="sampling fields")


class Binding(JsonRecord):
    """The properties that identify a folder's run. A folder is continued only if all of them are the same."""

    model_identity: str = Field(description="who the model is")
    run_seed: Count = Field(description="every sample's seed derives from it")
    terms: dict[str, Any] = Field(description="the decoding contract")
    reasoning: ReasoningRecord = Field(description="how traces are told from answers")
    tasks: dict[str, TaskBinding] = Field(description="by name")


class Manifest(JsonRecord):
    """The content of manifest.json: the model, suite, terms, tasks and attempts of a run."""

    format: int = Field(description="of the run folder")
    run_id: str = Field(description="names the run in the seeds of resampling")
    suite: SuiteRecord = Field(description="what was run")
    origin: OriginRecord = Field(description="where the data came from")
    model: ModelRecord = Field(description="the model under test")
    model_identity: str = Field(description="digest of its weights, or of the ready responses")
    run_seed: Count = Field(description="every sample's seed derives from it")
    terms: dict[str, Any] = Field(description="the decoding contract: what shapes the draws")
    reasoning: ReasoningRecord = Field(description="how traces are told from answers")
    tasks: dict[str, TaskRecord] = Field(description="by name")
    warnings: tuple[str, ...] = Field(default=(), description="what must be said of the run")
    created: str | None = Field(default=None, description="when the folder was begun")
    attempts: tuple[AttemptRecord, ...] = Field(default=(), description="in order")
    test_uses: Count = Field(default=0, description="commands that used a task of role test")
    merged: MergedRecord | None = Field(default=None, description="absent if nothing was merged")
    scored: tuple[ScoredRecord, ...] = Field(default=(), description="absent if nothing was scored again")
    taken_over: tuple[TakenRecord, ...] = Field(
        default=(), description="samples of an earlier run; absent if all were drawn here"
    )

    def without_secrets(self) -> dict[str, Any]:
        """Return the record as JSON values, without secrets of the suite and of environment variables."""
        record = self.to_json()
        secrets = secrets_of(record["suite"]["config"], os.environ)
        record = dict(without_secrets(record, secrets))
        record["suite"]["overrides"] = [hidden(text, secrets) for text in record["suite"]["overrides"]]
        if "command" in record["origin"]:
            record["origin"]["command"] = hidden(record["origin"]["command"], secrets)
        return record

    @property
    def binding(self) -> Binding:
        """The properties that identify this run."""
        return Binding(
            model_identity=self.model_identity,
            run_seed=self.run_seed,
            terms=self.terms,
            reasoning=self.reasoning,
            tasks={
                name: TaskBinding(version=task.version, data_digest=task.data_digest, decoding=task.decoding)
                for name, task in self.tasks.items()
            },
        )
