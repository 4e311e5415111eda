"""Tasks written in place in a suite: their columns, their prompt, and a verifier by its kind."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import Field, ValidationError

from genbench.errors import ConfigError, DataError, nearest
from genbench.protocols import HubDataset, Row, TaskInfo
from genbench.suite.config import Strict, TaskEntry, Turn
from genbench.tasks.conversation import Conversation
from genbench.tasks.ifeval import instructions
from genbench.tasks.options import LETTERS, Order, check_order, letters, listed, option_order
from genbench.tasks.single_turn import SingleTurn
from genbench.tasks.template import Template
from genbench.types import Ask, Message, Problem

PROMPTS = {
    "math": (
        "{question}\n\nReason step by step, and state the final answer at the very end inside \\boxed{{}}."
    ),
    "choice": (
        "{question}\n\n{options}\n\nReason step by step. Exactly one option is right: "
        "end with a line 'Answer: X', where X is {letters}."
    ),
}
"""Prompts of kinds that ask for a form of answer; every other kind shows the question as it is."""

_METRICS = ("avg@k", "pass@k", "maj@k")
_VOTES = ("math", "choice", "exact")
"""Kinds whose answers can agree with one another; programs and texts cannot vote."""
_INSTRUCTED = ("ifeval", "ifbench")
_OWN_REFERENCE = ("json_schema", "judge")
"""Kinds that can do without a reference column (options, or a judge's own rubric, stand for it)."""


class Fields(Strict):
    """Which columns of a row mean what."""

    question: str = "question"
    id: str | None = Field(None, description="None: a problem is known by its place, from 0")
    reference: str | dict[str, str] | None = Field(None, description="a column, or names with columns")
    options: str | tuple[str, ...] = Field("options", description="a column with a list, or a column each")
    instructions: str | None = Field(None, description="IFEval's column of instruction ids")
    kwargs: str | None = Field(None, description="IFEval's column of their arguments")
    group: str | None = None
    strata: dict[str, str] | tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Custom:
    """A task of a suite's own, before its rows are read."""

    name: str
    kind: str
    fields: Fields
    templates: tuple[Template, ...]
    """One a turn; the first asks the question."""
    graded: tuple[tuple[str | None, str | None], ...]
    """Kinds ifeval and ifbench: the columns of instructions and kwargs of each turn."""
    system: str | None
    order: Order

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is read, each once; the data digest is over these."""
        fields = self.fields
        wanted: list[str | None] = [fields.id, fields.question, fields.group]
        wanted += [column for columns in self.graded for column in columns]
        if isinstance(fields.reference, dict):
            wanted += fields.reference.values()
        else:
            wanted.append(fields.reference)
        if self.kind == "choice":
            wanted += [fields.options] if isinstance(fields.options, str) else fields.options
        wanted += self.strata.values()
        wanted += self.shown
        return tuple(dict.fromkeys(column for column in wanted if column is not None))

    @property
    def shown(self) -> list[str]:
        """The columns that the prompt shows by their own names."""
        made = ("question", "options", "letters") if self.kind == "choice" else ("question",)
        names = dict.fromkeys(name for template in self.templates for name in template.names)
        return [name for name in names if name not in made]

    @property
    def strata(self) -> dict[str, str]:
        strata = self.fields.strata
        return strata if isinstance(strata, dict) else {column: column for column in strata}

    @property
    def version(self) -> str:
        """Of prompt and columns: a suite's own task has no other."""
        pieces = [template.pieces for template in self.templates]
        facts = [self.kind, self.fields.model_dump(), pieces, self.graded, self.system, self.order]
        return "custom-" + hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:8]

    def read(self, place: int, row: Row) -> Problem:
        where = f"task {self.name}, row {place + 1}"
        for column in self.columns:
            if column not in row:
                raise DataError(f"{where}: no column '{column}'{nearest(column, map(str, row))}")
        shown = {name: row[name] for name in self.shown}
        shown["question"] = _text(row[self.fields.question], f"{where}: column '{self.fields.question}'")
        kept: dict[str, Any] = {"shown": shown, "reference": self._reference(row, where)}
        if self.kind == "choice":
            kept["options"] = self._options(row, where)
            kept["right"] = right_option(kept["reference"], kept["options"], where)
        elif self.kind in ("math", "exact") and kept["reference"] in (None, "", []):
            raise DataError(f"{where}: the reference is empty")
        problem_id = str(place) if self.fields.id is None else _text(row[self.fields.id], f"{where}: the id")
        strata = {name: str(row[column]) for name, column in self.strata.items() if row[column] is not None}
        group = None if self.fields.group is None else str(row[self.fields.group])
        for template in self.templates:
            template.render({"options": "", "letters": "", **shown}, where)
        return Problem(self.name, problem_id, kept, strata, group, len(self.templates))

    def pose(self, problem: Problem, sample_index: int, turn: int = 0) -> Ask:
        """One turn's own messages; kinds that list no instructions are graded by their last answer."""
        row, values = problem.row, dict(problem.row["shown"])
        reference, order = self._reference_of(row["reference"], turn), None
        if self.kind == "choice":
            options = row["options"]
            order = option_order(self.order, len(options), problem.problem_id, sample_index)
            texts = [options[place] for place in order]
            if reference is not None:
                reference = {"letter": LETTERS[order.index(row["right"])], "options": texts}
            values |= {"options": listed(texts), "letters": letters(len(texts))}
        text = self.templates[turn].render(values, f"task {self.name}, problem {problem.problem_id}")
        system = (Message("system", self.system),) if self.system is not None and turn == 0 else ()
        return Ask((*system, Message("user", text)), reference, order)

    def _reference_of(self, reference: Any, turn: int) -> Any:
        if len(self.templates) == 1:
            return reference
        if self._lists_instructions:
            return reference[turn]
        return reference if turn == len(self.templates) - 1 else None

    @property
    def _lists_instructions(self) -> bool:
        return any(column is not None for column, _ in self.graded)

    def _reference(self, row: Row, where: str) -> Any:
        wanted = self.fields.reference
        if isinstance(wanted, dict):
            return {name: row[column] for name, column in wanted.items()}
        if wanted is not None:
            return row[wanted]
        if not self._lists_instructions:
            return None
        listed = [_instructions(row, columns, where) for columns in self.graded]
        return listed if len(listed) > 1 else listed[0]

    def _options(self, row: Row, where: str) -> tuple[str, ...]:
        wanted = self.fields.options
        found = row[wanted] if isinstance(wanted, str) else [row[column] for column in wanted]
        if not isinstance(found, list | tuple) or not 2 <= len(found) <= len(LETTERS):
            raise DataError(f"{where}: wanted 2 to {len(LETTERS)} options, found {found!r}")
        texts = tuple(_text(option, f"{where}: an option").strip() for option in found)
        if len(set(texts)) < len(texts):
            raise DataError(f"{where}: two options are the same text: {list(texts)}")
        return texts


