"""The task that a page makes: its facts, how its rows are read and asked, and its factory for the
registry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from genbench.consent import require_consent
from genbench.errors import ConfigError, DataError, nearest
from genbench.protocols import (
    MACRO_JOINT,
    HubDataset,
    PublishedScore,
    ReportedScale,
    Row,
    Task,
    TaskInfo,
)
from genbench.registry import AGENT_PAGE_TASK, PlugIn, load_object
from genbench.tasks.base import RowProblems, RowReader, RowTask
from genbench.tasks.choice_options import LETTERS, check_order, letters, listed, shown_options
from genbench.tasks.kinds import KINDS, Kind
from genbench.tasks.page.model import (
    DEFAULT_PROTOCOL,
    Page,
    Template,
    column_of,
    is_after,
    is_at_most,
    opening,
    read_instructions,
    read_options,
    read_question,
    read_reference,
    read_text,
    right_option,
)
from genbench.tasks.page.reader import PageFile, read_page
from genbench.tasks.pages import is_built_in_page, page_path
from genbench.tasks.rollouts import rollout_info
from genbench.tools.families import AUTO
from genbench.tools.loop import play
from genbench.tools.python_tool import LOOP, OFFER, RULES, STEPS, PythonTool
from genbench.types import Ask, Choice, Message, Problem, Scoring


def scored_row(page: Page, row: Row, shown: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return what a problem keeps of its row: the texts, their contexts, and the right ones.

    Args:
        shown: the values of the prompt's placeholders.

    Raises:
        DataError: a column is missing or has no text, or the reference names no choice.
    """
    assert page.scored is not None
    texts = _texts(page, row, where)
    contexts = None
    if page.scored.contexts is not None:
        contexts = [_text(item, where) for item in column_of(row, page.scored.contexts, where)]
        if len(contexts) != len(texts):
            raise DataError(f"{where}: {len(contexts)} contexts for {len(texts)} choices")
    own = page.scored.counted
    counted = None if own is None else [_text(column_of(row, own, where), where)]
    return {
        "shown": shown,
        "options": texts,
        "contexts": contexts,
        "counted": counted,
        "gold": _gold(page, row, texts, where),
    }


def scored_ask(page: Page, row: Mapping[str, Any], context: str, system: str | None) -> Ask:
    """Return what a problem asks a model to score.

    Args:
        row: what `scored_row` kept.
        context: the rendered prompt.
    """
    scored = page.scored
    assert scored is not None
    texts = row["options"]
    asked = list(LETTERS[: len(texts)]) if scored.letters else texts
    contexts = row["contexts"] or [context] * len(texts)
    counted = row["counted"] or asked
    choices = tuple(
        Choice(before, text, own, scored.delimiter, scored.prior)
        for before, text, own in zip(contexts, asked, counted, strict=True)
    )
    messages = [Message("system", system)] if system is not None else []
    reference: dict[str, Any] = {"gold": row["gold"], "delimiter": len(scored.delimiter)}
    if not scored.is_document:
        reference["choices"] = contexts if row["contexts"] else list(texts)
    return Ask(
        (*messages, Message("user", contexts[0])),
        reference,
        scoring=Scoring(choices, scored.is_document, scored.window),
    )


def _texts(page: Page, row: Row, where: str) -> list[str]:
    assert page.scored is not None
    columns = page.fields.options
    if page.scored.choices:
        found: Any = page.scored.choices
    elif isinstance(columns, str):
        found = column_of(row, columns, where)
        found = [found] if isinstance(found, str) else found
    else:
        found = [column_of(row, column, where) for column in columns]
    if not isinstance(found, list | tuple) or not 1 <= len(found) <= len(LETTERS):
        raise DataError(f"{where}: wanted 1 to {len(LETTERS)} texts to score, found {found!r:.80}")
    return [_text(item, where) for item in found]


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise DataError(f"{where}: a text to score is {value!r:.80}, wanted text")
    return value


