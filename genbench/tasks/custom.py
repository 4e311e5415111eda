"""Tasks that a suite describes itself: rows of a file or of the hub, a prompt, and a verifier or texts to
score.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from genbench.errors import ConfigError, DataError, nearest
from genbench.protocols import HubDataset, Row, Task, TaskInfo
from genbench.suite.config import TaskEntry, Turn
from genbench.tasks.base import Conversation, SingleTurn
from genbench.tasks.choice_options import LETTERS, Order, check_order, letters, listed, option_order
from genbench.tasks.imported import ImportedTask
from genbench.tasks.kinds import KINDS, LIKELIHOOD, Kind, kind_of
from genbench.tasks.page.model import (
    Fields,
    InstructionColumns,
    Page,
    PageFields,
    Scored,
    Template,
    instruction_columns,
    read_fields,
    read_instructions,
    read_options,
    read_text,
    right_option,
    with_aliases,
)
from genbench.tasks.page.task import PagePrompt, PageTask
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
    return replace(info, dataset=HubDataset(**hub.model_dump(), columns=custom.columns))


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


def own_task(entry: TaskEntry) -> Task:
    """Return the task that an entry without `task` describes, scored or drawn.

    Raises:
        ConfigError: its kind, columns, prompt or options are wrong.
    """
    return own_scored_task(entry) if entry.kind == LIKELIHOOD else custom_task(entry)


def with_rule(task: Task, entry: TaskEntry) -> Task:
    """Return a scored task with the rule of the suite's entry as its headline."""
    rule = entry.verifier.get("rule")
    if not isinstance(task, PageTask | ImportedTask) or not task.info.is_scored or not isinstance(rule, str):
        return task
    return replace(task, info=replace(task.info, headline=rule, metrics=(rule,)))


def own_scored_task(entry: TaskEntry) -> PageTask:
    """Return the task of an entry of kind likelihood. Its `options` are the keys of a page's `scored`.

    Raises:
        ConfigError: an unknown key, a wrong value, or a prompt that cannot be used.
    """
    where = f"task '{entry.label}'"
    assert entry.data is not None
    if entry.turns:
        raise ConfigError(f"{where}: 'turns' belong to tasks whose answers are drawn")
    fields = _checked(PageFields, entry.data.fields, f"{where}: data.fields")
    scored = _checked(Scored, entry.options, f"{where}: options")
    prompt = entry.prompt if entry.prompt is not None else ("" if scored.is_document else "{question}")
    page = Page.model_validate(
        {
            "summary": "a task of the suite's own, whose texts are scored",
            "hub": {"repo": "-", "columns": _columns(fields, scored, prompt)},
            "kind": LIKELIHOOD,
            "fields": fields,
            "strip": False,
            "prompt": prompt,
            "system": entry.system,
            "scored": scored,
        }
    )
    template = Template.parse(prompt, f"{where}: prompt")
    return PageTask(
        _scored_info(entry, page), page, KINDS[LIKELIHOOD], PagePrompt(template, page, False), None
    )


def _checked(kind: Any, given: dict[str, Any], where: str) -> Any:
    for key in given:
        if key not in kind.model_fields:
            raise ConfigError(f"{where} has no '{key}'{nearest(key, kind.model_fields)}")
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"][:1])
        raise ConfigError(f"{where}.{key}: {first['msg']}, found {first['input']!r}") from error


def _columns(fields: PageFields, scored: Scored, prompt: str) -> list[str]:
    """Return the columns that a row needs."""
    names = Template.parse(prompt, "prompt").names
    wanted: list[Any] = [fields.id, fields.group, scored.contexts, scored.counted]
    wanted += [name for name in names if name not in ("question", "options", "letters", "examples")]
    wanted += [fields.question] if "question" in names else []
    if not scored.choices:
        wanted += [fields.options] if isinstance(fields.options, str) else list(fields.options)
    if isinstance(fields.reference, str):
        wanted.append(fields.reference)
    wanted += fields.strata.values() if isinstance(fields.strata, dict) else fields.strata
    return list(dict.fromkeys(column for column in wanted if column is not None))


def _scored_info(entry: TaskEntry, page: Page) -> TaskInfo:
    assert page.scored is not None
    assert entry.data is not None
    facts = [page.prompt, page.system, page.fields.model_dump(), page.scored.model_dump()]
    hub = entry.data.hub
    source = None
    if hub is not None:
        source = HubDataset(**hub.model_dump(), columns=page.hub.columns)
    return TaskInfo(
        name=entry.label,
        version="custom-" + hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:8],
        summary=page.summary,
        dataset=source,
        k=1,
        verifier=LIKELIHOOD,
        verifier_options={"rule": page.scored.metric},
        licence="the suite's own",
        metrics=(page.scored.metric,),
        headline=page.scored.metric,
        asks_alike=True,
        is_scored=True,
    )
