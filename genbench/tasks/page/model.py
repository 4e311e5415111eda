"""The model of a task page: the YAML file that describes one benchmark, its columns and its prompt
template.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import ConfigDict, Field, ValidationError, model_validator

from genbench.errors import ConfigError, DataError, nearest
from genbench.protocols import HubDataset, MacroMean, PublishedScore, Row, Unanswered
from genbench.stats.likelihood import Rule
from genbench.suite.block import Strict
from genbench.suite.config import DecodingOverride
from genbench.tasks.choice_options import LETTERS, Order
from genbench.tasks.kinds import KINDS, LIKELIHOOD
from genbench.types import Message

InstructionColumns = tuple[str | None, str | None]
"""The columns of one turn's instruction ids and of their arguments."""


Block = TypeVar("Block", bound=Strict)


class Fields(Strict):
    """The meaning of the columns of a row."""

    question: str = "question"
    id: str | None = Field(None, description="column of problem ids; default: the row number, from 0")
    reference: str | dict[str, str] | None = Field(
        None, description="column of the reference, or several columns by name"
    )
    aliases: str | None = Field(
        None, description="column with more accepted answers: a list of texts, or one as JSON"
    )
    options: str | tuple[str, ...] = Field(
        "options", description="column with a list of options, or one column for each option"
    )
    instructions: str | None = Field(None, description="IFEval's column of instruction ids")
    kwargs: str | None = Field(None, description="IFEval's column of the instructions' arguments")
    group: str | None = None
    strata: dict[str, str] | tuple[str, ...] = ()
    judge: str | None = Field(
        None,
        description="column with what a judge is asked about this row, as a text with {{QUESTION}} and "
        "{{ANSWER}}, or with the key of such a text in `verifier.prompts`",
    )


def checked_block(block: type[Block], given: Mapping[str, Any], where: str) -> Block:
    """Return a block of keys that a suite gives in a mapping of its own.

    Args:
        where: the name of the block, for messages.

    Raises:
        ConfigError: an unknown key, or a wrong value.
    """
    for key in given:
        if key not in block.model_fields:
            raise ConfigError(f"{where} has no '{key}'{nearest(key, block.model_fields)}")
    try:
        return block.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"][:1])
        raise ConfigError(f"{where}.{key}: {first['msg']}, found {first['input']!r}") from error


def read_instructions(row: Row, columns: InstructionColumns, where: str) -> list[dict[str, Any]]:
    """Return the instructions of one turn of a row, or an empty list if it has none.

    Raises:
        DataError: ids and arguments do not match.
    """
    ids_column, kwargs_column = columns
    if ids_column is None:
        return []
    ids = row[ids_column]
    kwargs = row[kwargs_column] if kwargs_column else [{}] * len(ids)
    return instructions(ids, kwargs, where) if ids or kwargs else []


def instructions(
    ids: Sequence[str], kwargs: Sequence[Mapping[str, Any] | None], where: str
) -> list[dict[str, Any]]:
    """Return each instruction as ``{"id": …, kwarg: …}``.

    Null kwargs are left out: the hub adds the kwargs of all instructions.

    Raises:
        DataError: there are not as many kwargs as ids, or none at all.
    """
    if not ids or len(ids) != len(kwargs):
        raise DataError(f"{where}: {len(ids)} instructions with {len(kwargs)} kwargs")
    return [
        {"id": name, **{key: value for key, value in (given or {}).items() if value is not None}}
        for name, given in zip(ids, kwargs, strict=True)
    ]


def read_options(
    row: Row, columns: str | tuple[str, ...], where: str, *, repeated: bool = False
) -> tuple[str, ...]:
    """Return the texts of a row's options, in the order of the data.

    Args:
        repeated: whether two options may be the same text, as in a few rows of published benchmarks.

    Raises:
        DataError: fewer than 2 or more than 26, an empty one, or two that are the same text.
    """
    found = row[columns] if isinstance(columns, str) else [row[column] for column in columns]
    if not isinstance(found, list | tuple) or not 2 <= len(found) <= len(LETTERS):
        raise DataError(f"{where}: wanted 2 to {len(LETTERS)} options, found {found!r}")
    texts = tuple(read_text(option, f"{where}: an option").strip() for option in found)
    if len(set(texts)) < len(texts) and not repeated:
        raise DataError(f"{where}: two options are the same text: {list(texts)}")
    return texts