def _gold(page: Page, row: Row, texts: list[str], where: str) -> list[int]:
    if len(texts) == 1:
        return [0]
    if page.fields.right is not None:
        return [page.fields.right]
    given = column_of(row, str(page.fields.reference), where)
    several = given if isinstance(given, list) else [given]
    return [right_option(item, tuple(texts), where) for item in several]


PLACE = "place"
"""Column that each row gets, unless it has one of this name: its number within its config, from 0."""
_NUMBER = "\0number"
"""The same number, under a name that no column has."""
_MADE = ("question", "options", "letters", "examples")


@dataclass(frozen=True, slots=True)
class PagePrompt:
    """The prompt of a page: its template, the column of the question, and the texts by column."""

    template: Template
    page: Page
    lists_options: bool
    system: Template | None = None
    """The system prompt, which may show columns too."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns that the prompts show by their own names."""
        lists = self.lists_options or self.page.scored is not None
        made = (*(_MADE if lists else ("question", "examples")), *self.page.texts)
        names = (*self.template.names, *(self.system.names if self.system else ()))
        return tuple(dict.fromkeys(name for name in names if name not in made))

    def shown(self, row: Row, question: Any, where: str) -> dict[str, Any]:
        """Return the values of the placeholders that are the same for every sample.

        Raises:
            DataError: a column is missing, or a text has no variant for the row.
        """
        found: dict[str, Any] = {"question": self._plain(question)}
        for name in self.columns:
            found[name] = self._plain(column_of(row, name, where))
        for name, table in self.page.texts.items():
            value = str(column_of(row, table.by, where))
            text = table.values.get(value, table.other)
            if text is None:
                raise DataError(f"{where}: the prompt has no {{{name}}} for {table.by} '{value}'")
            found[name] = text
        return found

    def render(self, shown: Mapping[str, Any], options: Sequence[str], where: str) -> str:
        """Return the text of the prompt."""
        values = dict(shown)
        if self.lists_options:
            values |= {"options": listed(options, self.page.options_as), "letters": letters(len(options))}
        return self.template.render(values, where)

    def examples(self, row: Row, rows: Sequence[Row], where: str) -> str:
        """Return the exemplars of a row: the first rows of the other split that go with it."""
        given = self.page.examples
        if given is None:
            return ""
        same = [one for one in rows if given.by is None or one[given.by] == column_of(row, given.by, where)]
        template = Template.parse(given.text, "examples.text")
        found = []
        for one in same[: given.count]:
            options = listed(one.get(given.options) or (), self.page.options_as)
            found.append(template.render({**one, "options": options}, where))
        return "".join(found)

    def _plain(self, value: Any) -> Any:
        return value.strip() if self.page.strip and isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class PageTask(RowTask):
    """A benchmark in one protocol, as its page describes it."""

    info: TaskInfo
    page: Page
    kind: Kind
    prompt: PagePrompt
    row_function: RowReader | None
    example_rows: tuple[Row, ...] = ()
    """Rows of the split from which the exemplars of the prompt are, if the page names one."""
    tool: PythonTool | None = field(default=None, compare=False, repr=False)
    """What runs the scripts of samples, if the page offers Python."""

    @property
    def is_slow(self) -> bool:
        """Return whether what is asked next depends on scripts, which may take seconds."""
        return self.tool is not None

    @property
    def last_decides(self) -> bool:
        """Return whether the verifier gets the question and the last reply, and no calls before it."""
        return self.tool is not None

    @property
    def tool_facts(self) -> str | None:
        """Return what decides the results of scripts, or None if there are none. It is a term of the run."""
        return None if self.tool is None else self.tool.facts

    @property
    def example_data(self) -> HubDataset | None:
        """Return the dataset of the exemplars, or None if the prompt has none of another split."""
        given, data = self.page.examples, self.info.dataset
        if given is None or data is None:
            return None
        other = {"split": given.split, "columns": given.columns, "rows": None, "digest": None}
        return data.model_copy(update=other)

    def with_examples(self, rows: Sequence[Row]) -> PageTask:
        """Return the task with the rows of its exemplars."""
        given = self.page.examples
        complete: RowReader | None = None
        if given is not None and given.row is not None:
            complete = load_object(given.row)
        if complete is None:
            return replace(self, example_rows=tuple(rows))
        found = [one for place, row in enumerate(rows) for one in _several(complete(row, place))]
        return replace(self, example_rows=tuple(found))

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns that a file of the user needs."""
        return self.page.hub.columns

    def read_rows(self, rows: Sequence[Row]) -> RowProblems:
        """Return the problems, and the rows that cannot be asked with the reason.

        Raises:
            DataError: no row can be asked, or two rows have one id.
        """
        rows, unusable = self._completed(self._placed(rows))
        if unusable and not rows:
            raise DataError(unusable[0])
        found = RowTask.read_rows(self, rows)
        return RowProblems(found.problems, (*unusable, *found.unusable))

    def ask(self, problem: Problem, sample_index: int, replies: Sequence[str]) -> Ask | None:
        """Return the question, or after replies the next of the further texts of the row."""
        further: Sequence[str] = problem.row.get("further", ())
        if len(replies) > len(further) and self.tool is None:
            return None
        if self.page.scored is not None:
            return self._scored_ask(problem.row)
        row, reference, order = problem.row, problem.row["reference"], None
        options: Sequence[str] = ()
        if self.kind.lists_options:
            order, options, reference = shown_options(self.page.order, problem, sample_index)
        text = self.prompt.render(row["shown"], options, f"task {self.info.name}")
        messages = list(opening(self._system(row["shown"]), row.get("earlier", ())))
        for question, answer in self.page.turns_before:
            messages += [Message("user", question), Message("assistant", answer)]
        messages.append(Message("user", text))
        if self.tool is not None:
            played = play([messages], self.tool, replies, LOOP)
            return None if played.is_over else Ask(played.messages, reference, order, tools=OFFER)
        for reply, asked in zip(replies, further, strict=False):
            messages += [Message("assistant", reply), Message("user", asked)]
        return Ask(tuple(messages), reference, order)

    def _scored_ask(self, row: Row) -> Ask:
        """Return the texts of a problem that a model scores."""
        values = dict(row["shown"]) | {"options": listed(row["options"], self.page.options_as)}
        context = self.prompt.template.render(values, f"task {self.info.name}")
        return scored_ask(self.page, row, context, self._system(row["shown"]))

    def _system(self, shown: Mapping[str, Any]) -> str | None:
        """Return the system prompt of a problem. That of a suite's own scored task has no placeholders."""
        template = self.prompt.system
        return self.page.system if template is None else template.render(shown, f"task {self.info.name}")

    def _placed(self, rows: Sequence[Row]) -> list[Row]:
        """Return the rows with their numbers, without those that do not belong to the task."""
        column, counts, found = self.page.hub.config_column, dict[Any, int](), list[Row]()
        for row in rows:
            config = row.get(column)
            number = counts[config] = counts.get(config, -1) + 1
            found.append({PLACE: number, **row, _NUMBER: number})
        for name, values in self.page.where.items():
            found = [row for row in found if column_of(row, name, f"task {self.info.name}") in values]
        for name, most in self.page.most.items():
            found = [row for row in found if is_at_most(column_of(row, name, f"task {self.info.name}"), most)]
        for name, date in self.page.after.items():
            found = [row for row in found if is_after(column_of(row, name, f"task {self.info.name}"), date)]
        if not found:
            raise DataError(
                f"task {self.info.name}: none of {len(rows)} rows belongs to it "
                f"({self.page.where or ''}{self.page.most or ''}{self.page.after or ''})"
            )
        return found

    def _completed(self, rows: Sequence[Row]) -> tuple[Sequence[Row], list[str]]:
        """Return the rows as the page's function completes them, and a message for each that it refuses."""
        if self.row_function is None:
            return rows, []
        found: list[Row] = []
        refused: list[str] = []
        for row in rows:
            try:
                completed = self.row_function(row, row[_NUMBER])
            except DataError as error:
                refused.append(f"{self._where(row)}: {error}")
                continue
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                refused.append(f"{self._where(row)}: a column has another form than expected: {error!r}")
                continue
            numbers = {PLACE: row[PLACE]}, {_NUMBER: row[_NUMBER]}
            found += [{**numbers[0], **item, **numbers[1]} for item in _several(completed)]
        return found, refused

    def read_row(self, place: int, row: Row) -> Problem:
        """Return the problem of a row, as in the base class."""
        where, fields = self._where(row), self.page.fields
        asks = self.page.scored is None or "question" in self.prompt.template.names
        cell = column_of(row, fields.question, where) if asks else ""
        what = f"{where}: column '{fields.question}'"
        question, earlier = "", list[dict[str, str]]()
        if self.page.scored is None:
            question, earlier = read_question(cell, what)
        elif asks:
            question = read_text(cell, what)
        shown = self.prompt.shown(row, question, where)
        shown["examples"] = self.prompt.examples(row, self.example_rows, where)
        strata = self._strata(row, where)
        group = None if fields.group is None else str(column_of(row, fields.group, where))
        if self.page.scored is not None:
            kept = scored_row(self.page, row, shown, where)
            return Problem(self.info.name, self._id(row, where), kept, strata, group)
        kept = {"shown": shown, "reference": self._reference(row, where)}
        if earlier:
            kept["earlier"] = earlier
        if fields.further is not None:
            kept["further"] = _further(column_of(row, fields.further, where), where)
        if self.kind.lists_options:
            kept["options"] = read_options(row, fields.options, where, repeated=True)
            kept["also"] = () if fields.also is None else tuple(column_of(row, fields.also, where))
            kept["right"] = fields.right
            if fields.right is None:
                kept["right"] = right_option(kept["reference"], kept["options"], where)
        elif self.kind.refuses_empty_reference and kept["reference"] in (None, "", []):
            raise DataError(f"{where}: the reference is empty")
        if fields.judge is not None:
            kept["judge"] = read_text(
                column_of(row, fields.judge, where), f"{where}: what the judge is asked"
            )
        if isinstance(self.page.chance, str):
            kept["chance"] = column_of(row, self.page.chance, where)
        own = self._id(row, where)
        if self.tool is not None:
            return Problem(self.info.name, own, kept, strata, group, STEPS, ends_early=True, likely_turns=3)
        turns = 1 + len(kept.get("further", ()))
        return Problem(self.info.name, own, kept, strata, group, turns)

    def _where(self, row: Row) -> str:
        """Return the task and the number of a row for messages, from 1."""
        hub = self.page.hub
        config = f" of {row.get(hub.config_column)}" if hub.configs else ""
        return f"task {self.info.name}, row {row[_NUMBER] + 1}{config}"

    def _id(self, row: Row, where: str) -> str:
        hub, column = self.page.hub, self.page.fields.id
        own = row[_NUMBER] if column is None else read_text(column_of(row, column, where), f"{where}: the id")
        return f"{row[hub.config_column]}/{own}" if hub.configs else str(own)

    def _strata(self, row: Row, where: str) -> dict[str, str]:
        given = self.page.fields.strata
        columns = given if isinstance(given, dict) else {column: column for column in given}
        found = {name: column_of(row, column, where) for name, column in columns.items()}
        if self.page.macro_lists and isinstance(several := found.get(self.page.macro or ""), list):
            found[str(self.page.macro)] = MACRO_JOINT.join(map(str, several))
        return {name: str(value).strip() for name, value in found.items() if value not in (None, "")}

    def _reference(self, row: Row, where: str) -> Any:
        fields = self.page.fields
        if fields.instructions is not None:
            return read_instructions(row, (fields.instructions, fields.kwargs), where)
        return read_reference(row, fields, where)


