"""Row functions of benchmarks that an LLM judge grades."""

from __future__ import annotations

import ast

from genbench.errors import DataError
from genbench.protocols import Row

_STRATA = ("topic", "answer_type")


def simpleqa(row: Row, place: int) -> Row:
    """Return a row of SimpleQA with the topic and the answer type that its metadata contain.

    Raises:
        DataError: the problem or its answer is empty, or the metadata are no Python literal of a dict.
    """
    kept = {name: str(row[name]).strip() for name in ("problem", "answer")}
    if not all(kept.values()):
        raise DataError("the problem or its answer is empty")
    metadata = row["metadata"]
    try:
        found = ast.literal_eval(str(metadata)) if metadata else {}
    except (ValueError, SyntaxError) as error:
        raise DataError(f"metadata is no Python literal: {error}") from error
    if not isinstance(found, dict):
        raise DataError(f"metadata is no dict, found {metadata!r}")
    return {**row, **kept, **{name: found.get(name) for name in _STRATA}}


def mixeval(row: Row, place: int) -> Row:
    """Return a row of MixEval's free-form half with its context and with texts as targets.

    Raises:
        DataError: it has no targets.
    """
    targets = row["target"]
    if not isinstance(targets, list | tuple) or not targets:
        raise DataError(f"no targets, found {targets!r}")
    return {**row, "question": with_context(row), "targets": [str(target) for target in targets]}


def with_context(row: Row) -> str:
    """Return the prompt of a row of MixEval after its context, if it has one."""
    parts = [str(row["context"] or "").strip(), str(row["prompt"]).strip()]
    return "\n\n".join(part for part in parts if part)


def arena(row: Row, place: int) -> Row:
    """Return a row of Arena-Hard with the text of its only turn as the question.

    Raises:
        DataError: it has no turn with content, or several turns.
    """
    turns = row["turns"]
    texts = [str(turn.get("content") or "") for turn in turns] if isinstance(turns, list | tuple) else []
    if len(texts) != 1 or not texts[0].strip():
        raise DataError(f"wanted one turn with content, found {turns!r}")
    return {**row, "question": texts[0]}


def alpaca(row: Row, place: int) -> Row:
    """Return a row of AlpacaEval, whose reply is the opponent of the answers.

    Raises:
        DataError: the instruction or the reply is empty.
    """
    kept = {name: str(row[name]) for name in ("instruction", "output")}
    if not all(text.strip() for text in kept.values()):
        raise DataError("the instruction or its output is empty")
    return {**row, **kept}