def right_option(reference: Any, options: tuple[str, ...], where: str) -> int:
    """Return the index of the right option. A reference is a letter, the option's text or its index.

    A list of one reference is that reference, and an index may be written as text (MixEval's `["1"]`).

    Raises:
        DataError: it is none of these, or it is one option's letter and the text of another.
    """
    if isinstance(reference, list | tuple) and len(reference) == 1:
        return right_option(reference[0], options, where)
    if isinstance(reference, int) and not isinstance(reference, bool) and 0 <= reference < len(options):
        return reference
    text = reference.strip() if isinstance(reference, str) else None
    found = {options.index(text)} if text in options else set()
    if text and len(text) == 1 and text in LETTERS[: len(options)]:
        found.add(LETTERS.index(text))
    if not found and text and text.isdecimal() and text.isascii() and int(text) < len(options):
        found.add(int(text))
    if len(found) != 1:
        how = "names two options" if found else "is not a letter, text or place (from 0) of an option"
        raise DataError(f"{where}: reference {reference!r} {how}; options: {list(options)}")
    return found.pop()


def is_chat(value: Any) -> bool:
    """Return whether a cell is a list of messages, and no text."""
    return isinstance(value, list) and any(isinstance(item, dict) and "role" in item for item in value)


def read_chat(value: Any, what: str) -> list[dict[str, str]]:
    """Return a cell that is a list of messages as {role, content} of text. The last one is the user's.

    Raises:
        DataError: a message has another role or no text, or the user does not speak last. `what` names the
            cell.
    """
    found: list[dict[str, str]] = []
    for place, item in enumerate(value):
        role, content = (item.get("role"), item.get("content")) if isinstance(item, dict) else (None, None)
        if role not in ("system", "user", "assistant") or not isinstance(content, str) or not content.strip():
            raise DataError(
                f"{what}, message {place + 1}: found {item!r:.80}, wanted a role (system, user or assistant) "
                "and a text as content"
            )
        if role == "system" and place:
            raise DataError(f"{what}, message {place + 1}: a system message comes first")
        found.append({"role": role, "content": content})
    if not found or found[-1]["role"] != "user":
        raise DataError(f"{what}: the last message is not the user's, so there is nothing to answer")
    return found


def read_question(value: Any, what: str) -> tuple[str, list[dict[str, str]]]:
    """Return the text that is asked, and the messages before it if the cell is a conversation.

    Raises:
        DataError: the cell is null or blank, or no conversation that the user ends. `what` names the cell.
    """
    if not is_chat(value):
        return read_text(value, what), []
    *earlier, last = read_chat(value, what)
    return last["content"], earlier


def opening(system: str | None, earlier: Iterable[Mapping[str, Any]]) -> tuple[Message, ...]:
    """Return the messages before what is asked. A conversation keeps a system message of its own."""
    said = [Message(**item) for item in earlier]
    if system is None or (said and said[0].role == "system"):
        return tuple(said)
    return (Message("system", system), *said)


def read_text(value: Any, what: str) -> str:
    """Return a cell as text.

    Raises:
        DataError: the cell is null or blank, or a list of messages. `what` names the cell in the message.
    """
    if is_chat(value):
        raise DataError(f"{what} is a list of messages, wanted a text; only data.fields.question takes those")
    if value is None or (isinstance(value, str) and not value.strip()):
        raise DataError(f"{what} is empty")
    return str(value)