def _further(cell: Any, where: str) -> list[str]:
    """Return the further texts that a row asks.

    Raises:
        DataError: the cell is not a list of texts.
    """
    if not isinstance(cell, list | tuple) or not all(isinstance(text, str) and text.strip() for text in cell):
        raise DataError(f"{where}: wanted a list of texts to ask in turn, found {cell!r:.80}")
    return list(cell)


def _several(completed: Row | list[Row]) -> list[Row]:
    """Return what a row function made of a row as a list of rows."""
    return completed if isinstance(completed, list) else [completed]


def page_factory(path: Path) -> Callable[..., Task]:
    """Return a function that makes the task of a page.

    It takes the protocol and the options of the page. If the page names a function of its own, that one is
    returned.

    Raises:
        ConfigError: the file is not a valid page.
    """
    file = read_page(path)
    if file.page.agent is not None:
        return AgentPage(file)
    if file.page.python is not None:
        made: Callable[..., Task] = page_function(file.page.python, path)
        return made

    def make(protocol: str = DEFAULT_PROTOCOL, **options: Any) -> Task:
        """Return the task in a protocol and with options of its page."""
        return page_task(file, protocol, options)

    return make


@dataclass(frozen=True, slots=True)
class AgentPage:
    """Makes the task of the page of an agent benchmark. Its options are those of the task `agent`."""

    file: PageFile

    @property
    def info(self) -> TaskInfo:
        """Return the facts of the task."""
        return rollout_info(page_info(self.file, self.file.page))

    def __call__(
        self,
        source: str | None = None,
        *,
        python: str | None = None,
        settings: Mapping[str, Any] | None = None,
        limits: Mapping[str, Any] | None = None,
        environment: Sequence[str] = (),
        peers: Mapping[str, Any] | None = None,
        parser: str = AUTO,
        images: str | None = None,
        grader: str | None = None,
        kit: str | None = None,
    ) -> Task:
        """Return the task. What a suite gives replaces the page's settings and limits key by key.

        Raises:
            ConfigError: an option is wrong.
        """
        made: Task = load_object(AGENT_PAGE_TASK)(
            self.info,
            self.file.page.agent,
            source,
            python=python,
            settings=settings,
            limits=limits,
            environment=environment,
            peers=peers,
            parser=parser,
            images=images,
            grader=grader,
            kit=kit,
        )
        return made


