"""Tasks that a suite describes itself: rows of a file or of the hub, a prompt, and a verifier."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

from genbench.errors import ConfigError, DataError, nearest
from genbench.protocols import HubDataset, Row, TaskInfo
from genbench.suite.config import TaskEntry, Turn
from genbench.tasks.conversation import Conversation
from genbench.tasks.fields import (
    Fields,
    InstructionColumns,
    instruction_columns,
    read_fields,
    read_instructions,
    read_options,
    read_text,
    right_option,
    with_aliases,
)
from genbench.tasks.kinds import Kind, kind_of
from genbench.tasks.options import LETTERS, Order, check_order, letters, listed, option_order
from genbench.tasks.single_turn import SingleTurn
from genbench.tasks.template import Template
from genbench.types import Ask, Message, Problem


@dataclass(frozen=True, slots=True)
class CustomTask:
    """A task that the suite describes, before its rows are read."""

    name: str
    kind_name: str
    """The kind as the suite names it. Empty if the suite gives only a verifier."""
    kind: Kind
    fields: Fields
    templates: tuple[Template, ...]
    """One prompt for each turn. The first asks the question."""
    instructions: tuple[InstructionColumns, ...]
    """One pair of columns for each turn."""
    system: str | None
    order: Order

    @property
    def columns(self) -> tuple[str, ...]:
        """Return every column that is read, each once. The data digest is computed over these."""
        fields = self.fields
        wanted: list[str | None] = [fields.id, fields.question, fields.group]
        wanted += [column for columns in self.instructions for column in columns]
        if isinstance(fields.reference, dict):
            wanted += fields.reference.values()
        else:
            wanted += [fields.reference, fields.aliases]
        if self.kind.lists_options:
            wanted += [fields.options] if isinstance(fields.options, str) else fields.options
        wanted += self.strata.values()
        wanted += self.shown
        return tuple(dict.fromkeys(column for column in wanted if column is not None))

    @property
    def shown(self) -> list[str]:
        """Return the columns that the prompt shows by their own names."""
        made = ("question", "options", "letters") if self.kind.lists_options else ("question",)
        names = dict.fromkeys(name for template in self.templates for name in template.names)
        return [name for name in names if name not in made]

    @property
    def strata(self) -> dict[str, str]:
        """Return the name of each stratum with its column."""
        strata = self.fields.strata
        return strata if isinstance(strata, dict) else {column: column for column in strata}

    @property
    def version(self) -> str:
        """Return a digest of the prompt and the columns. The task has no other version."""
        pieces = [template.pieces for template in self.templates]
        facts = [
            self.kind_name,
            self._field_facts,
            pieces,
            self.instructions,
            self.system,
            self.order,
        ]
        return "custom-" + hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:8]

    @property
    def _field_facts(self) -> dict[str, Any]:
        """Return the columns for the version. Tasks without aliases keep the version that they had."""
        facts = self.fields.model_dump()
        if facts["aliases"] is None:
            del facts["aliases"]
        return facts

    def read(self, place: int, row: Row) -> Problem:
        """Return the problem of a row. `place` is the row's index.

        Raises:
            DataError: a column is missing or empty, or the reference does not fit. The message
                names the row, counted from 1.
        """
        where = f"task {self.name}, row {place + 1}"
        for column in self.columns:
            if column not in row:
                raise DataError(f"{where}: no column '{column}'{nearest(column, map(str, row))}")
        shown = {name: row[name] for name in self.shown}
        shown["question"] = read_text(row[self.fields.question], f"{where}: column '{self.fields.question}'")
        kept: dict[str, Any] = {"shown": shown, "reference": self._reference(row, where)}
        if self.kind.lists_options:
            kept["options"] = read_options(row, self.fields.options, where)
            kept["right"] = right_option(kept["reference"], kept["options"], where)
        elif self.kind.refuses_empty_reference and kept["reference"] in (None, "", []):
            raise DataError(f"{where}: the reference is empty")
        own_id = self.fields.id
        problem_id = str(place) if own_id is None else read_text(row[own_id], f"{where}: the id")
        strata = {name: str(row[column]) for name, column in self.strata.items() if row[column] is not None}
        group = None if self.fields.group is None else str(row[self.fields.group])
        for template in self.templates:
            template.render({"options": "", "letters": "", **shown}, where)
        return Problem(self.name, problem_id, kept, strata, group, len(self.templates))

    def pose(self, problem: Problem, sample_index: int, turn: int = 0) -> Ask:
        """Return one turn's own messages. Without instructions only the last turn has a reference."""
        row, values = problem.row, dict(problem.row["shown"])
        reference, order = self._reference_of(row["reference"], turn), None
        if self.kind.lists_options:
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
        if self._has_instructions:
            return reference[turn]
        return reference if turn == len(self.templates) - 1 else None

    @property
    def _has_instructions(self) -> bool:
        return any(column is not None for column, _ in self.instructions)

    def _reference(self, row: Row, where: str) -> Any:
        wanted = self.fields.reference
        if isinstance(wanted, dict):
            return {name: row[column] for name, column in wanted.items()}
        if self.fields.aliases is not None:
            own = None if wanted is None else row[wanted]
            return with_aliases(own, row[self.fields.aliases], where)
        if wanted is not None:
            return row[wanted]
        if not self._has_instructions:
            return None
        found = [read_instructions(row, columns, where) for columns in self.instructions]
        return found if len(found) > 1 else found[0]