def read_reference(row: Row, fields: Fields, where: str) -> Any:
    """Return the reference of a row: a column, several by name, or with its aliases.

    Raises:
        DataError: a column is missing, or the aliases are not a list.
    """
    if isinstance(fields.reference, dict):
        return {name: column_of(row, column, where) for name, column in fields.reference.items()}
    own = None if fields.reference is None else column_of(row, fields.reference, where)
    return own if fields.aliases is None else with_aliases(own, column_of(row, fields.aliases, where), where)


def column_of(row: Row, column: str, where: str) -> Any:
    """Return a cell of a row.

    Raises:
        DataError: the row has no such column.
    """
    if column not in row:
        raise DataError(f"{where}: no column '{column}'{nearest(column, map(str, row))}")
    return row[column]


def with_aliases(reference: Any, aliases: Any, where: str) -> list[Any]:
    """Return the accepted answers of a row: its reference, then its aliases, each once.

    Args:
        aliases: the cell of the column: a list, a list as JSON, or nothing.

    Raises:
        DataError: the cell is something else.
    """
    if isinstance(aliases, str) and aliases.strip():
        try:
            aliases = json.loads(aliases)
        except ValueError as error:
            raise DataError(
                f"{where}: aliases are not a JSON list: {error}; found {aliases!r:.100}"
            ) from None
    aliases = [] if aliases is None or aliases == "" else aliases
    if not isinstance(aliases, list | tuple) or not all(
        isinstance(item, str | int | float) for item in aliases
    ):
        raise DataError(f"{where}: aliases are {aliases!r:.100}, wanted a list of texts")
    given = (
        reference if isinstance(reference, list | tuple) else [] if reference in (None, "") else [reference]
    )
    return list(dict.fromkeys((*given, *aliases)))


DEFAULT_PROTOCOL = "genbench"
"""The protocol in which a page asks without an overlay: genbench's own words."""

Family = Literal[
    "knowledge",
    "science",
    "maths",
    "reasoning",
    "reading",
    "code",
    "instructions",
    "chat",
    "multilingual",
    "puzzles",
    "safety",
    "tools",
    "long_context",
    "other",
]
Target = r"^[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*$"


class PageFields(Fields):
    """The meaning of the columns. Unlike in a suite, the right option may have a fixed place."""

    right: int | None = Field(None, ge=0, description="place of the right option, from 0, in every row")
    also: str | None = Field(None, description="column with the places of further right options, from 0")
    further: str | None = Field(
        None, description="column with a list of texts that are asked in turn after the model's own replies"
    )


class TextTable(Strict):
    """A text of the prompt that depends on a column."""

    by: str = Field(description="the column")
    values: dict[str, str] = Field(description="the text for each value of the column")
    other: str | None = Field(None, alias="else", description="the text for all other values")


class Examples(Strict):
    """Exemplars that are rows of another split. The prompt shows them as `{examples}`."""

    split: str
    columns: tuple[str, ...] = Field(min_length=1, description="columns that are read, in digest order")
    by: str | None = Field(None, description="only rows whose column has the value of the question's row")
    count: int = Field(5, ge=0)
    text: str = Field(description="the text of one exemplar, with {column} and {options}")
    options: str = Field("options", description="the column of its options")
    row: str | None = Field(None, pattern=Target, description="module:function that completes a row")


class Scored(Strict):
    """How a model scores given texts, for kind likelihood. `fields.options` names their columns."""

    metric: Rule = Field("acc", description="what makes the score of a problem, and the headline")
    choices: tuple[str, ...] = Field((), description="the same texts for every row, such as no and yes")
    letters: bool = Field(False, description="whether letters are scored, with the texts in the prompt")
    contexts: str | None = Field(None, description="column with one context for each text")
    delimiter: str = Field(" ", description="what separates context and text")
    prior: str | None = Field(None, description="context without the question, for acc_pmi")
    counted: str | None = Field(None, description="column whose bytes and words count for the text")
    window: int | None = Field(None, ge=2, description="tokens of a document that are scored at a time")

    @property
    def is_document(self) -> bool:
        """Whether the text is a document, which is scored in windows."""
        return self.metric == "byte_probability"