def _instructions(row: Row, columns: tuple[str | None, str | None], where: str) -> list[dict[str, Any]]:
    ids_column, kwargs_column = columns
    if ids_column is None:
        return []
    ids = row[ids_column]
    kwargs = row[kwargs_column] if kwargs_column else [{}] * len(ids)
    return instructions(ids, kwargs, where) if ids or kwargs else []


def right_option(reference: Any, options: tuple[str, ...], where: str) -> int:
    """The place of the right option: a reference is a letter, the option's text, or its place from 0.

    Raises:
        DataError: it is none of these, or a letter and another option's text at once.
    """
    if isinstance(reference, int) and not isinstance(reference, bool) and 0 <= reference < len(options):
        return reference
    text = reference.strip() if isinstance(reference, str) else None
    found = {options.index(text)} if text in options else set()
    if text and len(text) == 1 and text in LETTERS[: len(options)]:
        found.add(LETTERS.index(text))
    if len(found) != 1:
        how = "names two options" if found else "is no letter, text or place (from 0) of an option"
        raise DataError(f"{where}: reference {reference!r} {how}; options: {list(options)}")
    return found.pop()


def _text(value: Any, what: str) -> str:
    if value is None or (isinstance(value, str) and not value.strip()):
        raise DataError(f"{what} is empty")
    return str(value)


