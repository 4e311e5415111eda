"""The keys of a suite: type, bounds and default of each. Unknown keys are refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePath
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    create_model,
    field_validator,
    model_serializer,
    model_validator,
)

from genbench.suite.block import NAME_PATTERN, PART, BaseUrl, RepliesAs, RequestBody, Strict, not_ours
from genbench.suite.engine import ByKind, DataSource, EngineConfig, Price, default_engine
from genbench.suite.judge import JudgeConfig
from genbench.suite.track import NamedTrack
from genbench.suite.treatment import TreatmentNames
from genbench.types import UNRATED

MAX_SEED = 2**53
IMPORTED = "imported:"
"""What the name of an imported task begins with. The path of its lock file follows."""


T = TypeVar("T", bound=BaseModel)
StopText = Annotated[str, Field(min_length=1)]
TokenId = Annotated[int, Field(ge=0)]


class Decoding(Strict):
    """How completions are sampled. Every value is sent to the engine and written to the manifest.

    The defaults are the decoding that reasoning models are published with (DeepSeek-R1, SmolLM3:
    temperature 0.6, top_p 0.95, 32,768 new tokens).
    """

    temperature: float = Field(0.6, ge=0, le=2)
    top_p: float = Field(0.95, gt=0, le=1)
    top_k: int = Field(0, ge=0, description="number of most likely tokens to sample from; 0 switches it off")
    min_p: float = Field(0.0, ge=0, le=1)
    presence_penalty: float = Field(0.0, ge=-2, le=2)
    frequency_penalty: float = Field(0.0, ge=-2, le=2)
    repetition_penalty: float = Field(1.0, gt=0, le=2)
    max_tokens: int = Field(32768, ge=1, description="new tokens of each turn, the trace included")
    min_tokens: int = Field(0, ge=0)
    stop: tuple[StopText, ...] = ()
    stop_token_ids: tuple[TokenId, ...] = ()
    ignore_eos: bool = False
    thinking_token_budget: int | None = Field(None, ge=1)
    stop_on_loop: bool = Field(
        False,
        description="whether a reply is ended when it repeats itself: 8 or more equal units of up to 128 "
        "tokens, over 640 tokens. It counts as cut off; only with engine.kind vllm",
    )
    seed: int = Field(0, ge=0, le=MAX_SEED, description="run seed, from which every sample's seed derives")

    @field_validator("temperature")
    @classmethod
    def _not_silently_raised(cls, value: float) -> float:
        if 0 < value < 0.01:
            raise ValueError("vLLM raises temperatures below 0.01 to 0.01; write 0 or at least 0.01")
        return value

    @property
    def sampling(self) -> dict[str, Any]:
        """Return the fields that every request is sent with, as JSON. Seed and max_tokens are its own."""
        return self.model_dump(mode="json", exclude={"seed", "max_tokens", "stop_on_loop"})

    @model_serializer(mode="wrap")
    def _as_before(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what is off. Runs that were drawn before there was such a key have equal terms then."""
        record: dict[str, Any] = write(self)
        if not self.stop_on_loop:
            record.pop("stop_on_loop", None)
        return record

    @model_validator(mode="after")
    def _can_be_sampled(self) -> Self:
        if self.min_tokens > self.max_tokens:
            raise ValueError(
                f"min_tokens is {self.min_tokens}, above max_tokens {self.max_tokens}; lower min_tokens"
            )
        return self


def _partial(whole: type[BaseModel], without: str) -> Callable[[type[T]], type[T]]:
    """Return a decorator that gives a block the fields of another one, each of which may be left out.

    Types and bounds stay. Rules between several fields are those of `whole`, which the block is merged into.

    Args:
        without: the field that the block does not have.
    """
    fields: dict[str, Any] = {
        name: (Annotated[field.annotation, Field(), *field.metadata] | None, None)
        for name, field in whole.model_fields.items()
        if name != without
    }

    def derived(block: type[T]) -> type[T]:
        return create_model(
            block.__name__, __base__=block, __doc__=block.__doc__, __module__=block.__module__, **fields
        )

    return derived