class PublishedBlock(Strict):
    """Scores of one source with one decoding, in points of 100 by model."""

    source: str
    decoding: str
    scores: dict[str, float]
    k: int | None = Field(None, ge=1, description="samples of each problem")
    n: int | None = Field(None, ge=1, description="problems")
    mean: Literal["macro", "instructions"] | None = Field(
        None,
        description="`macro`: mean over the page's `macro` stratum; `instructions`: mean of the strict "
        "accuracies of prompts and of instructions; default: over all problems",
    )
    protocol: str | None = Field(None, description="shown only under this protocol; default: always")
    options: dict[str, Any] = Field(default_factory=dict, description="shown only with these options")

    def as_scores(self) -> Iterator[PublishedScore]:
        """Yield the scores as fractions of 1."""
        facts = self.model_dump(include={"source", "decoding", "n", "k", "mean"}, exclude_none=True)
        for model, value in self.scores.items():
            yield PublishedScore(model=model, value=round(value / 100, 6), **facts)


class Reported(Strict):
    """The figure that a benchmark reports: what it is at a score of 0 and at a score of 1."""

    name: str = Field(min_length=1)
    worst: float = Field(description="the figure at a score of 0")
    best: float = Field(description="the figure at a score of 1; below `worst` if lower is better")
    better: Literal["higher", "lower"] = Field("higher", description="must fit worst and best")

    @model_validator(mode="after")
    def _one_direction(self) -> Self:
        if self.best == self.worst or (self.best < self.worst) != (self.better == "lower"):
            raise ValueError(
                f"reported: worst {self.worst:g} and best {self.best:g} do not fit 'better: {self.better}'"
            )
        return self


class PageShot(Strict):
    """One exemplar for base models: the columns that fill the prompt, and the answer."""

    model_config = ConfigDict(extra="allow", frozen=True)

    answer: str

    @property
    def columns(self) -> dict[str, Any]:
        """Return the columns that fill the prompt."""
        return dict(self.__pydantic_extra__ or {})


Overlay = dict[str, Any]
"""Keys that replace those of the page. Mappings are merged, and null removes a key."""


class AgentBlock(Strict):
    """The harness that runs a benchmark's problems, and what a user gives to it."""

    harness: str = Field(description="name of the harness")
    packages: tuple[str, ...] = Field(
        (), description="what is installed in its virtual environment, with versions"
    )
    settings: dict[str, Any] = Field(default_factory=dict, description="passed on to the harness")
    limits: dict[str, Any] = Field(default_factory=dict, description="what one rollout may use")
    source: str = Field(description="what `options.source` of a suite is, and where it is got")
    peers: dict[str, str] = Field(
        default_factory=dict, description="other models that take part, by part, in words"
    )
    needs: str = Field("", description="what the machine needs, and what was not tried")
    dataset: str = Field("", description="the repository that the problems are from")
    revision: str | None = Field(None, description="its commit")
    rows: int | None = Field(None, ge=1, description="number of problems")
    columns: tuple[str, ...] = Field((), description="columns of a problem, in digest order")
    digest: str | None = Field(None, description="SHA-256 over `columns` of all problems")

    @property
    def install(self) -> str:
        """Return the commands that make the virtual environment."""
        place = f"envs/{self.harness}"
        packages = " ".join(f"'{item}'" for item in self.packages)
        return f"python3 -m venv {place} && {place}/bin/pip install {packages}"


