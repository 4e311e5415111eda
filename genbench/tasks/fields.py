"""The columns of a task that a suite describes: the meaning of each column, and how its cells are read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pydantic import Field, ValidationError

from genbench.errors import ConfigError, DataError, nearest
from genbench.protocols import Row
from genbench.suite.block import Strict
from genbench.suite.config import Turn
from genbench.tasks.ifeval import instructions
from genbench.tasks.kinds import KINDS, Kind
from genbench.tasks.options import LETTERS

InstructionColumns = tuple[str | None, str | None]
"""The columns of one turn's instruction ids and of their arguments."""


class Fields(Strict):
    """The meaning of the columns of a row."""

    question: str = "question"
    id: str | None = Field(None, description="column of problem ids; default: the row number, from 0")
    reference: str | dict[str, str] | None = Field(
        None, description="column of the reference, or several columns by name"
    )
    aliases: str | None = Field(
        None, description="column with more accepted answers: a list of texts, or one as JSON"
    )
    options: str | tuple[str, ...] = Field(
        "options", description="column with a list of options, or one column for each option"
    )
    instructions: str | None = Field(None, description="IFEval's column of instruction ids")
    kwargs: str | None = Field(None, description="IFEval's column of the instructions' arguments")
    group: str | None = None
    strata: dict[str, str] | tuple[str, ...] = ()


def read_fields(given: dict[str, Any], kind: Kind, where: str) -> Fields:
    """Return the columns that a suite names, with the defaults of the kind.

    A kind requires the column `reference`. Without a kind, `reference: null` means that there is none.

    Raises:
        ConfigError: an unknown key, a wrong value, or instructions in a kind that has none.
    """
    for key in given:
        if key not in Fields.model_fields:
            raise ConfigError(f"{where}: data.fields has no '{key}'{nearest(key, Fields.model_fields)}")
    try:
        fields = Fields.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"][:1])
        raise ConfigError(f"{where}: data.fields.{key}: {first['msg']}, found {first['input']!r}") from error
    if fields.instructions is not None and not kind.lists_instructions:
        raise ConfigError(f"{where}: data.fields.instructions belongs to the kinds {_instructed_kinds()}")
    waived = kind not in KINDS.values() and "reference" in given
    if kind.wants_reference and not waived and fields.reference is None and fields.instructions is None:
        return fields.model_copy(update={"reference": "reference"})
    return fields


def instruction_columns(
    fields: Fields, turns: Sequence[Turn], kind: Kind, where: str
) -> tuple[InstructionColumns, ...]:
    """Return the instruction columns of every turn.

    Raises:
        ConfigError: a turn names some, but the kind has no instructions.
    """
    for turn in turns:
        if not kind.lists_instructions and (turn.instructions or turn.kwargs):
            raise ConfigError(f"{where}: turns: instructions belong to the kinds {_instructed_kinds()}")
    return ((fields.instructions, fields.kwargs), *((turn.instructions, turn.kwargs) for turn in turns))


def _instructed_kinds() -> str:
    return ", ".join(name for name, kind in KINDS.items() if kind.lists_instructions)


def read_instructions(row: Row, columns: InstructionColumns, where: str) -> list[dict[str, Any]]:
    """Return the instructions of one turn of a row, or an empty list if it has none.

    Raises:
        DataError: ids and arguments do not match.
    """
    ids_column, kwargs_column = columns
    if ids_column is None:
        return []
    ids = row[ids_column]
    kwargs = row[kwargs_column] if kwargs_column else [{}] * len(ids)
    return instructions(ids, kwargs, where) if ids or kwargs else []


def read_options(
    row: Row, columns: str | tuple[str, ...], where: str, *, repeated: bool = False
) -> tuple[str, ...]:
    """Return the texts of a row's options, in the order of the data.

    Args:
        repeated: whether two options may be the same text, as in a few rows of published benchmarks.

    Raises:
        DataError: fewer than 2 or more than 26, an empty one, or two that are the same text.
    """
    found = row[columns] if isinstance(columns, str) else [row[column] for column in columns]
    if not isinstance(found, list | tuple) or not 2 <= len(found) <= len(LETTERS):
        raise DataError(f"{where}: wanted 2 to {len(LETTERS)} options, found {found!r}")
    texts = tuple(read_text(option, f"{where}: an option").strip() for option in found)
    if len(set(texts)) < len(texts) and not repeated:
        raise DataError(f"{where}: two options are the same text: {list(texts)}")
    return texts


def right_option(reference: Any, options: tuple[str, ...], where: str) -> int:
    """Return the index of the right option. A reference is a letter, the option's text or its index.

    A list of one reference is that reference, and an index may be written as text (MixEval's `["1"]`).

    Raises:
        DataError: it is none of these, or it is one option's letter and the text of another.
    """
    if isinstance(reference, list | tuple) and len(reference) == 1:
        return right_option(reference[0], options, where)
    if isinstance(reference, int) and not isinstance(reference, bool) and 0 <= reference < len(options):
        return reference
    text = reference.strip() if isinstance(reference, str) else None
    found = {options.index(text)} if text in options else set()
    if text and len(text) == 1 and text in LETTERS[: len(options)]:
        found.add(LETTERS.index(text))
    if not found and text and text.isdecimal() and text.isascii() and int(text) < len(options):
        found.add(int(text))
    if len(found) != 1:
        how = "names two options" if found else "is no letter, text or place (from 0) of an option"
        raise DataError(f"{where}: reference {reference!r} {how}; options: {list(options)}")
    return found.pop()


def read_text(value: Any, what: str) -> str:
    """Return a cell as text.

    Raises:
        DataError: the cell is null or blank. `what` names the cell in the message.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        raise DataError(f"{what} is empty")
    return str(value)


def with_aliases(reference: Any, aliases: Any, where: str) -> list[Any]:
    """Return the accepted answers of a row: its reference, then its aliases, each once.

    Args:
        aliases: the cell of the column: a list, a list as JSON, or nothing.

    Raises:
        DataError: the cell is something else.
    """
    if isinstance(aliases, str) and aliases.strip():
        try:
            aliases = json.loads(aliases)
        except ValueError as error:
            raise DataError(f"{where}: aliases are no JSON list: {error}; found {aliases!r:.100}") from None
    aliases = [] if aliases is None or aliases == "" else aliases
    if not isinstance(aliases, list | tuple) or not all(
        isinstance(item, str | int | float) for item in aliases
    ):
        raise DataError(f"{where}: aliases are {aliases!r:.100}, wanted a list of texts")
    given = (
        reference if isinstance(reference, list | tuple) else [] if reference in (None, "") else [reference]
    )
    return list(dict.fromkeys((*given, *aliases)))
