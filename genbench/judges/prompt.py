"""The text of a judge's prompt: answers as data between marks, and the fields that a prompt file shows."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from genbench.judges.config import JudgeFile
from genbench.judges.controltokens import ControlTokens
from genbench.types import Case

FIELD = re.compile(r"\{(\w+)\}")
_CONTROL = ControlTokens()


def filled(prompt: str, fields: Mapping[str, str]) -> str:
    """Replace ``{name}`` by the field of that name. Other braces stay as they are."""
    return FIELD.sub(lambda found: fields.get(found[1], found[0]), prompt).strip()


def common_fields(case: Case, file: JudgeFile) -> dict[str, str]:
    """Return the fields that a prompt of any form can show."""
    return {
        "question": block("question", case.question),
        "reference": block("reference", reference_text(case.reference)),
        "answer": block("answer", capped(case.answer.text.strip(), file.max_answer_chars)),
        "labels": ", ".join(file.labels),
        "dimensions": "\n".join(f"{name}: {meaning}" for name, meaning in file.dimensions.items()),
    }


def capped(text: str, limit: int) -> str:
    """Shorten a text of more than `limit` characters in its middle, with a mark that says by how much."""
    if len(text) <= limit:
        return text
    tail = limit // 4
    head = limit - tail
    gone = len(text) - limit
    return f"{text[:head]}\n[… {gone} characters left out for length …]\n{text[-tail:]}"


def block(name: str, text: str) -> str:
    """Put a text between marks that it cannot contain, because they carry the text's digest.

    Control tokens of chat templates are broken up by a blank.
    """
    mark = f"{name}-{hashlib.sha256(text.encode(errors='replace')).hexdigest()[:12]}"
    whole = text.encode(errors="replace").decode()
    return f"<<<{mark}\n{_CONTROL.broken(whole)}\n{mark}>>>"


def reference_text(reference: Any) -> str:
    """Return a reference as text: a list becomes lines with dashes, None an empty text."""
    if isinstance(reference, list):
        return "\n".join(f"- {item}" for item in reference)
    return "" if reference is None else str(reference)


def numbered(items: Sequence[str]) -> str:
    """Return the items as lines, numbered from 1."""
    return "\n".join(f"{number}: {item}" for number, item in enumerate(items, start=1))