class Page(Strict):
    """One benchmark: its data, its prompt, its verifier, and what others report for it."""

    like: str | None = Field(
        None, description="a built-in page whose keys this one has, unless it replaces them"
    )
    summary: str = Field(min_length=1, description="one line for lists")
    paper: str | None = None
    family: Family = "other"
    languages: tuple[str, ...] = ("en",)
    version: str = Field("1", description="changes if the prompt, the references or the grading change")
    licence: str = "not stated"
    unverified: tuple[str, ...] = Field((), description="keys of the page whose facts nobody checked")
    hub: HubDataset = Field(HubDataset(repo="", columns=("-",)), description="not for generated tasks")
    row: str | None = Field(None, pattern=Target, description="module:function that completes a row")
    where: dict[str, tuple[Any, ...]] = Field(
        default_factory=dict, description="columns, with the values of rows that belong to the task"
    )
    most: dict[str, float | str] = Field(
        default_factory=dict,
        description="columns, with the largest value of rows that belong to the task, a number or a date",
    )
    after: dict[str, str] = Field(
        default_factory=dict,
        description="columns, with a date. Rows belong to the task if theirs is later or empty",
    )
    kind: str | None = None
    fields: PageFields = PageFields()
    strip: bool = Field(True, description="whether white space around shown texts is removed")
    prompt: str | None = Field(None, description="default: the prompt of the kind")
    system: str | None = None
    texts: dict[str, TextTable] = Field(
        default_factory=dict, description="placeholders that depend on a column"
    )
    options_as: str = Field("{letter}) {text}", description="how one option is shown, on a line of its own")
    examples: Examples | None = None
    scored: Scored | None = Field(None, description="the texts that are scored, for kind likelihood")
    tools: Literal["python"] | None = Field(
        None,
        description="`python`: scripts that the model may run in the sandbox before its last reply, on which "
        "the verifier decides",
    )
    turns_before: tuple[tuple[str, str], ...] = Field(
        (), description="exemplars as earlier turns of the chat"
    )
    order: Order = Field("per_sample", description="the order of options, for kind choice")
    verifier: dict[str, Any] = Field(
        default_factory=dict, description="`use` names another verifier; the other keys are options"
    )
    metrics: tuple[str, ...] | None = None
    headline: str = "avg@k"
    k: int = Field(1, ge=1)
    decoding: DecodingOverride = Field(DecodingOverride(), description="advice, which is only shown")
    chance: Annotated[float, Field(ge=0, le=1)] | str | None = Field(
        None, description="score of blind guessing, or the column that has it for each row"
    )
    macro: str | None = Field(None, description="stratum whose values count alike in the macro mean")
    macro_mean: MacroMean = Field(
        "plain",
        description="`harmonic`: the harmonic mean of the values' scores, of which each gets a point more",
    )
    weights: dict[str, float] = Field(
        default_factory=dict, description="weights of that stratum's values, if they do not count alike"
    )
    macro_spread: bool = Field(
        False,
        description="whether that stratum's values ask the same questions, so that reports say how far apart "
        "they are",
    )
    macro_lists: bool = Field(
        False, description="whether that stratum's column is a list of values, in each of which a row counts"
    )
    unanswered: Unanswered = Field(
        "wrong",
        description="what an answer that is empty, degenerate, cut off or in an unclosed trace counts as; "
        "`excluded`: as neither right nor wrong, with bounds, and without a question to a judge",
    )
    reported: Reported | None = Field(
        None, description="the figure that the benchmark reports, if it is not the score"
    )
    sensitive: bool = Field(
        False,
        description="whether prompts and answers may do harm: reports and exports leave them out",
    )
    shots: tuple[PageShot, ...] = ()
    published: tuple[PublishedBlock, ...] = ()
    options: dict[str, dict[str, Overlay]] = Field(
        default_factory=dict, description="what a suite may set; the first value is the default"
    )
    protocols: dict[str, Overlay] = Field(default_factory=dict)
    source: str | None = Field(None, description="where a protocol's words are from")
    python: str | None = Field(None, pattern=Target, description="module:function that makes the whole task")
    agent: AgentBlock | None = Field(None, description="the harness of an agent benchmark")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if sum(given is not None for given in (self.kind, self.python, self.agent)) != 1:
            raise ValueError("give either 'kind' or 'python', or 'agent'")
        if self.kind is not None and not self.hub.repo:
            raise ValueError("give 'hub' with the repository of the rows")
        if not self.hub.columns:
            raise ValueError("hub.columns: the list is empty; name the columns that are read")
        is_plain = self.macro_mean == "plain" and not self.macro_lists and not self.macro_spread
        if (self.weights or not is_plain) and self.macro is None:
            raise ValueError(
                "'weights', 'macro_mean', 'macro_spread' and 'macro_lists' belong to 'macro'; "
                "name the stratum there"
            )
        if self.weights and self.macro_mean != "plain":
            raise ValueError("'weights' go with the plain mean; remove 'macro_mean'")
        if self.kind is not None and self.kind not in KINDS:
            raise ValueError(f"kind: no kind is called '{self.kind}'; valid: {', '.join(KINDS)}")
        if (self.kind == LIKELIHOOD) != (self.scored is not None):
            raise ValueError("'scored' belongs to kind likelihood, which needs it")
        if self.tools and (self.scored or self.fields.further or self.kind is None):
            raise ValueError("'tools' belongs to a kind that asks one question and draws the answer")
        if self.hub.configs and not isinstance(self.hub.rows, dict | None):
            raise ValueError("hub.rows: with several configs, give the number of rows by config")
        return self


