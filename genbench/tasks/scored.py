"""Tasks whose page lets a model score given texts: the texts of a row, and what they are checked against."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from genbench.errors import DataError, nearest
from genbench.protocols import Row
from genbench.tasks.fields import right_option
from genbench.tasks.options import LETTERS
from genbench.tasks.page import Page
from genbench.types import Ask, Choice, Message, Scoring


def scored_row(page: Page, row: Row, shown: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return what a problem keeps of its row: the texts, their contexts, and the right ones.

    Args:
        shown: the values of the prompt's placeholders.

    Raises:
        DataError: a column is missing or has no text, or the reference names no choice.
    """
    assert page.scored is not None
    texts = _texts(page, row, where)
    contexts = None
    if page.scored.contexts is not None:
        contexts = [_text(item, where) for item in _cell(row, page.scored.contexts, where)]
        if len(contexts) != len(texts):
            raise DataError(f"{where}: {len(contexts)} contexts for {len(texts)} choices")
    counted = None if page.scored.counted is None else [_text(_cell(row, page.scored.counted, where), where)]
    return {
        "shown": shown,
        "options": texts,
        "contexts": contexts,
        "counted": counted,
        "gold": _gold(page, row, texts, where),
    }


def scored_ask(page: Page, row: Mapping[str, Any], context: str, system: str | None) -> Ask:
    """Return what a problem asks a model to score.

    Args:
        row: what `scored_row` kept.
        context: the rendered prompt.
    """
    scored = page.scored
    assert scored is not None
    texts = row["options"]
    asked = list(LETTERS[: len(texts)]) if scored.letters else texts
    contexts = row["contexts"] or [context] * len(texts)
    counted = row["counted"] or asked
    choices = tuple(
        Choice(before, text, own, scored.delimiter, scored.prior)
        for before, text, own in zip(contexts, asked, counted, strict=True)
    )
    messages = [Message("system", system)] if system is not None else []
    reference: dict[str, Any] = {"gold": row["gold"], "delimiter": len(scored.delimiter)}
    if not scored.is_document:
        reference["choices"] = contexts if row["contexts"] else list(texts)
    return Ask(
        (*messages, Message("user", contexts[0])),
        reference,
        scoring=Scoring(choices, scored.is_document, scored.window),
    )


def _texts(page: Page, row: Row, where: str) -> list[str]:
    assert page.scored is not None
    columns = page.fields.options
    if page.scored.choices:
        found: Any = page.scored.choices
    elif isinstance(columns, str):
        found = _cell(row, columns, where)
        found = [found] if isinstance(found, str) else found
    else:
        found = [_cell(row, column, where) for column in columns]
    if not isinstance(found, list | tuple) or not 1 <= len(found) <= len(LETTERS):
        raise DataError(f"{where}: wanted 1 to {len(LETTERS)} texts to score, found {found!r:.80}")
    return [_text(item, where) for item in found]


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise DataError(f"{where}: a text to score is {value!r:.80}, wanted text")
    return value


def _cell(row: Row, column: str, where: str) -> Any:
    if column not in row:
        raise DataError(f"{where}: no column '{column}'{nearest(column, map(str, row))}")
    return row[column]


def _gold(page: Page, row: Row, texts: list[str], where: str) -> list[int]:
    if len(texts) == 1:
        return [0]
    if page.fields.right is not None:
        return [page.fields.right]
    given = _cell(row, str(page.fields.reference), where)
    several = given if isinstance(given, list) else [given]
    return [right_option(item, tuple(texts), where) for item in several]
