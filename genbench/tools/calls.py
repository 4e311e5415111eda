"""The records of function calls: one call, and what a reply was parsed to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

UNNAMED = ""
"""The argument name of a bare name in a call of Java or JavaScript. No function has such a parameter."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a function. Every argument has a name."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def record(self) -> dict[str, Any]:
        """Return the call as JSON, with values that JSON lacks as text."""
        return {"name": self.name, "arguments": json.loads(json.dumps(self.arguments, default=repr))}


@dataclass(frozen=True, slots=True)
class Parsed:
    """The calls of a reply in their order.

    `broken` says why something that looks like a call could not be read. It is None if there is no such text.
    A reply with a broken call has no calls: half of an answer is no answer.
    """

    calls: tuple[Call, ...] = ()
    broken: str | None = None


class CallError(ValueError):
    """A text is no call. The message says why."""
