"""Rows of open questions with short answers: DROP, TriviaQA, PopQA and NQ-open."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from genbench.errors import DataError
from genbench.protocols import Row


def drop_answers(row: Row, place: int) -> Row:
    """Return a row of DROP with its references: the answer and the validated ones, each in its parts.

    Raises:
        DataError: no reference has any text.
    """
    found = [_drop_parts(row["answer"])]
    found += [_drop_parts(answer) for answer in _rows_of(row["validated_answers"])]
    references = [list(parts) for parts in dict.fromkeys(found) if parts]
    if not references:
        raise DataError("the answer and all validated answers are empty")
    return {**row, "references": references}


def _drop_parts(answer: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a number, else the spans, else the date, each as texts."""
    if str(answer["number"] or "").strip():
        return (str(answer["number"]).strip(),)
    spans = tuple(str(span).strip() for span in answer["spans"] or () if str(span).strip())
    if spans:
        return spans
    date = answer["date"] or {}
    text = " ".join(str(date.get(part) or "") for part in ("day", "month", "year")).strip()
    return (text,) if text else ()


def _rows_of(answers: Any) -> list[Mapping[str, Any]]:
    """Return answers that are stored by column, as the hub does, or as a list."""
    if isinstance(answers, Mapping):
        names = ("number", "date", "spans")
        return [
            dict(zip(names, values, strict=True))
            for values in zip(*(answers[name] for name in names), strict=True)
        ]
    return list(answers or ())


def trivia_answers(row: Row, place: int) -> Row:
    """Return a row of TriviaQA with its accepted answers: the value and its aliases.

    Raises:
        DataError: it has none.
    """
    answer = row["answer"]
    texts = [answer["value"], *answer["aliases"]] if isinstance(answer, Mapping) else []
    return {**row, "references": _texts(texts, "answer")}


def popqa_answers(row: Row, place: int) -> Row:
    """Return a row of PopQA with its accepted answers. Its column is JSON in a text.

    Raises:
        DataError: the column is no JSON list of texts, or it is empty.
    """
    found = row["possible_answers"]
    if isinstance(found, str):
        try:
            found = json.loads(found)
        except ValueError as error:
            raise DataError(f"possible_answers is no JSON: {error}") from None
    return {**row, "references": _texts(found, "possible_answers")}


def listed_answers(row: Row, place: int) -> Row:
    """Return a row of NQ-open with its accepted answers.

    Raises:
        DataError: it has none.
    """
    return {**row, "references": _texts(row["answer"], "answer")}


def _texts(found: Any, column: str) -> list[str]:
    """Return the texts that are not blank, each once.

    Raises:
        DataError: there are none, or the column is no list.
    """
    if not isinstance(found, Sequence) or isinstance(found, str):
        raise DataError(f"{column} is {found!r}, wanted a list of texts")
    texts = dict.fromkeys(str(item).strip() for item in found if item is not None)
    texts.pop("", None)
    if not texts:
        raise DataError(f"{column} has no text in it")
    return list(texts)