@_partial(Decoding, without="seed")
class DecodingOverride(Strict):
    """The decoding keys that one task may set for itself. The run seed belongs to the whole suite."""

    def over(self, base: Decoding) -> Decoding:
        """Return `base` with the keys that are set here."""
        # What nobody set stays unset: a server without such a field is not told it, and need not refuse it.
        return Decoding.model_validate(
            base.model_dump(exclude_unset=True) | self.model_dump(exclude_none=True)
        )


class Effort(Strict):
    """How much a model is asked to think. The keys that are not here are the model's own switches.

    A switch is a variable of the chat template, such as `reasoning_effort` or `enable_thinking`. Where a
    server renders the prompt, it is a field of the request.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    system_prompt: str | None = Field(
        None, min_length=1, description="added to the system prompt, for models that are told there"
    )
    thinking_token_budget: int | None = Field(None, ge=1, description="as under decoding")
    max_tokens: int | None = Field(
        None, ge=1, description="as under decoding. One limit for all cuts the largest effort off"
    )

    @property
    def switches(self) -> dict[str, Any]:
        """Return the model's own switches."""
        return dict(self.__pydantic_extra__ or {})

    @model_validator(mode="after")
    def _switches_are_the_models(self) -> Self:
        not_ours(self.switches)
        return self

    @property
    def decoding(self) -> DecodingOverride:
        """Return the decoding keys that are set here."""
        return DecodingOverride.model_validate(
            {"thinking_token_budget": self.thinking_token_budget, "max_tokens": self.max_tokens}
        )


EffortName = Annotated[str, Field(pattern=NAME_PATTERN)]


class ServedModel(Strict):
    """Where one model is served, and what is declared about it. Its keys override those of the engine."""

    base_urls: tuple[BaseUrl, ...] | None = Field(None, min_length=1)
    model: str | None = Field(None, description="name at the servers; default: the path as written")
    replies_as: RepliesAs = None
    body: RequestBody = Field(
        default_factory=dict,
        exclude_if=lambda body: not body,
        description="further fields of each request, such as {reasoning_effort: low}",
    )
    declared: dict[str, Any] = Field(
        default_factory=dict,
        description="facts that no server can prove, such as quantization; they are terms of the run",
    )


class ModelConfig(Strict):
    """One model under test."""

    path: str = Field(description="a local folder, a hub id, or shipped:checkpoints/NAME")
    revision: str | None = Field(
        None, description="commit on the hub; default: the current one, which is recorded"
    )
    adapter: str | None = Field(None, description="LoRA adapter: a local folder or a hub id")
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "bfloat16"
    tokenizer: str | None = None
    chat_template: str | None = Field(None, description="file that replaces the model's own template")
    chat_template_kwargs: dict[str, Any] = Field(default_factory=dict)
    system_prompt: str | None = None
    prompt_style: Literal["chat", "plain", "few_shot"] = "chat"
    shots: int = Field(4, ge=1, description="number of exemplars under prompt_style few_shot")
    trust_remote_code: bool = False
    server: ServedModel | None = Field(None, description="servers of this model; only with engine.kind http")
    effort: dict[EffortName, Effort] = Field(
        default_factory=dict,
        exclude_if=lambda efforts: not efforts,
        description="efforts by name, from the least to the most. Each is drawn as the model NAME-EFFORT",
    )


class TraceTags(Strict):
    """Tags of a reasoning trace, for a format that has no name."""

    open: str = Field(min_length=1)
    close: str = Field(min_length=1)


class Turn(Strict):
    """One further turn of a conversation."""

    prompt: str
    instructions: str | None = Field(
        None, description="column of instruction ids; only for the kinds ifeval and ifbench"
    )
    kwargs: str | None = Field(
        None, description="column of the instructions' arguments; only for the kinds ifeval and ifbench"
    )


class Reference(Strict):
    """A score to compare a task's own with. Reports show it, and no verdict uses it."""

    model: str = Field(description="model whose score it is")
    value: float | None = Field(None, ge=0, le=100, description="points of 100; default: the published ones")
    source: str = Field("the suite", description="source of the score")
    decoding: str = Field("not stated", description="decoding of the score")