def custom_task(entry: TaskEntry) -> SingleTurn | Conversation:
    """The task that a suite's entry with `kind` describes.

    Raises:
        ConfigError: its fields, prompt or options are wrong.
    """
    name, kind, data = entry.label, entry.kind or "", entry.data
    where = f"task '{name}'"
    if data is None:
        raise ConfigError(f"{where}: a task of your own needs 'data'")
    fields = _fields(data.fields, kind, where)
    first = entry.prompt or ("{question}" if entry.turns else PROMPTS.get(kind, "{question}"))
    turns = [Turn(prompt=turn) if isinstance(turn, str) else turn for turn in entry.turns]
    custom = Custom(
        name=name,
        kind=kind,
        fields=fields,
        templates=tuple(
            Template.parse(text, f"{where}: prompt of turn {number}")
            for number, text in enumerate([first, *(turn.prompt for turn in turns)], start=1)
        ),
        graded=_graded(fields, turns, kind, where),
        system=entry.system,
        order=_order(entry, where),
    )
    info = TaskInfo(
        name=name,
        version=custom.version,
        summary=f"a task of the suite's own, of kind {kind}",
        dataset=None,
        k=entry.k or 1,
        verifier=kind,
        licence="the suite's own",
        metrics=_METRICS if kind in _VOTES else _METRICS[:2],
        shots=_shots(custom, entry, where),
    )
    if data.hub is not None:
        hub = data.hub
        source = HubDataset(hub.repo, hub.config, hub.split, custom.columns, revision=hub.revision)
        info = replace(info, dataset=source)
    if turns:
        return Conversation(info, custom.read, custom.pose, custom.columns)
    return SingleTurn(info, custom.read, custom.pose, custom.columns)


def _graded(
    fields: Fields, turns: Sequence[Turn], kind: str, where: str
) -> tuple[tuple[str | None, str | None], ...]:
    for turn in turns:
        if kind not in _INSTRUCTED and (turn.instructions or turn.kwargs):
            raise ConfigError(f"{where}: turns: instructions belong to the kinds {', '.join(_INSTRUCTED)}")
    return ((fields.instructions, fields.kwargs), *((turn.instructions, turn.kwargs) for turn in turns))


def _fields(given: dict[str, Any], kind: str, where: str) -> Fields:
    for key in given:
        if key not in Fields.model_fields:
            raise ConfigError(f"{where}: data.fields has no '{key}'{nearest(key, Fields.model_fields)}")
    try:
        fields = Fields.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"][:1])
        raise ConfigError(f"{where}: data.fields.{key}: {first['msg']}, found {first['input']!r}") from error
    if fields.reference is None and fields.instructions is None and kind not in _OWN_REFERENCE:
        fields = fields.model_copy(update={"reference": "reference"})
    if fields.instructions is not None and kind not in _INSTRUCTED:
        raise ConfigError(f"{where}: data.fields.instructions belongs to the kinds {', '.join(_INSTRUCTED)}")
    return fields


def _order(entry: TaskEntry, where: str) -> Order:
    options = dict(entry.options)
    order = options.pop("order", "as_given")
    if options or (entry.kind != "choice" and entry.options):
        raise ConfigError(f"{where}: unknown options {list(entry.options)}; kind choice has one, 'order'")
    return check_order(order)


def _shots(custom: Custom, entry: TaskEntry, where: str) -> tuple[tuple[str, str], ...]:
    """Exemplar questions are put through the prompt where it shows nothing but the question."""
    first = custom.templates[0]
    if first.names != ("question",):
        return entry.shots
    return tuple((first.render({"question": question}, where), answer) for question, answer in entry.shots)
