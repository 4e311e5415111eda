"""A rule: an id, and a function that says why a text breaks it. Its further parameters are the kwargs.

Each view of the text (words, sentences, language) is computed once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from typing import Annotated, Any, Literal, Protocol, TypeVar, get_type_hints

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model

WORD = re.compile(r"\w+")
"""A word of the official code: a run of `\\w` of the standard library (nltk 3.10 differs)."""


class Tools(Protocol):
    """The tools that a text is read with."""

    def sentences(self, text: str) -> list[str]:
        """Return the sentences of a text."""
        ...

    def tokens(self, text: str) -> list[str]:
        """Return the word tokens of each sentence of a text in one list."""
        ...

    def language(self, text: str) -> str | None:
        """Return the ISO 639-1 code of the text's language, or None if it has no letters."""
        ...

    def first_tag(self, tokens: list[str]) -> str:
        """Return the part-of-speech tag of the first token."""
        ...


class Text:
    """One response or one loose variant of it."""

    def __init__(self, raw: str, tools: Tools) -> None:
        self.raw = raw
        self.tools = tools

    @cached_property
    def stripped(self) -> str:
        """The text without outer blanks."""
        return self.raw.strip()

    @cached_property
    def lower(self) -> str:
        """The text in small letters."""
        return self.raw.lower()

    @cached_property
    def lines(self) -> list[str]:
        """The parts of the text between newlines. Other line separators are ordinary characters."""
        return self.raw.split("\n")

    @cached_property
    def words(self) -> list[str]:
        """The words by the official code's pattern."""
        return WORD.findall(self.raw)

    @cached_property
    def sentences(self) -> list[str]:
        """The sentences by nltk."""
        return self.tools.sentences(self.raw)

    @cached_property
    def tokens(self) -> list[str]:
        """The word tokens of each sentence by nltk. "can't" is two tokens, a hyphenated word is one."""
        return self.tools.tokens(self.raw)

    @cached_property
    def language(self) -> str | None:
        """The ISO 639-1 code of the language, or None if the text has no letters."""
        return self.tools.language(self.raw)

    def of(self, raw: str) -> Text:
        """Return another text that is read with the same tools."""
        return Text(raw, self.tools)


Fault = str | None
"""One sentence that says why the text breaks the rule. None if the text follows it."""

Relation = Literal["less than", "at least"]


class Kwargs(BaseModel):
    """The kwargs of an instruction id. Unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True)
class Rule:
    """One instruction id: its check, and the kwargs that it takes."""

    id: str
    check: Callable[..., Fault]
    """It is called with a text and the kwargs by name."""
    kwargs: type[Kwargs]
    tagger: bool = False
    """Whether it needs a part-of-speech tagger."""


Check = TypeVar("Check", bound=Callable[..., Fault])


class RuleTable(dict[str, Rule]):
    """Rules by instruction id."""

    def rule(self, id_: str, *, tagger: bool = False) -> Callable[[Check], Check]:
        """Return a decorator that adds a check of a text under an instruction id.

        The parameters after the text are the kwargs of the instruction. Their types say what is refused.
        """

        def add(check: Check) -> Check:
            _, *names = signature(check).parameters
            hints = get_type_hints(check, include_extras=True)
            fields: dict[str, Any] = {name: (hints[name], ...) for name in names}
            self[id_] = Rule(id_, check, create_model(id_, __base__=Kwargs, **fields), tagger)
            return check

        return add


def _compiles(value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(
            f"{value!r} is read as a regular expression, as the official code does, and is none: {error}; "
            "escape it with backslashes, or use mode 'fixed', which takes it literally"
        ) from None
    return value


def _trimmed(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be blank")
    return value.strip()


Count = Annotated[int, Field(ge=0)]
Ordinal = Annotated[int, Field(ge=1)]
NonEmpty = Annotated[str, Field(min_length=1)]
Percentage = Annotated[float, Field(ge=0, le=100)]
Trimmed = Annotated[str, AfterValidator(_trimmed)]
Pattern = Annotated[str, Field(min_length=1), AfterValidator(_compiles)]
TrimmedPattern = Annotated[str, AfterValidator(_trimmed), AfterValidator(_compiles)]


def compared(found: int, relation: Relation, wanted: int, noun: str) -> Fault:
    """Return the fault of a count that must be less than, or at least, `wanted`."""
    if relation == "less than":
        return None if found < wanted else f"{found} {noun}, fewer than {wanted} wanted"
    return None if found >= wanted else f"{found} {noun}, at least {wanted} wanted"


def equal(found: int, wanted: int, noun: str) -> Fault:
    """Return the fault of a count that must be exactly `wanted`."""
    return None if found == wanted else f"{found} {noun}, exactly {wanted} wanted"


def quoted(text: str, width: int = 60) -> str:
    """Return `text` in quotes for a fault, cut to `width` characters."""
    return repr(text if len(text) <= width else text[: width - 1] + "…")