class VerifierEntry(BaseModel):
    """One of several verifiers of a task. Further keys are the options of the verifier."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str | None = Field(
        None, pattern=NAME_PATTERN, description="name of its score; default: that of what it uses"
    )
    kind: str | None = Field(None, description="preset of verifier and columns; only in a task of your own")
    use: str | None = Field(None, description="a verifier's name or package.module:Class")
    reference: str | dict[str, str] | None = Field(
        None, description="column with its references, as in data.fields; default: that of its kind"
    )
    gating: bool = False
    margin: float | None = Field(None, gt=0, le=100, description="loss in points of 100 that counts as none")

    @model_serializer(mode="wrap")
    def _as_written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what is not given: `reference: null` says that there is none."""
        record: dict[str, Any] = write(self)
        return {key: value for key, value in record.items() if key in self.model_fields_set}

    @property
    def options(self) -> dict[str, Any]:
        """Return the verifier's options, with `use` if it is given."""
        return {**({} if self.use is None else {"use": self.use}), **(self.model_extra or {})}

    @property
    def label(self) -> str:
        """Return the name of its score: its own, or the last part of what it uses."""
        used = self.model_extra.get("judge") if self.model_extra else None
        named = self.name or used or self.use or self.kind or ""
        return PurePath(str(named).rpartition(":")[2]).stem


def _check_verifier(options: dict[str, Any], where: str) -> None:
    """Refuse a `use` that is not a name, or that stands next to a cascade."""
    use = options.get("use")
    if "use" in options and not (isinstance(use, str) and use):
        raise ValueError(f"{where}.use: wanted a name or package.module:Class, found {use!r}")
    if "use" in options and "cascade" in options:
        raise ValueError(
            f"{where}: give either 'use' or 'cascade'; before a judge it is cascade: [{use}, judge]"
        )


