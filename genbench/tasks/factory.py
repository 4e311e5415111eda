"""Making of the task that an entry of a suite names or describes, and the checks that need none of its
rows.

An entry names a task, or it describes one: rows of a file or of the hub, a prompt, and a verifier or texts
to score.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from genbench import registry
from genbench.errors import ConfigError, DataError, options_mistake
from genbench.protocols import HubDataset, Row, Task, TaskInfo
from genbench.sandbox.environment import is_digest
from genbench.stats.metrics import SCORED_METRICS, parse_metric
from genbench.suite.config import IMPORTED, TaskEntry, Turn
from genbench.suite.shipped import resolve
from genbench.suite.suitefile import Suite
from genbench.tasks.base import Conversation, SingleTurn, require_columns
from genbench.tasks.choice_options import Order, check_order, letters, listed, shown_options
from genbench.tasks.imported import ImportedTask, imported_task
from genbench.tasks.kinds import JUDGE, KINDS, LIKELIHOOD, Kind, kind_of
from genbench.tasks.metrics import check_metric, is_built_in
from genbench.tasks.page.model import (
    DEFAULT_PROTOCOL,
    Fields,
    InstructionColumns,
    Page,
    PageFields,
    Scored,
    Template,
    checked_block,
    opening,
    read_instructions,
    read_options,
    read_question,
    read_reference,
    read_text,
    right_option,
)
from genbench.tasks.page.task import AgentPage, PagePrompt, PageTask, page_factory
from genbench.tasks.plugin_guard import guarded_task
from genbench.tasks.published import named_scores
from genbench.types import Ask, Message, Problem


def entry_place(suite: Suite, entry: TaskEntry, *keys: str | int) -> str:
    """Return `file:line` of a key of the entry, and the task's name."""
    return f"{suite.where(*suite.loc_of(entry.label), *keys)}: task '{entry.label}'"


def check_verifier(suite: Suite, entry: TaskEntry, task: Task) -> None:
    """Refuse a verifier name that does not exist. The verifier itself is loaded later, in its own process."""
    name = entry.used_verifier or task.info.verifier
    if name == JUDGE:
        return
    try:
        registry.find("verifier", name, suite.folder)
    except ConfigError as error:
        keys = ("verifier", "use") if entry.used_verifier else ()
        raise ConfigError(f"{entry_place(suite, entry, *keys)}: {error}") from error


def check_scored(suite: Suite, entry: TaskEntry, k: int) -> None:
    """Refuse keys of a scored task that only mean something when an answer is drawn."""
    if k != 1:
        raise ConfigError(
            f"{entry_place(suite, entry, 'k')}: k is {k}, wanted 1: scores of given texts do not vary; leave "
            "k out"
        )
    given = entry.decoding.model_dump(exclude_none=True)
    if given:
        raise ConfigError(
            f"{entry_place(suite, entry, 'decoding')}: decoding.{next(iter(given))} is set, but nothing is "
            "drawn in a scored task; leave decoding out"
        )


def check_metrics(suite: Suite, entry: TaskEntry, task: Task, k: int) -> None:
    """Refuse metrics that do not exist or do not go with `k`, and a headline that no comparison can test."""
    for place, metric in enumerate(entry.metrics or task.info.metrics):
        try:
            check_metric(metric, k, str(suite.folder))
            if metric in SCORED_METRICS and metric not in task.info.metrics:
                raise ConfigError(
                    f"'{metric}' is not a metric of this task; leave it out: a scored task has it next to "
                    "its headline in any case"
                )
        except ConfigError as error:
            raise type(error)(f"{entry_place(suite, entry, 'metrics', place)}: metrics: {error}") from error
    if not is_built_in(task.info.headline):
        raise ConfigError(
            f"{entry_place(suite, entry)}: the headline is '{task.info.headline}', wanted one of genbench's "
            "own metrics, which comparisons can test; put it into 'metrics'"
        )
    if (parse_metric(task.info.headline).k or k) > k:
        raise ConfigError(
            f"{entry_place(suite, entry, 'k')}: the headline is {task.info.headline}, but k is {k}"
        )


def check_reference(suite: Suite, entry: TaskEntry, task: Task) -> None:
    """Refuse a reference that names no published score of the task."""
    try:
        named_scores(task.info.published, entry.reference)
    except ConfigError as error:
        raise ConfigError(f"{entry_place(suite, entry, 'reference')}: {error}") from error


def with_folders(suite: Suite, entry: TaskEntry) -> TaskEntry:
    """Resolve the paths among the verifier's options against the suite's folder.

    They are the folders (punkt_dir, tagger_dir), and those of `environment`.
    """
    folders = {
        key: str(resolve(value, suite.folder))
        for key, value in entry.verifier.items()
        if key.endswith("_dir") and isinstance(value, str)
    }
    found: dict[str, Any] = dict(folders)
    if isinstance(given := entry.verifier.get("environment"), Mapping):
        found["environment"] = with_places(given, suite.folder)
    return entry.model_copy(update={"verifier": entry.verifier | found}) if found else entry


