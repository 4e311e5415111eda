"""A rule: an id, typed kwargs, and a function that says why a text breaks it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from genbench.verifiers.constraints.text import Text

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