class TaskEntry(Strict):
    """One task of a suite: a task by name (`task`), or one of the suite's own (`name`, `data` and `kind`)."""

    task: str | None = Field(
        None,
        description="built-in task or plug-in (see `genbench tasks`), package.module:attribute, a path "
        "of a task page of your own, which ends in .yaml, or imported:PATH of a lock file (see "
        "`genbench import task`)",
    )
    name: str | None = Field(None, pattern=NAME_PATTERN)
    kind: str | None = Field(
        None,
        description="preset of verifier, columns and prompt for a task of your own, such as math or choice; "
        "none: answers are drawn and shown, and never scored",
    )
    data: DataSource | None = None
    prompt: str | None = None
    turns: tuple[str | Turn, ...] = Field(
        (), description="prompts of further turns, which are asked after the model's own replies"
    )
    system: str | None = None
    shots: tuple[tuple[str, str], ...] = ()
    group: str | None = Field(
        None, description="tasks of one group are shown together, with the means over tasks and over problems"
    )
    protocol: str = Field(
        "genbench", description="whose words, exemplars and extraction are used (see `genbench tasks NAME`)"
    )
    k: int | None = Field(None, ge=1)
    limit: int | None = Field(None, ge=1)
    effort: tuple[EffortName, ...] = Field(
        (),
        exclude_if=lambda efforts: not efforts,
        description="only these efforts of models that have efforts; default: all",
    )
    refused: Literal["wrong", "excluded"] | None = Field(
        None,
        description="what a prompt counts as that a server's content filter blocks, or that is longer than "
        "the context: wrong, or left out and named; default: wrong, and if its length is known before "
        "drawing an error",
    )
    subset: str | None = Field(
        None, description="file of a random part of the problems, see `genbench subset`"
    )
    rulings: str | None = Field(
        None,
        description="file of rulings on references, see `genbench review references`: scores are "
        "shown with and without the disputed problems",
    )
    role: Literal["validation", "test"] = "validation"
    gating: bool = False
    margin: float | None = Field(None, gt=0, le=100, description="loss in points of 100 that counts as none")
    metrics: tuple[str, ...] | None = Field(
        None, min_length=1, description="acc, avg@k, pass@k, pass^k, maj@k, or metrics of plug-ins"
    )
    reference: Reference | None = Field(None, description="a score that reports show next to the task's own")
    decoding: DecodingOverride = DecodingOverride()
    options: dict[str, Any] = Field(
        default_factory=dict, description="the task's own, such as release, window"
    )
    verifier: dict[str, Any] = Field(
        default_factory=dict,
        description="`use` is a verifier's name or package.module:Class; the other keys are its options",
    )
    verifiers: tuple[VerifierEntry, ...] = Field(
        (),
        description="several verifiers of the same samples, instead of `verifier`; each is a score of its "
        "own, and the first is the headline",
        exclude_if=lambda verifiers: not verifiers,
    )

    @model_validator(mode="after")
    def _named_or_own(self) -> Self:
        if (self.task is not None and self.kind is not None) or (self.task is None and not self._is_own):
            raise ValueError(
                "give either 'task' (a built-in) or 'name' with 'kind' (a task of your own; "
                "verifier: {use: …} can replace 'kind')"
            )
        if self.task is None:
            lacking = [key for key in ("name", "data", "k") if getattr(self, key) is None]
            if lacking:
                raise ValueError(f"a task of your own needs {', '.join(repr(key) for key in lacking)}")
        elif self.data is not None or self.prompt is not None or self.turns:
            own = "'data', 'prompt' and 'turns'"
            raise ValueError(f"{own} belong to tasks of your own ('kind'), not to a built-in")
        return self

    @model_validator(mode="after")
    def _several_verifiers(self) -> Self:
        if not self.verifiers:
            return self
        if self.verifier:
            raise ValueError("give either 'verifier' or 'verifiers', a list whose first is the headline")
        if self.kind == "likelihood":
            raise ValueError("'verifiers' go with tasks whose answers are drawn")
        names = [item.label for item in self.verifiers]
        for number, (name, item) in enumerate(zip(names, self.verifiers, strict=True)):
            if self.task is not None and item.model_fields_set & {"kind", "reference"}:
                raise ValueError("verifiers: 'kind' and 'reference' belong to tasks of your own; give 'use'")
            if number and not re.fullmatch(NAME_PATTERN, name):
                raise ValueError(f"verifiers.{number}: give it a 'name', 'use', 'kind' or 'judge'")
            if number and name in names[1:number]:
                raise ValueError(f"verifiers: two are called '{name}'; give one of them another 'name'")
            _check_verifier(item.options, f"verifiers.{number}")
            if UNRATED in (item.kind, item.use):
                raise ValueError(f"verifiers.{number}: kind none has no score; leave it out")
        return self

    @model_validator(mode="after")
    def _decides_if_scored(self) -> Self:
        if UNRATED not in (self.kind, self.used_verifier):
            return self
        for key in ("gating", "margin", "metrics", "rulings", "group"):
            if getattr(self, key):
                raise ValueError(f"'{key}' needs scores, and a task of kind none has none; leave it out")
        return self

    @model_validator(mode="after")
    def _one_verifier(self) -> Self:
        _check_verifier(self.verifier, "verifier")
        return self

    @property
    def _is_own(self) -> bool:
        first = self.verifiers[0] if self.verifiers else None
        own = first is not None and (first.kind or first.use) is not None
        return self.kind is not None or "use" in self.verifier or own

    @property
    def scores(self) -> tuple[TaskEntry, ...]:
        """Return an entry for each verifier. The first is drawn, and the others verify its samples."""
        if not self.verifiers:
            return (self,)
        first, *others = self.verifiers
        headline = self._scored_by(first)
        if first.gating or first.margin is not None:
            told = {"gating": first.gating or self.gating, "margin": first.margin or self.margin}
            headline = headline.model_copy(update=told)
        return (headline, *(self._further(item) for item in others))

    def _scored_by(self, item: VerifierEntry) -> TaskEntry:
        update: dict[str, Any] = {"verifier": item.options, "verifiers": (), "kind": item.kind or self.kind}
        if "reference" in item.model_fields_set and self.data is not None:
            fields = {**self.data.fields, "reference": item.reference}
            update["data"] = self.data.model_copy(update={"fields": fields})
        return self.model_copy(update=update)

    def _further(self, item: VerifierEntry) -> TaskEntry:
        """Return the entry of a further verifier. What people say about the task belongs to its headline."""
        own = {
            "name": f"{self.label}{PART}{item.label}",
            "gating": item.gating,
            "margin": item.margin,
            "group": None,
            "reference": None,
            "metrics": None,
        }
        if item.kind not in (None, self.verifiers[0].kind or self.kind):
            # Its prompts are those of the headline, which may show columns that this kind does not read.
            own |= {"prompt": "{question}", "shots": ()}
            own["turns"] = tuple(Turn(prompt="{question}") for _ in self.turns)
        return self._scored_by(item).model_copy(update=own)

    @property
    def label(self) -> str:
        """Return the task's name in files and reports."""
        named = self.name or self.task or ""
        if self.names_import and not self.name:
            return PurePath(named.removeprefix(IMPORTED)).name.removesuffix(".lock.json")
        return PurePath(named).stem if self.names_page and not self.name else named

    @property
    def names_page(self) -> bool:
        """Whether the task is a page of the user's own."""
        return self.task is not None and self.task.endswith(".yaml")

    @property
    def names_import(self) -> bool:
        """Whether the task is one that was imported from another tool, by its lock file."""
        return self.task is not None and self.task.startswith(IMPORTED)

    @property
    def used_verifier(self) -> str | None:
        """Return the verifier that the suite names, or None if the task's own verifier is used."""
        return self.verifier.get("use")

    @property
    def verifier_options(self) -> dict[str, Any]:
        """Return the options of the verifier that the suite gives."""
        return {key: value for key, value in self.verifier.items() if key != "use"}


