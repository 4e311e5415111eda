"""Replies of a fixed shape: the constraint for the engine, and how they are read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from genbench.judges.forms.protocol import UnreadableReplyError

REASON = r"Reason: [^\n]{1,300}\n"
"""The one short sentence before a verdict, for judges with `reason: true`."""


def word_pattern(words: Sequence[str], reason: bool) -> str:
    """Return the regex of a reply that is one of `words`, in a group."""
    body = f"{'Verdict: ' if reason else ''}({'|'.join(words)})"
    return REASON + body if reason else body


def line_pattern(lines: Sequence[str], reason: bool) -> str:
    """Return the regex of a reply of several lines. Each line is a regex with one group."""
    body = r"\n".join(lines)
    return REASON + body if reason else body


def one_of(words: Sequence[str], reason: bool) -> dict[str, Any]:
    """Return the constraint of a reply that is one of `words`."""
    return {"regex": word_pattern(words, reason)} if reason else {"choice": list(words)}


def matched(pattern: str, reply: str) -> tuple[str, ...]:
    """Return the groups of `pattern` in a reply. Blanks around the reply do not matter.

    Raises:
        UnreadableReplyError: the reply does not match as a whole.
    """
    found = re.fullmatch(pattern, reply.strip())
    if found is None:
        raise UnreadableReplyError(f"the reply is not of the form that was asked for: {reply[:200]!r}")
    return found.groups()
