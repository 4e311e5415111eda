"""The text of a judge's prompt: texts of others between marks and without control tokens, and its fields."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from genbench.judges.config import JudgeFile
from genbench.models.data_texts import SHAPES
from genbench.types import Case, Message

_MARKS = frozenset("<>[]{}|｜◁▷~")
_ROUNDS = 8
"""Breaking one token may make another one. Each round only adds blanks, so few are needed."""
FIELD = re.compile(r"\{(\w+)\}")
ROW_FIELD = re.compile(r"\{\{(QUESTION|ANSWER)\}\}")
"""What AIR-Bench's prompts show."""


class ControlTokens:
    """Breaks control tokens in texts: those of common models, and those of one tokenizer.

    In an answer such a token would end the judge's message and begin another one.

    Args:
        own: the tokens of the judge's own tokenizer.
    """

    def __init__(self, own: Iterable[str] = ()) -> None:
        listed = [re.escape(token) for token in sorted(set(own), key=len, reverse=True)]
        self._pattern = re.compile("|".join([*listed, *SHAPES]))

    def broken(self, text: str) -> str:
        """Return the text with a blank after the first character of each control token."""
        for _ in range(_ROUNDS):
            calm = self._pattern.sub(lambda token: f"{token[0][0]} {token[0][1:]}", text)
            if calm == text:
                break
            text = calm
        return text


def tokens_of(tokenizer: Any) -> frozenset[str]:
    """Return the control tokens of a tokenizer of transformers.

    They are its special tokens, and its added tokens that look like marks. Some tokenizers also add runs of
    blanks or plain words, which are not control tokens.
    """
    special = {str(token) for token in getattr(tokenizer, "all_special_tokens", ())}
    added: Mapping[str, int] = getattr(tokenizer, "get_added_vocab", dict)()
    marks = {token for token in added if not _MARKS.isdisjoint(token)}
    return frozenset(token for token in special | marks if len(token.strip()) > 1)


_CONTROL = ControlTokens()


def filled(prompt: str, fields: Mapping[str, str]) -> str:
    """Replace ``{name}`` by the field of that name. Other braces stay as they are."""
    return FIELD.sub(lambda found: fields.get(found[1], found[0]), prompt).strip()


def raw_pieces(prompt: str, own: Mapping[str, str], others: Mapping[str, str]) -> list[Message]:
    """Return a prompt that is sent without a chat template, in pieces: `system` ours, `user` those of others.

    The prompt is the pieces joined. Control tokens belong into ours and are broken in those of others. One
    line end at the end of the prompt is that of the file.

    Args:
        own: fields of the judge file. others: fields with texts that someone else wrote.
    """
    ours, pieces = "", []
    for place, part in enumerate(FIELD.split(prompt.removesuffix("\n"))):
        if place % 2 == 0:
            ours += part
        elif part in others:
            pieces += [Message("system", ours), Message("user", others[part])]
            ours = ""
        else:
            ours += own.get(part, f"{{{part}}}")
    return [piece for piece in (*pieces, Message("system", ours)) if piece.content]


def common_fields(case: Case, file: JudgeFile) -> dict[str, str]:
    """Return the fields that a prompt of any form can show."""
    return {
        "question": block("question", case.question),
        "reference": block("reference", reference_text(case.reference)),
        "answer": block("answer", capped(case.answer.text.strip(), file.max_answer_chars)),
        "row_prompt": _row_prompt(case, file.max_answer_chars),
        "labels": ", ".join(file.label_names),
        "dimensions": "\n".join(f"{name}: {meaning}" for name, meaning in file.dimensions.items()),
    }


def _row_prompt(case: Case, limit: int) -> str:
    """Return the row's own prompt for a judge, with question and answer in it."""
    texts = {"QUESTION": case.question, "ANSWER": capped(case.answer.text.strip(), limit)}
    return ROW_FIELD.sub(lambda found: block(found[1].lower(), texts[found[1]]), case.judge_prompt)


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
    return f"<<<{mark}\n{calm(text)}\n{mark}>>>"


def calm(text: str) -> str:
    """Return a text with its control tokens broken up by a blank, and without halves of surrogate pairs."""
    return _CONTROL.broken(text.encode(errors="replace").decode())


def reference_text(reference: Any) -> str:
    """Return a reference as text: a list becomes lines with dashes, None an empty text."""
    if isinstance(reference, list):
        return "\n".join(f"- {item}" for item in reference)
    return "" if reference is None else str(reference)


def numbered(items: Sequence[str]) -> str:
    """Return the items as lines, numbered from 1."""
    return "\n".join(f"{number}: {item}" for number, item in enumerate(items, start=1))
