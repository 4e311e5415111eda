"""The records of manifest.json: the model, suite, terms, tasks, track position and attempts of a run."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import Any, Literal

from pydantic import ConfigDict, Field

from genbench.data.subset import nested_subset
from genbench.json_record import Count, JsonRecord, Share, SignedShare
from genbench.protocols import PublishedScore, ReportedScale, Unanswered
from genbench.safetext.redaction import hidden, secrets_of, without_secrets
from genbench.stats.adaptive.looks import NightLookRecord, TaskDecision
from genbench.store.seal import SealRecord
from genbench.suite.track import TrackKind, TrackName
from genbench.types import UNRATED

TrackRole = Literal["point", "anchor"]
_EPOCH = date(1970, 1, 1)
_LAST = 1 << 53
"""The largest position. Larger whole numbers are no longer exact in JSON readers."""


class TrackRecord(JsonRecord):
    """The place of a run in a track, an ordered series of runs that is watched for changes."""

    name: TrackName = Field(description="name of the track")
    kind: TrackKind = Field(description="night: one run each night; step: checkpoints of one training run")
    position: int = Field(
        ge=0, le=_LAST, description="the night as days since 1970-01-01, or the training step"
    )
    role: TrackRole = Field(
        default="point", description="point: what is watched; anchor: the base's model, drawn again"
    )

    @property
    def label(self) -> str:
        """The position as people read it: `2026-11-22`, or `step-1000`."""
        return position_label(self.kind, self.position)


@lru_cache(maxsize=8192)  # a page names the same nights again and again
def position_label(kind: TrackKind, position: int) -> str:
    """Return a position as people read it: `2026-11-22` for a night, `step-1000` for a step."""
    if kind == "step":
        return f"step-{position}"
    try:
        return (_EPOCH + timedelta(days=position)).isoformat()
    except OverflowError:  # a number that no night of the calendar has
        return f"night-{position}"


def night_position(night: date) -> int:
    """Return the position of a night: days since 1970-01-01."""
    return (night - _EPOCH).days


class BaseRecord(JsonRecord):
    """The stored run that an adaptive run is compared with."""

    path: str = Field(description="its run folder")
    uid: str = Field(description="UUID of its run")
    model: str = Field(description="name of its model")
    model_identity: str = Field(description="digest of its weights, or of its ready responses")
    digest: str = Field(description="digest of the scores that the looks compare with")


class TaskPlan(JsonRecord):
    """The planned looks of one task."""

    n: Count = Field(description="problems of the whole run, over all its shards")
    k: Count = Field(description="most samples of each problem")
    by_problems: bool = Field(description="whether the looks are at shares of the problems, not of samples")
    steps: tuple[Count, ...] = Field(description="samples of each problem, or problems, at each look")
    fractions: tuple[Share, ...] = Field(description="planned share of the information at each look")
    cuts: tuple[str, ...] = Field(
        description="if by problems: a problem is drawn from the first look on whose cut is not below the "
        "sha256 of its group or id"
    )
    sure: tuple[str, ...] = Field(
        description="problems that base always or never solved: a quarter of the samples until the last look"
    )
    margin: Share = Field(description="loss that counts as none")
    gating: bool = Field(description="whether the task decides")
    alpha: Share = Field(description="error of a false REGRESSED over all looks at this task")
    interval: tuple[Share, ...] = Field(description="confidence of the repeated interval at each look")


SURE_PART = 4
"""Before the last look a sure problem gets one of so many samples, see stats.lookplan."""


class AdaptivePlan(JsonRecord):
    """The plan of an adaptive run. It is a term: a folder is not continued under another plan."""

    base: BaseRecord = Field(description="stored run that the looks compare with")
    alpha: Share = Field(description="error of a false REGRESSED over all looks and gating tasks")
    drop_spending: Literal["obf"] = Field(default="obf", description="how the error of REGRESSED is spent")
    bound_spending: Literal["pocock"] = Field(
        default="pocock", description="how the error of NON_INFERIOR is spent"
    )
    pooled_margin: Share = Field(
        description="loss of the pooled difference that must be excluded before decided tasks stop"
    )
    tasks: dict[str, TaskPlan] = Field(description="by name")


class ConfirmationRecord(JsonRecord):
    """A task that REGRESSED, drawn once more with fresh seeds."""

    samples: Count = Field(description="fresh samples")
    difference: SignedShare | None = Field(description="tuned - base over the fresh samples only")
    p: Share = Field(description="exact one-sided p value of a drop in the fresh samples only")


class AdaptiveState(JsonRecord):
    """How far an adaptive run is."""

    reached: dict[str, Count] = Field(description="look of each task that is drawn now, or was drawn last")
    decisions: dict[str, TaskDecision] = Field(default_factory=dict, description="of the decided tasks")
    looks: tuple[NightLookRecord, ...] = Field(default=(), description="looks in order")
    is_over: bool = Field(default=False, description="whether no task draws any more")
    confirming: tuple[str, ...] = Field(default=(), description="tasks that are drawn with fresh seeds")
    confirmations: dict[str, ConfirmationRecord] = Field(default_factory=dict, description="by task")


class AdaptiveRecord(JsonRecord):
    """An adaptive run: its plan and its state."""

    plan: AdaptivePlan = Field(description="as it was before the first draw")
    state: AdaptiveState = Field(description="as of the last look")

    def counts(self, task: str, problems: Mapping[str, Mapping[str, Any]]) -> dict[str, int] | None:
        """Return the samples in force of each problem that has any, or None for a task without a plan.

        Args:
            problems: the lines of problems.jsonl by id.
        """
        plan = self.plan.tasks.get(task)
        if plan is None:
            return None
        return plan_counts(plan, self.state.reached[task], {k: v.get("group") for k, v in problems.items()})


def plan_counts(plan: TaskPlan, look: int, groups: Mapping[str, str | None]) -> dict[str, int]:
    """Return the samples of each problem at a look, without those that are not drawn by then.

    Args:
        groups: the group of each problem by id.
    """
    sure = frozenset(plan.sure)
    most = plan.k if plan.by_problems else plan.steps[look - 1]
    last = look == len(plan.steps) and not plan.by_problems
    few = most if last else max(1, most // SURE_PART)
    cut = plan.cuts[look - 1] if plan.by_problems else None
    return {
        name: few if name in sure else most
        for name, group in groups.items()
        if cut is None or place_of(name, group) <= cut
    }


def place_of(problem_id: str, group: str | None) -> str:
    """Return where a problem is in the order of drawing. Problems of one group are at one place."""
    text = problem_id if group is None else f"group {group}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class SuiteRecord(JsonRecord):
    """The suite that was run."""

    name: str = Field(description="the suite's name")
    path: str = Field(description="path of the suite file")
    overrides: tuple[str, ...] = Field(description="changes by `--set`, in order")
    digest: str = Field(description="sha256 of the whole configuration")
    git: str | None = Field(description="commit of the suite's folder, with + if it was dirty")
    config: dict[str, Any] = Field(description="whole configuration, see suites/suite.schema.json")


class OriginRecord(JsonRecord):
    """The origin of a run's data, from which `genbench score` and `genbench merge` read it again."""

    data_dir: str | None = Field(
        default=None, description="folder with a mirror of the data; null if the hub was used"
    )
    limit: int | None = Field(default=None, description="value of `--limit` in the last command")
    problems: dict[str, tuple[str, ...]] | None = Field(
        default=None, description="the problems of each task, if a subset was answered or merged"
    )
    tasks: tuple[str, ...] = Field(default=(), description="the tasks of the last command")
    shard: str | None = Field(default=None, description="I/N if the folder is one part of a job array")
    whole: dict[str, Count] = Field(default_factory=dict, description="problems of each task before sharding")
    command: str = Field(default="", description="the command line")


