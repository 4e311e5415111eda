"""The records that packages hand to one another, one per noun of the glossary in docs/architecture.md."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

TraceStatus = Literal["absent", "closed", "unclosed"]
FinishReason = Literal["stop", "length", "content_filter", "loop", "tool_calls", "abort", "error"]
"""Why a completion ended. A server's filter cuts a completion off as a length limit does, and so does
`stop_on_loop`."""
CUT_OFF: frozenset[FinishReason] = frozenset({"length", "content_filter", "loop"})
"""The finish reasons of completions that did not end by themselves."""
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
    "unrated",
    "unscored",
    "verifier_error",
    "engine_error",
    "unavailable",
]
STATUSES: tuple[Status, ...] = get_args(Status)

UNRATED = "none"
"""The verifier of tasks whose answers are drawn and shown to people, and never scored."""
OURS: frozenset[Status] = frozenset({"unscored", "verifier_error", "engine_error", "unavailable"})
"""Statuses of defects in genbench or its environment. Excluded from every metric, counted and shown."""


ReadBy = Literal[
    "box", "tag", "json", "marker", "label", "announcement", "whole", "guess", "judge", "nothing"
]
"""How a verifier read the final answer of a reply: `detail["read_by"]` of a finding, if it reads one at all.

Forms of the protocol: `box` (\\boxed), `tag` (<answer>, <final_answer>), `json` (a field), `marker` (####),
`label` (a line "Answer: …"), `announcement` ("the answer is …"), `whole` (nothing but the answer).
`guess` is the fall-back of a reply without any of them, `judge` a judge of extraction. `nothing`: no answer.
"""
READ_BY: tuple[ReadBy, ...] = get_args(ReadBy)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat. `name` is the function whose result a message of role `tool` is."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """The functions that a sample is offered, as documents (name, description, parameters).

    `form` says how: `template` by the chat template or the server, `prompt` as text in the system message,
    `auto` by the template if it takes tools, else as text. With `are_schemas` the documents are JSON schemas
    as the OpenAI chat API has them, and are shown as they are. Otherwise they have types of many languages.
    """

    documents: tuple[Mapping[str, Any], ...]
    form: Literal["auto", "template", "prompt"] = "auto"
    are_schemas: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """One dataset row made ready to ask.

    `row` contains what the task needs to ask and to grade. `strata` are the columns that reports split by
    (level, subject, difficulty …). `group` names a cluster above the problem (a passage, a template), or is
    None if each problem is independent.
    """

    task: str
    problem_id: str
    row: Mapping[str, Any]
    strata: Mapping[str, str] = field(default_factory=dict)
    group: str | None = None
    turns: int = 1
    """Completions of the conversation. Each is asked with the earlier answers as context."""
    ends_early: bool = False
    """`turns` is only the most. The task says after each answer whether the conversation continues."""
    likely_turns: int | None = None
    """Completions of a likely conversation, for the estimated cost. None means `turns`."""
    recipe: Mapping[str, Any] | None = None
    """What a generated prompt is made from, as JSON. The run folder has it instead of the prompt."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A text that is scored after a context, and after `prior` if given. Its size is that of `counted`."""

    context: str
    text: str
    counted: str
    delimiter: str = " "
    prior: str | None = None


@dataclass(frozen=True, slots=True)
class Scoring:
    """What a model scores for one problem: choices, or a document in windows of `window` tokens."""

    choices: tuple[Choice, ...]
    is_document: bool = False
    window: int | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """What one sample is asked in one turn, and what its answer is checked against.

    `messages` is the whole chat so far, including earlier answers without their traces. If the last one is
    the assistant's, the model continues it: it is part of the prompt and not of the answer. `reference` is
    JSON. `order` is the order in which a multiple-choice sample shows its options (indices into the row's
    options). `max_tokens` lowers the limit of new tokens for this ask, or is None.
    With `scoring` nothing is drawn: the model scores given texts. `speaker` is who is asked: the model under
    test, or the model that plays the user.
    """

    messages: tuple[Message, ...]
    reference: Any
    order: tuple[int, ...] | None = None
    max_tokens: int | None = None
    scoring: Scoring | None = None
    tools: ToolOffer | None = None
    speaker: Literal["model", "user"] = "model"


@dataclass(frozen=True, slots=True)
class SampleId:
    """The identity of a sample: one draw of the model for one problem of one task."""

    task: str
    problem_id: str
    sample_index: int


@dataclass(frozen=True, slots=True)
class Request:
    """What the engine receives for one turn of one sample."""

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
    """The constraint on the text: {"choice": [...]} or {"regex": "..."}. None: unconstrained."""
    tools: tuple[Mapping[str, Any], ...] = ()
    """Tool schemas, for servers that render the chat themselves."""
    speaker: Literal["model", "user"] = "model"


@dataclass(frozen=True, slots=True)
class Continuation:
    """Token ids that are scored, and those of their context, which lacks the question with `is_prior`."""

    choice: int
    context: tuple[int, ...]
    token_ids: tuple[int, ...]
    is_prior: bool = False
    is_merged: bool = False


@dataclass(frozen=True, slots=True)
class TextSize:
    """The size of a choice's text, by which its log-probability is divided."""

    chars: int
    bytes: int
    words: int


@dataclass(frozen=True, slots=True)
class ScoreRequest(Request):
    """A request to score continuations. Without a tokenizer (ready responses) there are none."""

    continuations: tuple[Continuation, ...] = ()
    sizes: tuple[TextSize, ...] = ()
    by_token: bool = False
    """Whether the log-probability of each token is wanted, and not only their sum."""


@dataclass(frozen=True, slots=True)
class ChoiceScore:
    """The sum of the natural log-probabilities of a choice's tokens, and what it is divided by."""

    LEAST_LOGPROB: ClassVar = -1e15  # a million tokens of probability zero have -1e11
    logprob: float
    tokens: int
    chars: int
    bytes: int
    words: int
    greedy: bool
    prior: float | None = None
    merged: bool = False
    by_token: tuple[float, ...] | None = None
    """The log-probability of each token, if the request wants them. They are not stored in a run."""


@dataclass(frozen=True, slots=True)
class Completion:
    """The raw text that came back for one turn of one sample: one line of completions.jsonl.

    Token counts are None if they were not counted (ready responses). `seconds` is the time from the start of
    the request in the engine to its last token.
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
    """The prompt ended inside a trace. Stored because the template may be gone at scoring time."""
    prompt: str | None = None
    """The prompt of a later turn, for people. The first turn's is in asks.jsonl, once for all samples."""
    choices: tuple[ChoiceScore, ...] = ()
    """The scores of given texts, if nothing was drawn."""
    final: bool = False
    """The conversation ended here, before the problem's last turn. Only problems that end early have it."""
    logged: Mapping[str, Any] | None = None
    """What another tool found, from whose log the response is: `score`, `answer`, `why`."""
    offsets: tuple[int, ...] = ()
    """Characters of `text` after 1,024, 2,048, 4,096 … tokens, as far as it goes. Empty: unknown."""
    refused: str = ""
    """Why a server gave no whole answer to the prompt, in its words: a content filter, or the context."""


FIRST_OFFSET = 1024
"""Tokens of the first of a completion's offsets. Each further one has twice as many."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A completion without its trace: the only text that a verifier may see."""

    text: str
    trace_status: TraceStatus
    trace: str
    truncated: bool
    """The completion was cut off by max_tokens, by a content filter or by stop_on_loop."""
    choices: tuple[ChoiceScore, ...] = ()
    """The scores of given texts, if nothing was drawn."""
    logged: Mapping[str, Any] | None = None
    """What another tool found, see `Completion.logged`. Only the verifier `logged` reads it."""


@dataclass(frozen=True, slots=True)
class Case:
    """What a verifier is given: the sample's answers, one per turn, and the reference.

    `question` is what was asked: in a conversation, all that was said before the last answer. For judges.
    """

    sample: SampleId
    answers: tuple[Answer, ...]
    reference: Any
    question: str = ""
    asked: tuple[str, ...] = ()
    """The same for each turn, if a judge grades a conversation. `question` is the last of them."""
    checklist: Any = None
    """The task's own reference, if an opponent's answer takes its place. For judges of pairs."""
    judge_prompt: str = ""
    """What a judge is asked about this row, with {{QUESTION}} and {{ANSWER}}, if the rows have such texts."""

    @property
    def answer(self) -> Answer:
        """Return the answer of the last turn."""
        return self.answers[-1]


@dataclass(frozen=True, slots=True)
class Question:
    """One question to a judge, and the constraint on its reply ({"choice": …} or {"regex": …}).

    With {"first_token": [text, …]} nothing is written. The contents of the messages, joined, are the prompt
    without a chat template. Those of the role `user` are texts of others. Those of the role `assistant` are
    how the reply begins, each in tokens of its own. The reply is a JSON object of the texts with the
    natural log-probability of the first token of each, null if the engine names none.
    """

    messages: tuple[Message, ...]
    structured: Mapping[str, Any]
    max_tokens: int
    seed: int


@dataclass(frozen=True, slots=True)
class Finding:
    """What a verifier found on one case, before truncation and open traces are taken into account.

    `score` is in [0, 1]. `reason` is the status of a score of 0, or a defect of ours. `extracted` is what was
    compared, for maj@k and for people. `detail` is JSON for the report. `parts` are named sub-scores in
    [0, 1] (per instruction, per dimension) for further metrics.
    """

    score: float
    reason: Status = "wrong"
    extracted: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verifier's finding on one sample with its final status: one line of verdicts.jsonl."""

    sample: SampleId
    score: float | None
    """In [0, 1]. None if the status is a defect of ours, or if the task excludes what has no answer."""
    status: Status
    extracted: str | None
    detail: Mapping[str, Any]
    parts: Mapping[str, float]
    verifier: str
    """Digest of the verifier that made it."""
    trace_status: TraceStatus
    truncated: bool


Complete = Callable[[Request], Awaitable[Completion]]
"""Draws one request with the engine of a run and stores the completion."""
Split = Callable[[Completion], Answer]
"""Takes the trace off a completion."""