def custom_task(entry: TaskEntry) -> SingleTurn | Conversation:
    """Return the task that an entry without `task` describes.

    Raises:
        ConfigError: its kind, columns, prompt or options are wrong.
    """
    where = f"task '{entry.label}'"
    if entry.data is None:
        raise ConfigError(f"{where}: a task of your own needs 'data'")
    turns = [Turn(prompt=turn) if isinstance(turn, str) else turn for turn in entry.turns]
    kind = kind_of(entry.kind, entry.used_verifier)
    fields = read_fields(entry.data.fields, kind, where)
    custom = CustomTask(
        name=entry.label,
        kind_name=entry.kind or "",
        kind=kind,
        fields=fields,
        templates=_templates(entry, kind, turns, where),
        instructions=instruction_columns(fields, turns, kind, where),
        system=entry.system,
        order=_order(entry, kind, where),
    )
    info = _info(custom, entry, where)
    if turns:
        return Conversation(info, custom.read, custom.pose, custom.columns)
    return SingleTurn(info, custom.read, custom.pose, custom.columns)


def _templates(entry: TaskEntry, kind: Kind, turns: list[Turn], where: str) -> tuple[Template, ...]:
    """Return the prompt of every turn.

    The preset's prompt asks for a final answer, so it fits one turn only.
    """
    first = entry.prompt or ("{question}" if turns else kind.prompt)
    return tuple(
        Template.parse(text, f"{where}: prompt of turn {number}")
        for number, text in enumerate([first, *(turn.prompt for turn in turns)], start=1)
    )


def _info(custom: CustomTask, entry: TaskEntry, where: str) -> TaskInfo:
    info = TaskInfo(
        name=custom.name,
        asks_alike=custom.order != "per_sample",
        version=custom.version,
        summary="a task of the suite's own" + (f", of kind {entry.kind}" if entry.kind else ""),
        dataset=None,
        k=entry.k or 1,
        verifier=custom.kind.verifier,
        licence="the suite's own",
        metrics=custom.kind.metrics,
        shots=_shots(custom, entry, where),
    )
    hub = entry.data.hub if entry.data else None
    if hub is None:
        return info
    source = HubDataset(hub.repo, hub.config, hub.split, custom.columns, revision=hub.revision)
    return replace(info, dataset=source)


def _order(entry: TaskEntry, kind: Kind, where: str) -> Order:
    options = dict(entry.options)
    order = options.pop("order", "as_given")
    if options or (not kind.lists_options and entry.options):
        raise ConfigError(f"{where}: unknown options {list(entry.options)}; kind choice has one, 'order'")
    return check_order(order)


def _shots(custom: CustomTask, entry: TaskEntry, where: str) -> tuple[tuple[str, str], ...]:
    """Return the exemplars, put through the prompt if it shows only the question."""
    first = custom.templates[0]
    if first.names != ("question",):
        return entry.shots
    return tuple((first.render({"question": question}, where), answer) for question, answer in entry.shots)