def with_places(environment: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return an environment with its paths resolved against a folder. A digest is not a path."""
    return {
        key: str(resolve(value, folder)) if isinstance(value, str) and not is_digest(value) else value
        for key, value in environment.items()
    }


_TOOL_LOOP, _USER_LOOP, _GENERATED, _AGENT = "tool_loop", "user_loop", "generated", "agent"
_SANDBOX = ("tier", "wall_s", "memory_mib", "unsafe_local_exec")
"""Options of the verifier that the task needs too, because both run the functions."""
TARGETS = {
    _TOOL_LOOP: "genbench.tasks.python.loops:tool_loop",
    _USER_LOOP: "genbench.tasks.python.loops:user_loop",
    _GENERATED: "genbench.tasks.python.own_generator:generated",
    _AGENT: registry.AGENT_TASK,
}
"""Tasks that need files of the suite. They are not benchmarks, so `genbench tasks` does not list them."""
FILE_OPTIONS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        _TOOL_LOOP: ("functions", "rows"),
        _USER_LOOP: ("functions", "rows", "policy"),
        _GENERATED: ("generator",),
        _AGENT: ("source", "python", "images", "grader", "kit"),
    }
)
"""The options of these tasks that name files: `PATH`, or `PATH:NAME`."""


def check_task_name(suite: Suite, entry: TaskEntry) -> None:
    """Check that there is a task of the name that an entry gives, or a kind. No plug-in is imported.

    Raises:
        ConfigError: there is none, with the nearest name; or a task of the suite's own is wrong.
    """
    if entry.task is None:
        own_task(entry)
        return
    if entry.names_page or entry.names_import:
        return
    try:
        registry.find("task", TARGETS.get(entry.task, entry.task), suite.folder)
    except ConfigError as error:
        raise type(error)(f"{entry_place(suite, entry, 'task')}: {error}") from error


def make_task(suite: Suite, entry: TaskEntry) -> Task:
    """Return the task of an entry without reading its rows.

    Raises:
        ConfigError: an unknown name or kind, wrong options, or a plug-in that is not a task.
    """
    return with_rule(_made(suite, entry), entry)


def _made(suite: Suite, entry: TaskEntry) -> Task:
    if entry.task is None:
        return own_task(entry)
    where = entry_place(suite, entry)
    try:
        if entry.names_page:
            return _task_of_page(suite, entry, entry.task)
        if entry.names_import:
            place = resolve(entry.task.removeprefix(IMPORTED), suite.folder)
            return imported_task(place, _with_places(entry.options, suite))
        own = TARGETS.get(entry.task)
        plug_in = registry.find("task", own or entry.task, suite.folder, is_allowed=own is not None)
        found = plug_in.load()
        if callable(found):
            found = plug_in.build(_options(suite, entry, found))
        elif entry.options:
            raise ConfigError(f"it takes no options, found {', '.join(entry.options)}")
        task: Task = found if plug_in.is_built_in else guarded_task(plug_in, found)
    except ConfigError as error:
        raise type(error)(f"{where}: {error}") from error
    return task


def _with_places(options: dict[str, Any], suite: Suite) -> dict[str, Any]:
    """Return the options of an imported task with its paths resolved against the suite's folder."""
    paths = {
        name: str(resolve(options[name], suite.folder))
        for name in ("python", "definitions")
        if isinstance(options.get(name), str)
    }
    return {**options, **paths}


def _task_of_page(suite: Suite, entry: TaskEntry, name: str) -> Task:
    """Return the task of a page of the user's own, a file of the suite's folder.

    Raises:
        ConfigError: the file is not a valid page, or it knows no such protocol or option.
    """
    make = page_factory(resolve(name, suite.folder))
    return make(**_options(suite, entry, make))


def _options(suite: Suite, entry: TaskEntry, make: Any) -> dict[str, Any]:
    """Return the options of an entry, with its protocol if it names one.

    Raises:
        ConfigError: the task knows no protocols.
    """
    given = {**entry.options, **_files(suite, entry, make)}
    if entry.protocol == DEFAULT_PROTOCOL:
        return given
    if options_mistake(make, {"protocol": entry.protocol}) is not None:
        raise ConfigError(f"it has only the protocol {DEFAULT_PROTOCOL}, found protocol '{entry.protocol}'")
    return {**given, "protocol": entry.protocol}


def _files(suite: Suite, entry: TaskEntry, make: Any) -> dict[str, Any]:
    """Return the options of a task with code of the suite: its files in the suite's folder, its sandbox."""
    found: dict[str, Any] = {}
    names = FILE_OPTIONS[_AGENT] if isinstance(make, AgentPage) else FILE_OPTIONS.get(entry.task or "", ())
    for option in names:
        if option in entry.options:
            path, _, name = str(entry.options[option]).rpartition(":")
            found[option] = (
                f"{resolve(path, suite.folder)}:{name}" if path else str(resolve(name, suite.folder))
            )
    if entry.task in (_TOOL_LOOP, _USER_LOOP):
        own = {name: entry.verifier[name] for name in _SANDBOX if name in entry.verifier}
        found |= {"sandbox": own} if own else {}
    if entry.task == _AGENT and isinstance(entry.options.get("command"), list):
        found["command"] = [_program(str(word), suite.folder) for word in entry.options["command"]]
    if entry.task == _GENERATED and "generator" in found:
        found["named"] = str(entry.options["generator"])
    return found


def _program(word: str, folder: Path) -> str:
    """Return a word of a command. A word that names a file of the suite's folder becomes its whole path."""
    place = folder / word
    return str(place.absolute()) if word and not word.startswith("-") and place.is_file() else word


def read_fields(given: dict[str, Any], kind: Kind, where: str) -> Fields:
    """Return the columns that a suite names, with the defaults of the kind.

    A kind requires the column `reference`. Without a kind, `reference: null` means that there is none.

    Raises:
        ConfigError: an unknown key, a wrong value, or instructions in a kind that has none.
    """
    fields = checked_block(Fields, given, f"{where}: data.fields")
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
        wanted: list[str | None] = [fields.id, fields.question, fields.group, fields.judge]
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
        fields = self.fields.model_dump()
        for later in ("aliases", "judge"):  # tasks without them keep the version that they had
            if fields[later] is None:
                del fields[later]
        pieces = [template.pieces for template in self.templates]
        return _version([self.kind_name, fields, pieces, self.instructions, self.system, self.order])

    def read(self, place: int, row: Row) -> Problem:
        """Return the problem of a row. `place` is the row's index.

        Raises:
            DataError: a column is missing or empty, or the reference does not fit. The message
                names the row, counted from 1.
        """
        where = f"task {self.name}, row {place + 1}"
        require_columns(row, self.columns, where)
        shown = {name: row[name] for name in self.shown}
        asked, what = row[self.fields.question], f"{where}: column '{self.fields.question}'"
        shown["question"], earlier = read_question(asked, what)
        kept: dict[str, Any] = {"shown": shown, "reference": self._reference(row, where)}
        if earlier:
            kept["earlier"] = earlier
        if self.kind.lists_options:
            kept["options"] = read_options(row, self.fields.options, where)
            kept["right"] = right_option(kept["reference"], kept["options"], where)
        elif self.kind.refuses_empty_reference and kept["reference"] in (None, "", []):
            raise DataError(f"{where}: the reference is empty")
        if self.fields.judge is not None:
            kept["judge"] = read_text(row[self.fields.judge], f"{where}: what the judge is asked")
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
            order, texts, chosen = shown_options(self.order, problem, sample_index)
            reference = None if reference is None else chosen
            values |= {"options": listed(texts), "letters": letters(len(texts))}
        text = self.templates[turn].render(values, f"task {self.name}, problem {problem.problem_id}")
        before = opening(self.system, row.get("earlier", ())) if turn == 0 else ()
        return Ask((*before, Message("user", text)), reference, order)

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
        if not self._has_instructions or self.fields.reference or self.fields.aliases:
            return read_reference(row, self.fields, where)
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
    return TaskInfo(
        name=custom.name,
        asks_alike=custom.order != "per_sample",
        version=custom.version,
        summary="a task of the suite's own" + (f", of kind {entry.kind}" if entry.kind else ""),
        dataset=_hub_dataset(entry, custom.columns),
        k=entry.k or 1,
        verifier=custom.kind.verifier,
        licence="the suite's own",
        metrics=custom.kind.metrics,
        shots=_shots(custom, entry, where),
    )


def _hub_dataset(entry: TaskEntry, columns: tuple[str, ...]) -> HubDataset | None:
    """Return the dataset that an entry names, or None if its rows are in a file."""
    hub = entry.data.hub if entry.data else None
    return None if hub is None else HubDataset(**hub.model_dump(), columns=columns)


def _version(facts: Sequence[Any]) -> str:
    """Return a digest of everything that shapes prompts and references. The task has no other version."""
    return "custom-" + hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:8]


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
    fields = checked_block(PageFields, entry.data.fields, f"{where}: data.fields")
    scored = checked_block(Scored, entry.options, f"{where}: options")
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
    facts = [page.prompt, page.system, page.fields.model_dump(), page.scored.model_dump()]
    return TaskInfo(
        name=entry.label,
        version=_version(facts),
        summary=page.summary,
        dataset=_hub_dataset(entry, page.hub.columns),
        k=1,
        verifier=LIKELIHOOD,
        verifier_options={"rule": page.scored.metric},
        licence="the suite's own",
        metrics=(page.scored.metric,),
        headline=page.scored.metric,
        asks_alike=True,
        is_scored=True,
    )