def page_task(file: PageFile, protocol: str, options: Mapping[str, Any]) -> PageTask:
    """Return the task of a page.

    Raises:
        ConfigError: the page has no such protocol or option, or the prompt cannot be used.
    """
    given = dict(options)
    configs = _configs(file, given)
    order, window = given.pop("order", None), given.pop("window", None)
    sandbox = given.pop("sandbox", None)
    page = file.chosen(protocol, given)
    if window is not None:
        page, given = _with_window(file, page, window), {**given, "window": window}
    if configs is not None:
        page = page.model_copy(update={"hub": page.hub.of_configs(configs)})
    kind = KINDS[page.kind or ""]
    if order is not None:
        page = page.model_copy(update={"order": _order(file, page, kind.lists_options, order)})
    text = page.prompt if page.prompt is not None else kind.prompt
    template = Template.parse(text, f"{file.path}: prompt")
    system = None if page.system is None else Template.parse(page.system, f"{file.path}: system")
    prompt = PagePrompt(template, page, kind.lists_options, system)
    info = page_info(file, page, protocol, given, prompt)
    tool = _tool(file, page, sandbox)
    return PageTask(info, page, kind, prompt, page_function(page.row, file.path), tool=tool)


def _tool(file: PageFile, page: Page, sandbox: Any) -> PythonTool | None:
    """Return what runs scripts, if the page offers them.

    Raises:
        ConfigError: the page offers none and a sandbox is given, or an option of the sandbox is wrong.
    """
    where = f"task {file.name}: sandbox"
    if page.tools is None:
        if sandbox is not None:
            raise ConfigError(f"{where}: nothing runs in a sandbox; it belongs to options: {{tools: python}}")
        return None
    if not isinstance(sandbox, Mapping | None) or not set(sandbox or ()) <= {"tier", "unsafe_local_exec"}:
        raise ConfigError(f"{where}: found {sandbox!r}, wanted some of {{tier: …, unsafe_local_exec: …}}")
    from genbench.tools.simulated_functions import read_wish  # noqa: PLC0415  only what has tools needs a sandbox

    return PythonTool(read_wish(sandbox or {}, where))