MetaValue = float | bool | str
"""A value of the user's own. Numbers can be the axis of a chart."""


class AboutRecord(JsonRecord):
    """What the user says about a run. It changes no score, and nothing is compared by it."""

    tags: tuple[str, ...] = Field(default=(), description="words by which the run is found")
    note: str = Field(default="", description="what people should know of the run")
    meta: dict[str, MetaValue] = Field(
        default_factory=dict, description="values of the user's own by name, such as those of the trainer"
    )

    def over(self, before: AboutRecord) -> AboutRecord:
        """Return what was said before, with what is said now added."""
        joined = {
            "tags": tuple(dict.fromkeys((*before.tags, *self.tags))),
            "note": self.note or before.note,
            "meta": {**before.meta, **self.meta},
        }
        return AboutRecord.model_validate({key: value for key, value in joined.items() if value})


class ModelRecord(JsonRecord):
    """The model under test, with the suite's settings for it.

    It has any key and any value that a suite's model may have had, so that runs of other versions are read.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str = Field(description="name of the model in the suite")
    path: str = Field(description="a local folder, a hub id, or shipped:checkpoints/NAME")
    revision: str | None = Field(default=None, description="hub commit")
    adapter: str | None = Field(default=None, description="LoRA adapter")
    dtype: str = Field(default="bfloat16", description="data type of the weights")
    tokenizer: str | None = Field(default=None, description="a tokenizer other than the model's own")
    chat_template: str | None = Field(default=None, description="a file that replaces the model's template")
    chat_template_kwargs: dict[str, Any] = Field(
        default_factory=dict, description="arguments of the chat template"
    )
    system_prompt: str | None = Field(default=None, description="system prompt of every chat")
    prompt_style: str = Field(default="chat", description="chat, plain or few_shot")
    shots: int = Field(default=4, description="number of exemplars if the style is few_shot")
    trust_remote_code: bool = Field(description="whether the model's own code was run")
    server: dict[str, Any] | None = Field(default=None, description="servers of the model, with engine http")
    effort: dict[str, dict[str, Any]] | None = Field(
        default=None, description="the effort by its name, and what it sets; absent without one"
    )


class ReasoningRecord(JsonRecord):
    """The tags and tokens that separate reasoning traces from answers."""

    format: str = Field(description="name of the trace format")
    open: tuple[str, ...] = Field(description="tags that open a trace")
    close: tuple[str, ...] = Field(description="tags that close a trace")
    end_tokens: tuple[str, ...] = Field(description="special tokens that end a turn")
    # Left out if empty, so that formats of the table keep the keys of tasks that were stored before.
    answer_marks: tuple[str, ...] = Field(
        default=(),
        description="tokens around parts of an answer, of a format that is described by the tokenizer",
        exclude_if=lambda marks: not marks,
    )


class VerifierRecord(JsonRecord):
    """The verifier of a task."""

    name: str = Field(description="name of the verifier in the suite")
    version: str = Field(description="version of everything that can change a finding")
    digest: str = Field(description="digest of name, options and version, which every verdict carries")


class OpponentRecord(JsonRecord):
    """The stored run with whose answers the answers are compared."""

    name: str = Field(description="name of the opponent's model")
    identity: str = Field(description="digest of the opponent's model")
    digest: str = Field(description="digest of the opponent's answers")


class CanaryRecord(JsonRecord):
    """The results of a judge on cases with known labels."""

    labels: dict[str, str | None] = Field(description="label by case; null if no verdict was read")
    drifted: tuple[str, ...] | None = Field(description="cases that moved since the pin; null if not pinned")
    kappa: float | None = Field(
        default=None,
        description="agreement with the calibration labels beyond chance: of the whole set if it is pinned, "
        "else of the canary cases; null if it is not defined",
    )
    accuracy: Share | None = Field(default=None, description="share of those labels that it gave")
    verdicts: Count | None = Field(default=None, description="number of those labels")


class JudgeRecord(JsonRecord):
    """The LLM judge of a task."""

    name: str = Field(description="name in the judge file")
    digest: str = Field(description="digest of everything that can change a verdict")
    form: str = Field(description="label, pairwise, rubric …, or the name of a plug-in's form")
    in_pairs: bool = Field(default=False, description="whether answers are compared with an opponent's")
    reads: bool = Field(
        default=False, description="whether it reads answers for the verifier before it, and grades none"
    )
    prompt_digest: str = Field(description="digest of the judge's prompt")
    unpinned: bool = Field(
        description="whether its revision is not pinned, so that verdicts cannot be reproduced"
    )
    cascade: tuple[str, ...] = Field(description="verifiers in order, with the judge last")
    statuses: dict[str, str] = Field(description="status of each label")
    baseline: OpponentRecord | None = Field(description="the opponent of pairs; null if there is none")
    engine: dict[str, Any] = Field(description="the judge's engine or server as it describes itself")
    canary: CanaryRecord | None = Field(description="labels of the canary cases; null if nothing was asked")


class TaskRecord(JsonRecord):
    """One task of a run, as the manifest describes it."""

    judge: JudgeRecord | None = Field(default=None, description="the judge; absent if no LLM judges the task")
    version: str = Field(description="version of the task: its prompt, references and grading")
    protocol: str = Field(
        default="genbench",
        description="whose words, exemplars and extraction are used; absent if they are genbench's own",
    )
    k: Count = Field(description="samples of each problem")
    n: Count = Field(description="problems in force")
    of: Count = Field(description="problems of the whole task")
    role: str = Field(description="validation or test")
    gating: bool = Field(description="whether the gate counts the task")
    margin: float | None = Field(gt=0, le=100, description="non-inferiority margin in points of 100")
    headline: str = Field(description="metric that represents the task")
    metrics: tuple[str, ...] = Field(description="all metrics")
    chance: Share | None = Field(description="score of blind guessing; null if it is zero or unknown")
    published: tuple[PublishedScore, ...] = Field(default=(), description="scores that others report")
    unanswered: Unanswered = Field(
        default="wrong",
        description="what samples without an answer count as; absent if they are wrong",
    )
    refused: Literal["wrong", "excluded"] = Field(
        default="wrong",
        description="what prompts count as that a server refuses; absent if they are wrong",
    )
    reported: ReportedScale | None = Field(
        default=None, description="the figure that the benchmark reports; absent if it is the score"
    )
    sensitive: bool = Field(
        default=False,
        description="whether prompts and answers may do harm, so that reports and exports leave them out; "
        "absent if they do not",
    )
    decoding: dict[str, Any] = Field(description="sampling fields without the run seed")
    verifier: VerifierRecord = Field(description="verifier that graded the answers")
    data: dict[str, Any] = Field(default_factory=dict, description="source of the rows")
    data_digest: str | None = Field(description="sha256 of the rows")

    @property
    def excludes_unanswered(self) -> bool:
        """Whether there may be samples without an answer that count neither way."""
        return "excluded" in (self.unanswered, self.refused)

    @property
    def is_unrated(self) -> bool:
        """Whether its answers are shown to people and never scored."""
        return self.verifier.name == UNRATED


class AttemptRecord(JsonRecord):
    """One command that worked on the folder. The keys from `ended` on are absent if it was killed."""

    attempt: Count = Field(description="number of the attempt, from 1")
    started: str = Field(description="start in local time with offset")
    pid: int = Field(default=0, description="process id")
    circumstances: dict[str, Any] = Field(description="settings that change only rounding or speed")
    reused: Count = Field(default=0, description="samples that were on disk when it began")
    ended: str | None = Field(default=None, description="end in local time with offset")
    interrupted: str | None = Field(default=None, description="the signal or limit that stopped it")
    drawn: Count = Field(default=0, description="samples drawn")
    verdicts: Count = Field(default=0, description="verdicts made")
    completion_tokens: Count = Field(default=0, description="tokens drawn")
    generation_s: float = Field(default=0.0, description="seconds of drawing")
    seconds: float = Field(default=0.0, description="seconds of the whole attempt")
    healed_bytes: Count = Field(default=0, description="bytes of torn lines that were cut")
    gpu_busy: dict[str, float] | None = Field(default=None, description="busy share of the drawing by GPU")
    engines: dict[str, Any] = Field(default_factory=dict, description="choices and statistics of each engine")

    @property
    def has_ended(self) -> bool:
        """Whether the command recorded its end. A killed command does not."""
        return self.ended is not None


class MergedRecord(JsonRecord):
    """The folders that were merged into this one."""

    from_: tuple[str, ...] = Field(alias="from", description="paths of the merged folders")
    attempts: Count = Field(description="attempts of the merged folders in all")


class ScoredRecord(JsonRecord):
    """One `genbench score` on the folder."""

    at: str = Field(description="local time with offset")
    again: bool = Field(description="whether all verdicts were made anew")


class EditRecord(JsonRecord):
    """A file that was changed by hand, as a command found it that continued the run or scored it again."""

    file: str = Field(description="path in the run folder")
    found: str = Field(description="local time with offset of the command that found it")

    def __str__(self) -> str:
        return f"{self.file} was changed by hand, as a command on the run found at {self.found}"


class TakenRecord(JsonRecord):
    """Samples of one task that were copied from an earlier run, because nothing about them changed."""

    task: str = Field(description="the task")
    run: str = Field(description="folder in which the samples were drawn")
    samples: Count = Field(description="number of samples")


class TaskBinding(JsonRecord):
    """The properties of a task that may not change while its folder is continued."""

    version: str = Field(description="version of the task")
    data_digest: str | None = Field(description="sha256 of the rows")
    decoding: dict[str, Any] = Field(description="sampling fields")


class Binding(JsonRecord):
    """The properties that identify a folder's run. A folder is continued only if all of them are the same."""

    model_identity: str = Field(description="digest of the weights, or of the ready responses")
    run_seed: Count = Field(description="run seed, from which every sample's seed derives")
    terms: dict[str, Any] = Field(description="decoding contract: everything that shapes the draws")
    reasoning: ReasoningRecord = Field(description="format by which traces are told from answers")
    tasks: dict[str, TaskBinding] = Field(description="by name")


