"""The context of one row: its fields, then description, exemplars and question joined as lm-eval does."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from genbench.interop.tasks.harness.templates import TemplateFailedError, Templates

Row = Mapping[str, Any]
SAMPLER_SEED = 1234
"""lm-eval's seed of the default sampler, which draws again for every row in the order of the rows."""


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
            TemplateFailedError: they are not a list.
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
        raise TemplateFailedError(f"{text!r:.80} is not a Python literal: {error}") from None


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


@dataclass(frozen=True, slots=True)
class FrozenRow:
    """What is kept of a row: one context or one for each choice, the choices, and the target as given."""

    contexts: tuple[str, ...]
    choices: list[Any] | None
    target: Any
    text_index: int | None = None
    """The index of the right context, for tasks whose choices are in the context."""


class ContextMaker:
    """Makes the contexts of a task's rows in their order.

    Args:
        config: the resolved definition.
        columns: the columns of its rows.
        exemplars: rows for exemplars, in their order.
        same_split: whether they are of the split that is asked, so that the asked row must be left out.
    """

    def __init__(
        self, config: Mapping[str, Any], columns: Sequence[str], exemplars: Sequence[Row], same_split: bool
    ) -> None:
        self._templates = Templates()
        self._config, self._exemplars, self._same_split = config, exemplars, same_split
        shots = config.get("fewshot_config") or {}
        names_choices = config.get("doc_to_choice") is not None
        keys = ("doc_to_text", "doc_to_target", "doc_to_choice")
        text, target, choice = (config.get(key) for key in keys)
        self._own = Fields(text, target, choice, frozenset(columns), self._templates, names_choices)
        self._shot = replace(
            self._own,
            text=_first(shots.get("doc_to_text"), text),
            target=_first(shots.get("doc_to_target"), target),
            choice=_first(shots.get("doc_to_choice"), choice),
        )
        self._delimiter = str(_first(config.get("target_delimiter"), " "))
        self._shot_delimiter = str(_first(shots.get("target_delimiter"), self._delimiter))
        between = str(_first(config.get("fewshot_delimiter"), "\n\n"))
        self._between = str(_first(shots.get("fewshot_delimiter"), between))
        self._shot_prefix = _first(shots.get("gen_prefix"), config.get("gen_prefix"))
        self._sampler = str(shots.get("sampler") or "default")
        self._shots = int(config.get("num_fewshot") or 0)
        self._random = Random(SAMPLER_SEED)
        self._several: bool | None = None
        """Whether the first row's text is an index, so that each choice is a context of its own."""

    def make(self, row: Row) -> FrozenRow:
        """Return the contexts, choices and target of the next row.

        Raises:
            TemplateFailedError: a template fails, or gives what does not fit.
        """
        exemplars = self._drawn(row)  # drawn first: the next row's draw must not depend on a failure
        text, choices = self._own.text_of(row), self._own.choices_of(row)
        target = self._own.target_of(row)
        if self._several is None:
            self._several = isinstance(text, int) and choices is not None
        head = optional_text(self._config.get("description"), row, self._templates) or ""
        head += "".join(self._exemplar(shot) for shot in exemplars)
        prefix = optional_text(self._config.get("gen_prefix"), row, self._templates)
        if self._several:
            contexts = tuple(head + self._asked(choice, prefix, "") for choice in choices or ())
            return FrozenRow(contexts, choices, target, text if isinstance(text, int) else None)
        return FrozenRow((head + self._asked(text, prefix, self._delimiter),), choices, target)

    def pass_over(self, row: Row) -> None:
        """Draw the exemplars of a row that is not made, so that later rows get theirs."""
        with suppress(TemplateFailedError):
            self._drawn(row)

    def _drawn(self, row: Row) -> Sequence[Row]:
        if self._shots < 1:
            return ()
        if not self._exemplars:
            raise TemplateFailedError(f"num_fewshot is {self._shots}, but there are no exemplars")
        if self._sampler == "first_n":
            return first_n(self._exemplars, self._shots, row if self._same_split else None)
        if self._sampler != "default":
            raise TemplateFailedError(f"fewshot_config.sampler '{self._sampler}' has no meaning in lm-eval")
        more = int(self._same_split)
        if len(self._exemplars) < self._shots + more:
            raise TemplateFailedError(f"{self._shots} exemplars are wanted of {len(self._exemplars)}")
        drawn = self._random.sample(list(self._exemplars), self._shots + more)
        found = [one for one in drawn if one != row][: self._shots] if self._same_split else drawn
        if len(found) < self._shots:
            found = self._random.sample([one for one in self._exemplars if one != row], self._shots)
        return found

    def _exemplar(self, row: Row) -> str:
        """Return one exemplar with its answer and what separates it from the next."""
        question, answer = self._shot.text_of(row), self._shot.target_of(row)
        choices = self._shot.choices_of(row)
        if self._several:
            question, choices = (choices or [])[int(question)], None
        if not isinstance(question, str):
            raise TemplateFailedError(f"the question of an exemplar is {question!r:.80}, wanted a text")
        prefix = optional_text(self._shot_prefix, row, self._templates)
        if answer is None or answer == "":
            return question
        if choices and isinstance(answer, int):
            answer = choices[answer]
        elif isinstance(answer, list):
            answer = answer[0]
        if not isinstance(answer, str):
            raise TemplateFailedError(f"the answer of an exemplar is {answer!r:.80}, wanted a text")
        delimiter = self._shot_delimiter if not prefix or _needs_delimiter(question, prefix) else ""
        return question + delimiter + _joined(prefix, answer) + self._between

    def _asked(self, question: Any, prefix: str | None, delimiter: str) -> str:
        """Return the question, with the beginning of the answer if the definition gives one."""
        if not isinstance(question, str):
            raise TemplateFailedError(f"the question is {question!r:.80}, wanted a text")
        if not prefix:
            return question
        return question + (delimiter if _needs_delimiter(question, prefix) else "") + prefix


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _needs_delimiter(before: str, after: str) -> bool:
    return before != "" and not (before[-1].isspace() or after[0].isspace())


def _joined(prefix: str | None, answer: str) -> str:
    if not prefix or not answer:
        return answer or prefix or ""
    return f"{prefix} {answer}" if _needs_delimiter(prefix, answer) else prefix + answer