_OWN = ("genbench.tasks.rows:", "genbench.tasks.python.")
"""Functions that were made for pages, so a page of anybody may name them, also by `like`."""


def page_function(target: str | None, path: Path) -> Any:
    """Return the function that a page names, or None if it names none.

    Args:
        target: `module:function`. The module is also searched in the folder of the page.

    Raises:
        ConfigError: the module or the function does not exist, or its import fails.
    """
    if target is None:
        return None
    if not is_built_in_page(path) and not target.startswith(_OWN):
        require_consent(path.parent, f"{path.name}: '{target}'")
    return PlugIn("task", target, target, folder=str(path.parent)).load()


def built_in_page(name: str) -> PageFile:
    """Return the page of a built-in task, for tasks that are written in Python.

    Raises:
        ConfigError: there is no such page.
    """
    return read_page(page_path(name))


def built_in_info(name: str, options: Mapping[str, Any], /, **facts: Any) -> TaskInfo:
    """Return the facts of a task in Python: those of its page, unless they are given here.

    Args:
        options: the values that published scores depend on, such as a release.
        facts: further arguments of TaskInfo, and those that differ from the page.
    """
    page = built_in_page(name).page
    own: dict[str, Any] = {
        "name": name,
        "version": page.version,
        "summary": page.summary,
        "dataset": _hub(page),
        "k": page.k,
        "licence": page.licence,
        "published": published_scores(page, DEFAULT_PROTOCOL, options),
        "family": page.family,
        "languages": page.languages,
        "macro": page.macro,
    }
    return TaskInfo(**own | facts)