class Manifest(JsonRecord):
    """The content of manifest.json: the model, suite, terms, tasks and attempts of a run."""

    format: int = Field(description="version of the run folder's format")
    uid: str | None = Field(
        default=None,
        pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
        description="UUID of this run, written once; absent in older runs, see `run_uid`",
    )
    run_id: str = Field(description="name of the run in the seeds of resampling")
    track: TrackRecord | None = Field(
        default=None, description="place in a track; absent if the run belongs to none"
    )
    suite: SuiteRecord = Field(description="suite that was run")
    origin: OriginRecord = Field(description="source of the data, and the options of the commands")
    model: ModelRecord = Field(description="the model under test")
    model_identity: str = Field(description="digest of the weights, or of the ready responses")
    run_seed: Count = Field(description="run seed, from which every sample's seed derives")
    terms: dict[str, Any] = Field(description="decoding contract: everything that shapes the draws")
    reasoning: ReasoningRecord = Field(description="format by which traces are told from answers")
    tasks: dict[str, TaskRecord] = Field(description="by name")
    warnings: tuple[str, ...] = Field(default=(), description="reservations about the run")
    created: str | None = Field(default=None, description="time at which the folder was created")
    attempts: tuple[AttemptRecord, ...] = Field(default=(), description="attempts in order")
    test_uses: Count = Field(default=0, description="commands that used a task of role test")
    merged: MergedRecord | None = Field(
        default=None, description="merged folders; absent if nothing was merged"
    )
    scored: tuple[ScoredRecord, ...] = Field(
        default=(), description="times at which the run was scored again; absent if there are none"
    )
    taken_over: tuple[TakenRecord, ...] = Field(
        default=(), description="samples of an earlier run; absent if all were drawn here"
    )
    adaptive: AdaptiveRecord | None = Field(
        default=None, description="plan and looks of an adaptive run; absent if all samples are drawn"
    )
    architecture: dict[str, Any] = Field(
        default_factory=dict,
        description="config.json of the checkpoint, without what changes no score; absent if none was read",
    )
    drawn: dict[str, SealRecord] = Field(
        default_factory=dict,
        description="seal of each task's completions after the last drawing; absent in older runs",
    )
    edited: tuple[EditRecord, ...] = Field(
        default=(), description="files that were changed by hand and then scored; absent if none"
    )
    about: AboutRecord = Field(
        default=AboutRecord(), description="tags, note and values of the user's own; absent if there are none"
    )

    @property
    def run_uid(self) -> str:
        """The UUID of the run. For a run of an older version it is made of what identifies the run."""
        parts = (self.run_id, self.created, self.model.name, self.suite.digest)
        return self.uid or str(uuid.uuid5(uuid.NAMESPACE_OID, "\0".join(map(str, parts))))

    def interval_level(self, task: str) -> float:
        """Return the confidence of a task's intervals: 95 %, or that of the last look of an adaptive run."""
        if self.adaptive is None or task not in self.adaptive.plan.tasks:
            return 0.95
        return self.adaptive.plan.tasks[task].interval[self.adaptive.state.reached[task] - 1]

    def is_rollout(self, task: str) -> bool:
        """Return whether a harness asked in this task."""
        decoding = self.terms.get("decoding")
        terms = decoding.get(task) if isinstance(decoding, Mapping) else None
        return isinstance(terms, Mapping) and "agent" in terms

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
        tasks = {
            name: TaskBinding(version=task.version, data_digest=task.data_digest, decoding=task.decoding)
            for name, task in self.tasks.items()
        }
        same = {name: getattr(self, name) for name in Binding.model_fields if name != "tasks"}
        return Binding(**same, tasks=tasks)


def drawn_ids(ids: Sequence[str], counts: Mapping[str, int] | None) -> list[str]:
    """Return the problems that have samples in an adaptive run, in their order. None keeps all."""
    return [name for name in ids if counts is None or counts.get(name)]


def ids_in_force(name: str, ids: list[str], manifest: Manifest) -> list[str]:
    """Return those problems of a task that the last command used, in the order of `ids`.

    If the manifest names them, they are its own texts, so that a million ids are in memory once.
    """
    chosen = (manifest.origin.problems or {}).get(name)
    if chosen is None:
        return nested_subset(ids, manifest.tasks[name].n)
    kept = {problem: problem for problem in chosen}
    return [kept[problem] for problem in ids if problem in kept]
