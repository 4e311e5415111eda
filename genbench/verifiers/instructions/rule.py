"""A rule: an id, typed kwargs, and a function that says why a text breaks it.

Each view of the text (words, sentences, language) is computed once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Generic, Literal, Protocol, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

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


class NoKwargs(Kwargs):
    """An instruction that takes no kwargs."""


K = TypeVar("K", bound=Kwargs)


@dataclass(frozen=True, slots=True)
class Rule(Generic[K]):
    """One instruction id: the kwargs that it takes, and its check."""

    id: str
    kwargs: type[K]
    check: Callable[[Text, K], Fault]
    tagger: bool = False
    """Whether it needs a part-of-speech tagger."""


Rules = tuple[Rule[Any], ...]


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