def _hub(page: Page) -> HubDataset | None:
    """Return the dataset of a page with its licence, or None if the rows are generated."""
    return page.hub.model_copy(update={"licence": page.licence}) if page.hub.repo else None


def page_info(
    file: PageFile,
    page: Page,
    protocol: str = DEFAULT_PROTOCOL,
    options: Mapping[str, Any] | None = None,
    prompt: PagePrompt | None = None,
) -> TaskInfo:
    """Return the facts of a task, as TaskInfo.

    Args:
        page: the page with its overlays.
        options: the options that are not at their default.
        prompt: the prompt that exemplars are put through.
    """
    kind = KINDS.get(page.kind or "")
    verifier = {key: value for key, value in page.verifier.items() if key != "use"}
    if page.scored is not None:
        page = page.model_copy(update={"headline": page.scored.metric, "metrics": (page.scored.metric,)})
        verifier = {"rule": page.headline}
    varies = kind is not None and kind.lists_options and page.order == "per_sample"
    return TaskInfo(
        name=file.name,
        asks_alike=not varies,
        version=_version(file, page, protocol, options or {}),
        summary=page.summary,
        dataset=_hub(page),
        k=page.k,
        verifier=page.verifier.get("use") or (kind.verifier if kind else ""),
        verifier_options=verifier,
        licence=page.licence,
        metrics=page.metrics or (kind.metrics if kind else ("avg@k", "pass@k")),
        chance=page.chance if isinstance(page.chance, float) else None,
        headline=page.headline,
        shots=_shots(page, prompt),
        published=published_scores(page, protocol, _defaults(page) | dict(options or {})),
        protocol=protocol,
        family=page.family,
        languages=page.languages,
        macro=page.macro,
        weights=dict(page.weights),
        macro_mean=page.macro_mean,
        macro_spread=page.macro_spread,
        macro_lists=page.macro_lists,
        unanswered=page.unanswered,
        reported=_reported_scale(page),
        sensitive=page.sensitive,
        is_scored=page.scored is not None,
    )


