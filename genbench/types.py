"""What travels through the house: frozen records, one per noun of the glossary in ARCHITECTURE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

TraceStatus = Literal["absent", "closed", "unclosed"]
FinishReason = Literal["stop", "length", "abort", "error"]
Status = Literal[
    "correct",
    "partial",
    "wrong",
    "no_answer",
    "truncated",
    "unclosed_trace",
    "format_error",
    "timeout",
    "runtime_error",
    "memory",
    "output_limit",
    "no_code",
    "unscored",
    "verifier_error",
    "engine_error",
    "unavailable",
]
STATUSES: tuple[Status, ...] = get_args(Status)

OURS: frozenset[Status] = frozenset({"unscored", "verifier_error", "engine_error", "unavailable"})
"""Defects of ours, not of the model: excluded from every metric, counted and shown."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Problem:
    """One dataset row made ready to ask.

    `row` holds what the task needs to ask and to grade; `strata` are the columns that reports
    split by (level, subject, difficulty …); `group` names a cluster above the problem (a passage,
    a template), `None` where each problem stands alone.
    """

    task: str
    problem_id: str
    row: Mapping[str, Any]
    strata: Mapping[str, str] = field(default_factory=dict)
    group: str | None = None
    turns: int = 1
    """User turns of the conversation; each is asked with the answers before it."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What one sample is asked in one turn, and what its answer is checked against.

    `messages` is the whole chat so far (earlier answers without their traces included), `reference`
    is JSON, `order` the option order of a multiple-choice draw (indices into the row's options).
    """

    messages: tuple[Message, ...]
    reference: Any
    order: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class SampleId:
    """The identity of a sample: one draw for one problem of one task."""

    task: str
    problem_id: str
    sample_index: int


@dataclass(frozen=True, slots=True)
class Request:
    """What the engine gets for one turn of one sample."""

    sample: SampleId
    turn: int
    token_ids: tuple[int, ...]
    seed: int
    max_tokens: int
    prompt_digest: str
    prompt: str = ""
    """The prompt as text, for people and for engines that take no token ids."""
    trace_opened: bool = False
    """The prompt ends inside a trace."""
    clamped: bool = False
    """max_tokens was lowered so that prompt and completion fit the context."""
    messages: tuple[Message, ...] = ()
    """The chat that the prompt was rendered from, for servers that render it themselves."""
    structured: Mapping[str, Any] | None = None
    """What the engine must hold the text to: {"choice": [...]} or {"regex": "..."}; None: nothing."""


@dataclass(frozen=True, slots=True)
class Completion:
    """The raw text that came back for one turn of one sample; one line of completions.jsonl.

    Token counts are `None` where nobody counted (ready responses). `seconds` is the time between
    the engine's taking the request and its last token.
    """

    sample: SampleId
    turn: int
    seed: int | None
    prompt_digest: str | None
    text: str
    finish_reason: FinishReason
    prompt_tokens: int | None
    completion_tokens: int | None
    trace_tokens: int | None
    max_tokens: int | None
    attempt: int
    seconds: float | None
    trace_opened: bool = False
    """The prompt ended inside a trace; kept here since the template may be gone at scoring time."""
    prompt: str | None = None
    """Of later turns, for people; the first turn's stands in asks.jsonl, once for all samples."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A completion without its trace: the only text that a verifier may see."""

    text: str
    trace_status: TraceStatus
    trace: str
    truncated: bool
    """The completion was cut off by its length limit."""


@dataclass(frozen=True, slots=True)
class Case:
    """What a verifier is given: the sample's answers, one per turn, and the reference.

    `question` is what was asked, of a conversation all that was said before the last answer (a judge needs
    it; rules do not look at it).
    """

    sample: SampleId
    answers: tuple[Answer, ...]
    reference: Any
    question: str = ""

    @property
    def answer(self) -> Answer:
        """The last turn's answer; the only one where there is one turn."""
        return self.answers[-1]


@dataclass(frozen=True, slots=True)
class Question:
    """One thing that a judge is asked, and what its reply is held to ({"choice": …} or {"regex": …})."""

    messages: tuple[Message, ...]
    structured: Mapping[str, Any]
    max_tokens: int
    seed: int


@dataclass(frozen=True, slots=True)
class Finding:
    """What a verifier found on one case, before truncation and traces are weighed in.

    `score` in [0, 1]; `reason` is the status that holds if the score is 0 (or a defect of ours);
    `extracted` is what was compared, for maj@k and for people; `detail` is JSON for the report.
    `parts` are named sub-scores in [0, 1] (per instruction, per dimension) for further metrics.
    """

    score: float
    reason: Status = "wrong"
    extracted: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verifier's finding on one sample with its final status; one line of verdicts.jsonl."""

    sample: SampleId
    score: float | None
    """In [0, 1]; `None` where the status is a defect of ours."""
    status: Status
    extracted: str | None
    detail: Mapping[str, Any]
    parts: Mapping[str, float]
    verifier: str
    """Digest of the verifier that made it."""
    trace_status: TraceStatus
    truncated: bool


@dataclass(frozen=True, slots=True)
class Estimate:
    """A metric's value with its intervals. Values and bounds are fractions of 1.

    `ci` answers "would it hold on new questions of this kind", `rerun_ci` "would a re-run of this
    checkpoint on these questions give it". `value` is `None` where the metric cannot be given;
    `missing` then says what lacks.
    """

    metric: str
    value: float | None
    n: int
    k: int
    se: float | None = None
    ci: tuple[float, float] | None = None
    ci_method: str = ""
    rerun_ci: tuple[float, float] | None = None
    rerun_ci_method: str = ""
    excluded: int = 0
    bounds: tuple[float, float] | None = None
    """The value with every excluded sample wrong, and with every one right."""
    missing: str | None = None
