"""The text, target and choices of one row, made by the rules of lm-evaluation-harness."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from genbench.task_import.templates import TemplateFailedError, Templates

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a definition that a row is read with: columns, templates, or values.

    A text that is the name of a column means that column. Any other text is a template.
    """

    text: Any
    target: Any
    choice: Any
    columns: frozenset[str]
    templates: Templates
    names_choices: bool
    """Whether the task itself has choices. A target of digits is then an index."""

    def text_of(self, row: Row) -> Any:
        """Return the question: a text, or the index of the right choice for tasks with several contexts."""
        if not isinstance(self.text, str):
            return self.text
        if self.text in self.columns:
            return row[self.text]
        rendered = self.templates.render(self.text, row)
        return int(rendered) if _is_index(rendered) and self.names_choices else rendered

    def target_of(self, row: Row) -> Any:
        """Return the target: a text, an index, or a list of several."""
        if not isinstance(self.target, str):
            return self.target
        if self.target in self.columns:
            return row[self.target]
        rendered = self.templates.render(self.target, row)
        if _is_index(rendered) and self.names_choices:
            return int(rendered)
        if len(rendered) >= 2 and rendered[0] == "[" and rendered[-1] == "]":
            return _literal_or(rendered, rendered)
        return rendered

    def choices_of(self, row: Row) -> list[Any] | None:
        """Return the choices, or None if the definition has none.

        Raises:
            TemplateFailedError: they are no list.
        """
        if self.choice is None:
            return None
        found = self.choice
        if isinstance(found, str):
            found = row[found] if found in self.columns else _literal(self.templates.render(found, row))
        elif isinstance(found, dict):
            found = list(found.values())
        if not isinstance(found, list | tuple):
            raise TemplateFailedError(f"doc_to_choice gives {found!r:.80}, wanted a list")
        return list(found)


def optional_text(field: str | None, row: Row, templates: Templates) -> str | None:
    """Return a column or a rendered template, or None if there is no field (description, gen_prefix)."""
    if not field:
        return None
    return str(row[field]) if field in row else templates.render(field, row)


def _is_index(text: str) -> bool:
    return text.isdigit() and text.isascii()


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise TemplateFailedError(f"{text!r:.80} is no Python literal: {error}") from None


def _literal_or(text: str, other: Any) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return other


def first_n(rows: Sequence[Row], count: int, without: Row | None) -> list[Row]:
    """Return the first exemplars, without the row that is asked.

    Raises:
        TemplateFailedError: there are too few.
    """
    found = [row for row in rows if without is None or row != without][:count]
    if len(found) < count:
        raise TemplateFailedError(f"{count} exemplars are wanted and {len(found)} are there")
    return found