class VerifyConfig(Strict):
    """How answers are verified."""

    workers: int | None = Field(
        None, ge=1, description="worker processes; default: the number of cores less one, at least one"
    )
    nice: int = Field(
        10, ge=0, le=19, description="CPU priority of the workers; a high value lets the engine go first"
    )
    load_timeout_s: float = Field(900.0, gt=0, description="seconds after which loading a verifier fails")


def _names_or_entries(schema: dict[str, Any]) -> None:
    """Let editors accept a task's name on its own, which the reader of suites expands."""
    name = {"type": "string", "description": "the name of a task (see `genbench tasks`)"}
    schema["items"] = {"anyOf": [name, schema["items"]]}


class SuiteConfig(Strict):
    """A suite: models, engine, decoding, tasks."""

    name: str | None = Field(None, pattern=NAME_PATTERN, description="default: the name of the file")
    models: dict[str, ModelConfig] = Field(min_length=1)
    engine: Annotated[EngineConfig, ByKind()] = Field(default_factory=default_engine)
    decoding: Decoding = Decoding()
    reasoning: str | TraceTags = "auto"
    tasks: tuple[TaskEntry, ...] = Field(min_length=1, json_schema_extra=_names_or_entries)
    verify: VerifyConfig = VerifyConfig()
    judge: JudgeConfig = JudgeConfig()
    max_excluded_share: float = Field(0.01, ge=0, le=1)
    treatment: TreatmentNames = Field(
        (),
        description="what differs between these models on purpose, see `genbench compare --treatment`; "
        "everything else must be equal",
        exclude_if=lambda names: not names,
    )
    price: Price | None = Field(None, description="prices, from which results give the cost of each task")

    track: NamedTrack | None = Field(
        None, description="track of the runs; with it every night's run draws in a folder of its own"
    )

    @model_validator(mode="after")
    def _anchor_is_a_model(self) -> Self:
        anchor = self.track.anchor if self.track else None
        if anchor is not None and anchor not in self.models:
            raise ValueError(f"track.anchor: no model '{anchor}'; models: {', '.join(self.models)}")
        return self

    @property
    def scores(self) -> tuple[TaskEntry, ...]:
        """Return an entry for each score of the suite: those of its tasks, in order."""
        return tuple(score for entry in self.tasks for score in entry.scores)

    def decoding_of(self, task: TaskEntry) -> Decoding:
        """Return the suite's decoding with the task's own keys."""
        return task.decoding.over(self.decoding)