def is_at_most(value: Any, most: float | str) -> bool:
    """Return whether a cell is not larger than a number, or not later than a date, YYYY-MM-DD.

    Raises:
        DataError: the cell cannot be compared with it.
    """
    if isinstance(most, str):
        return str(value)[: len(most)] <= most  # a time after the date is left out
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DataError(f"the cell {value!r:.80} is not a number, and {most} is the most")
    return value <= most


def is_after(value: Any, date: str) -> bool:
    """Return whether a cell is empty, or later than a date, YYYY-MM-DD."""
    return value in (None, "") or not is_at_most(value, date)


@dataclass(frozen=True, slots=True)
class Template:
    """A parsed template: literal texts, each followed by the name of the column to fill in (or None)."""

    pieces: tuple[tuple[str, str | None], ...]

    @classmethod
    def parse(cls, text: str, where: str) -> Self:
        """Parse a template. `where` names it in messages.

        Raises:
            ConfigError: braces do not match, or a placeholder is empty or not a name.
        """
        doubled = "; double the braces that are text, as in \\boxed{{}}"
        try:
            parsed = [(literal, name, spec, how) for literal, name, spec, how in Formatter().parse(text)]
        except ValueError as error:
            raise ConfigError(f"{where}: {error}{doubled}") from error
        for _, name, spec, how in parsed:
            if name is not None and (not name.strip() or spec or how):
                written = name + (f"!{how}" if how else "") + (f":{spec}" if spec else "")
                raise ConfigError(f"{where}: '{{{written}}}' is not a placeholder{doubled}")
        return cls(tuple((literal, name) for literal, name, _, _ in parsed))

    @property
    def names(self) -> tuple[str, ...]:
        """Return the placeholders, each once, in order."""
        return tuple(dict.fromkeys(name for _, name in self.pieces if name is not None))

    def render(self, values: Mapping[str, Any], where: str) -> str:
        """Return the text with its values. Placeholders in values are not filled in.

        Raises:
            DataError: a value is missing or null. `where` names the row in the message.
        """
        found: list[str] = []
        for literal, name in self.pieces:
            found.append(literal)
            if name is None:
                continue
            if name not in values:
                hint = nearest(name, map(str, values))
                raise DataError(
                    f"{where}: the prompt's placeholder {{{name}}} is not a column of the row{hint}"
                )
            if values[name] is None:
                raise DataError(f"{where}: column '{name}', which the prompt shows, is null")
            if is_chat(values[name]):
                raise DataError(
                    f"{where}: column '{name}' is a list of messages, which a prompt cannot show; name it as "
                    'data.fields.question, with prompt: "{question}"'
                )
            found.append(str(values[name]))
        return "".join(found)