def _reported_scale(page: Page) -> ReportedScale | None:
    if page.reported is None:
        return None
    found = ReportedScale.from_object(page.reported)
    return found if page.macro is None else found.model_copy(update={"of_macro": True})


def published_scores(page: Page, protocol: str, options: Mapping[str, Any]) -> tuple[PublishedScore, ...]:
    """Return the scores that others report under this protocol and these options, as fractions of 1."""
    return tuple(
        score
        for block in page.published
        if block.protocol in (None, protocol)
        and all(str(options.get(name)) == str(value) for name, value in block.options.items())
        for score in block.as_scores()
    )


def _configs(file: PageFile, options: dict[str, Any]) -> tuple[str, ...] | None:
    """Take the configs that a suite picks out of the options. None means all."""
    hub = file.page.hub
    if not hub.configs or hub.config_column not in options:
        return None
    given = options.pop(hub.config_column)
    names = [str(name) for name in (given if isinstance(given, list | tuple) else [given])]
    for name in names:
        if name not in hub.configs:
            raise ConfigError(
                f"task {file.name}: {hub.config_column}: unknown '{name}'{nearest(name, hub.configs)}"
            )
    if not names:
        raise ConfigError(f"task {file.name}: {hub.config_column}: the list is empty")
    return tuple(name for name in hub.configs if name in names)


def _defaults(page: Page) -> dict[str, Any]:
    return {name: next(iter(values)) for name, values in page.options.items()}


def _with_window(file: PageFile, page: Page, window: Any) -> Page:
    """Return the page with another window for its documents."""
    if page.scored is None or not page.scored.is_document:
        raise ConfigError(f"task {file.name}: no option 'window'; it scores no documents")
    if isinstance(window, bool) or not isinstance(window, int) or window < 2:
        raise ConfigError(f"task {file.name}: window is {window!r}, wanted a number of tokens from 2")
    return page.model_copy(update={"scored": page.scored.model_copy(update={"window": window})})


def _order(file: PageFile, page: Page, lists_options: bool, order: str) -> str:
    if not lists_options:
        raise ConfigError(f"task {file.name}: no option 'order'; its questions list no options")
    if check_order(order) == "as_given" and page.fields.right is not None:
        raise ConfigError(f"{file.name}: order as_given would put every right option first; use per_problem")
    return order


def _version(file: PageFile, page: Page, protocol: str, options: Mapping[str, Any]) -> str:
    """Return the version: the page's own, then the options off their default, then the protocol."""
    window = options.get("window")
    changed = [
        str(value)
        for name, value in sorted(options.items())
        if name != "window" and str(value) != file.values(name)[0]
    ]
    changed += [] if window is None else [f"window{window}"]
    changed += [] if page.tools is None else [f"tool{RULES}"]
    version = "-".join([page.version, *changed])
    return version if protocol == DEFAULT_PROTOCOL else f"{version}+{protocol}"


def _shots(page: Page, prompt: PagePrompt | None) -> tuple[tuple[str, str], ...]:
    if prompt is None:
        return ()
    found = []
    for number, shot in enumerate(page.shots, start=1):
        where, row = f"exemplar {number}", shot.columns
        shown = prompt.shown(row, row.get("question", ""), where)
        found.append((prompt.render(shown, tuple(row.get("options", ())), where), shot.answer))
    return tuple(found)
