"""Imported tasks whose given texts are scored: what a stored row asks a model to score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from genbench.errors import DataError
from genbench.tasks.lock import Lock
from genbench.types import Ask, Choice, Message, Scoring

GENERATED = "generate_until"
_DOCUMENT = "loglikelihood_rolling"
_CHOICES = "multiple_choice"
_PMI = "acc_pmi"
_BYTES = "byte_probability"


def is_scored(lock: Lock) -> bool:
    """Return whether a task scores given texts instead of drawing an answer."""
    return lock.output != GENERATED


def listed_row(lock: Lock, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with its choices under `options`, which the score of blind guessing is computed from."""
    return {**row, "options": row["choices"]} if lock.output == _CHOICES else dict(row)


def scored_ask(lock: Lock, row: Mapping[str, Any], window: int | None = None) -> Ask:
    """Return the texts of a row that a model scores, as lm-eval sends them.

    Args:
        row: one line of the file of rows.
        window: tokens of a document that are scored at a time. None: as many as fit.

    Raises:
        DataError: the row was made by a version of genbench that could not run such tasks.
    """
    document = lock.output == _DOCUMENT
    if lock.output == _CHOICES:
        choices = _choices(lock, row)
    else:
        text = row["continuation"]
        choices = (Choice("" if document else row["context"], text, text, ""),)
    reference: dict[str, Any] = {"gold": row.get("gold", [0]), "delimiter": len(choices[0].delimiter)}
    if lock.output == _CHOICES:
        reference["choices"] = row["choices"]
    elif lock.verifier_options.get("rule") == _BYTES and not document:
        reference["follows"] = True
    return Ask(
        (Message("user", choices[0].context),),
        reference,
        scoring=Scoring(choices, document, window if document else None),
    )


def _choices(lock: Lock, row: Mapping[str, Any]) -> tuple[Choice, ...]:
    """Return the choices of a row. Its length is that of the choice, even if it is in the context."""
    if "delimiter" not in row:
        raise DataError(f"row {row['id']} of {lock.frozen.name} has no 'delimiter'; import the task again")
    delimiter = row["delimiter"]
    contexts = row["contexts"] or [row["context"]] * len(row["choices"])
    texts = [continuation.removeprefix(delimiter) for continuation in row["continuations"]]
    prior = row.get("prior", "") if _PMI in (lock.verifier_options.get("also") or ()) else None
    return tuple(
        Choice(context, text, counted, delimiter, prior)
        for context, text, counted in zip(contexts, texts, row["choices"], strict=True)
    )
