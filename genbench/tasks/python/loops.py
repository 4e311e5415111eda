"""Tasks of a team's own functions: conversations in which the model calls them, also with a simulated user
(experimental).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from genbench.errors import ConfigError, DataError, nearest
from genbench.protocols import Row, TaskInfo
from genbench.suite.judge import SimulatedUser
from genbench.tasks.base import RowTask, require_columns
from genbench.tools.documents import Form
from genbench.tools.families import AUTO, check_family
from genbench.tools.loop import LoopRules, play
from genbench.tools.simulated_functions import FunctionFile, FunctionRunner, IsolatedFunctions, read_wish
from genbench.tools.user_talk import talk
from genbench.types import Ask, Message, Problem, ToolOffer

_MOST_STEPS = 200


@dataclass(frozen=True, slots=True)
class FunctionCalls:
    """The functions of a task, and how they are offered, called and run."""

    functions: FunctionFile
    rules: LoopRules
    form: Form
    runner: FunctionRunner = field(compare=False, repr=False)

    @classmethod
    def read(
        cls,
        task: str,
        functions: str,
        *,
        form: Form,
        steps: Any,
        parser: str,
        sandbox: Mapping[str, Any] | None,
    ) -> FunctionCalls:
        """Read the file of the functions, and check the options of their calls.

        Args:
            task: name of the kind of task, for messages.
            functions: `PATH.py:Class`.

        Raises:
            ConfigError: the file cannot be read, or an option has a wrong value.
        """
        path, _, name = functions.rpartition(":")
        if not path or not name.isidentifier():
            raise ConfigError(f"{task}: functions is '{functions}', wanted PATH.py:Class")
        if form not in get_args(Form):
            raise ConfigError(f"{task}: form is '{form}'{nearest(str(form), get_args(Form))}")
        if not isinstance(steps, int) or not 1 <= steps <= _MOST_STEPS:
            raise ConfigError(f"{task}: steps is {steps!r}, wanted a whole number from 1 to {_MOST_STEPS}")
        check_family(parser)
        found = FunctionFile(read_option_file(task, "functions", path), name, path)
        return cls(found, LoopRules(steps, parser), form, FunctionRunner(read_wish(sandbox or {}, task)))

    @property
    def offer(self) -> ToolOffer:
        """Return the functions as they are offered to the model."""
        return ToolOffer(tuple(self.functions.documents()), self.form)

    @property
    def record(self) -> dict[str, Any]:
        """Return what every reference of a task says about the functions and the rules of the calls."""
        return {
            "functions": {"source": self.functions.source, "class": self.functions.name},
            "steps": self.rules.steps,
            "parser": self.rules.parser,
        }

    def from_state(self, state: Any) -> IsolatedFunctions:
        """Return the functions in an initial state."""
        return IsolatedFunctions(self.runner, self.functions, state)

    def info(self, task: str, generation: int, summary: str, *facts: Any, **more: Any) -> TaskInfo:
        """Return the facts of a task.

        Args:
            generation: the number of the task's own code, the first part of the version.
            summary: the summary, with `{}` for the file of the functions.
            facts: what else changes what the task asks.
            more: further arguments of TaskInfo.
        """
        asked = (self.functions.documents(), self.rules.steps, self.form, self.rules.parser, *facts)
        return TaskInfo(
            name=task,
            version=f"{generation}-{facts_digest(*asked)}",
            summary=summary.format(f"the functions of {Path(self.functions.path).name}"),
            dataset=None,
            k=1,
            verifier=task,
            metrics=("avg@k", "pass@k", "pass^k"),
            licence="the suite's own",
            family="tools",
            **more,
        )


@dataclass(frozen=True, slots=True)
class FunctionTask(RowTask):
    """The base class of tasks whose conversations call functions of a file, in the sandbox."""

    info: TaskInfo
    rows_file: Path
    calls: FunctionCalls

    @property
    def is_slow(self) -> bool:
        """Return True: what is asked next depends on functions that run in the sandbox, maybe for seconds."""
        return True


def are_calls(given: Any) -> bool:
    """Return whether a value is a list of calls: {name, arguments}."""
    return isinstance(given, list) and all(
        isinstance(call, Mapping)
        and isinstance(call.get("name"), str)
        and isinstance(call.get("arguments"), Mapping)
        for call in given
    )


def read_option_file(task: str, option: str, path: str) -> str:
    """Return the text of a file that an option names.

    Raises:
        ConfigError: the file cannot be read, or is not UTF-8.
    """
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ConfigError(f"{task}: {option}: {path} cannot be read: {error}") from None


def facts_digest(*facts: Any) -> str:
    """Return 8 hex digits over everything that changes what a task asks, for its version."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:8]


_TOOL_LOOP = "tool_loop"
_TOOL_STEPS = 20


@dataclass(frozen=True, slots=True)
class ToolLoop(FunctionTask):
    """A task whose samples are conversations with simulated functions.

    A row has `id`, `question` (a text, or a list with a text for each turn of the user), `state` (what the
    class is made with), and `calls`: for each turn the calls that solve it, as {name, arguments}. A turn
    without calls is one in which the model should call nothing.
    """

    system: str | None = None

    columns = ("id", "question", "state", "calls")

    def ask(self, problem: Problem, sample_index: int, replies: Sequence[str]) -> Ask | None:
        """Return the conversation so far, with the results of all calls, or None if it is over."""
        row = problem.row
        before = [] if self.system is None else [Message("system", self.system)]
        asked = [[Message("user", text)] for text in row["question"]]
        asked[0] = [*before, *asked[0]]
        played = play(asked, self.calls.from_state(row["state"]), replies, self.calls.rules)
        if played.is_over:
            return None
        return Ask(played.messages, row["reference"], tools=self.calls.offer)

    def read_row(self, place: int, row: Row) -> Problem:
        """Return the problem of a row, as in the base class."""
        where = f"task {self.info.name}, row {place + 1}"
        require_columns(row, self.columns, where)
        given = row["question"]
        question = [given] if isinstance(given, str) else given
        if (
            not isinstance(question, list)
            or not question
            or not all(isinstance(one, str) for one in question)
        ):
            raise DataError(f"{where}: 'question' is {str(given)[:80]!r}, wanted a text or a list of texts")
        calls = row["calls"]
        if isinstance(given, str) and isinstance(calls, list) and not all(isinstance(x, list) for x in calls):
            calls = [calls]
        if not isinstance(calls, list) or len(calls) != len(question) or not all(map(are_calls, calls)):
            raise DataError(
                f"{where}: 'calls' is {str(calls)[:80]!r}, wanted a list of {{name, arguments}} for each of "
                f"the {len(question)} turns"
            )
        reference = {**self.calls.record, "state": row["state"], "question": question, "calls": calls}
        kept = {"question": question, "state": row["state"], "reference": reference}
        turns = len(question) * self.calls.rules.steps
        likely = min(turns, sum(len(turn) + 1 for turn in calls))
        return Problem(
            self.info.name,
            str(row["id"]),
            kept,
            strata={"turns": str(len(question))},
            turns=turns,
            ends_early=True,
            likely_turns=likely,
        )


def tool_loop(
    functions: str,
    rows: str,
    *,
    form: Form = "auto",
    steps: int = _TOOL_STEPS,
    parser: str = AUTO,
    system: str | None = None,
    sandbox: Mapping[str, Any] | None = None,
) -> ToolLoop:
    """Return a task of the functions of a Python file.

    Args:
        functions: `PATH.py:Class`. A relative path is searched in the suite's folder.
        rows: the file of the rows, JSON Lines or another format of `data.path`.
        form: how functions are offered: `auto`, `template` or `prompt`.
        steps: replies of the model for each turn of the user.
        parser: the family of the calls (see tools/families.py), or `auto`.
        system: the system message.
        sandbox: options of the sandbox in which the functions run: `tier`, `wall_s`, `memory_mib`,
            `unsafe_local_exec`. A suite gives them to the verifier, because both run the functions.

    Raises:
        ConfigError: the file or the class does not exist or has no functions, or an option is wrong.
    """
    calls = FunctionCalls.read(_TOOL_LOOP, functions, form=form, steps=steps, parser=parser, sandbox=sandbox)
    options = {"runs_file": True}
    words = "conversations with {}"
    info = calls.info(_TOOL_LOOP, 2, words, system, asks_alike=True, verifier_options=options)
    return ToolLoop(info, Path(rows), calls, system)


_USER_LOOP = "user_loop"
_USER_STEPS = 30


@dataclass(frozen=True, slots=True)
class UserLoop(FunctionTask):
    """A task whose samples are conversations of a simulated user, the model and functions.

    A row has `id`, `instruction` (what the user wants, which only the user sees), `state` (what the class of
    the functions is made with), `actions` (the calls that fulfil the wish, as {name, arguments}), and maybe
    `outputs` (texts that the model has to tell the user).
    """

    policy: str | None = None
    user: SimulatedUser | None = None
    """Who plays the user. None is enough for ready responses, which have the user's replies too."""

    columns = ("id", "instruction", "state", "actions")

    def ask(self, problem: Problem, sample_index: int, replies: Sequence[str]) -> Ask | None:
        """Return what the user or the model is asked next, or None if the conversation is over."""
        row = problem.row
        now = talk(self.calls.from_state(row["reference"]["state"]), replies, self.calls.rules)
        if now.is_over:
            return None
        if now.speaker == "model":
            return Ask(now.for_model(self.policy), row["reference"], tools=self.calls.offer)
        most = SimulatedUser.model_fields["max_tokens"].default if self.user is None else self.user.max_tokens
        said = now.for_user(row["instruction"])
        return Ask(said, row["reference"], max_tokens=most, tools=self.calls.offer, speaker="user")

    def read_row(self, place: int, row: Row) -> Problem:
        """Return the problem of a row, as in the base class."""
        where = f"task {self.info.name}, row {place + 1}"
        require_columns(row, self.columns, where)
        actions, outputs = row["actions"], row.get("outputs", [])
        if not isinstance(row["instruction"], str):
            raise DataError(f"{where}: 'instruction' is {str(row['instruction'])[:80]!r}, wanted a text")
        if not are_calls(actions):
            raise DataError(
                f"{where}: 'actions' is {str(actions)[:80]!r}, wanted a list of {{name, arguments}}"
            )
        if not isinstance(outputs, list) or not all(isinstance(text, str) for text in outputs):
            raise DataError(f"{where}: 'outputs' is {str(outputs)[:80]!r}, wanted a list of texts")
        reference = {**self.calls.record, "state": row["state"], "actions": actions, "outputs": outputs}
        kept = {"instruction": row["instruction"], "reference": reference}
        turns = 2 * self.calls.rules.steps + 1
        likely = min(turns, len(actions) + 8)
        return Problem(
            self.info.name, str(row["id"]), kept, turns=turns, ends_early=True, likely_turns=likely
        )


def user_loop(
    functions: str,
    rows: str,
    *,
    user: Mapping[str, Any] | None = None,
    policy: str | None = None,
    form: Form = "auto",
    steps: int = _USER_STEPS,
    parser: str = AUTO,
    sandbox: Mapping[str, Any] | None = None,
) -> UserLoop:
    """Return a task with a simulated user. It is experimental.

    Args:
        functions: `PATH.py:Class`. A relative path is searched in the suite's folder.
        rows: the file of the rows.
        user: who plays the user: `model` or `server` as in `judge:`, `temperature`, `max_tokens`.
        policy: a file with the system message of the model.
        form: how functions are offered: `auto`, `template` or `prompt`.
        steps: replies of the model in the whole conversation.
        parser: the family of the calls (see tools/families.py), or `auto`.
        sandbox: options of the sandbox in which the functions run.

    Raises:
        ConfigError: a file or the class does not exist, or an option is wrong.
    """
    calls = FunctionCalls.read(_USER_LOOP, functions, form=form, steps=steps, parser=parser, sandbox=sandbox)
    said = None if policy is None else read_option_file(_USER_LOOP, "policy", policy)
    player = _player(user)
    shown = None if player is None else player.model_dump(mode="json")
    words = "conversations of a simulated user about {} (experimental)"
    info = calls.info(_USER_LOOP, 1, words, said, shown)
    return UserLoop(info, Path(rows), calls, said, player)


def _player(given: Mapping[str, Any] | None) -> SimulatedUser | None:
    if given is None:
        return None
    try:
        return SimulatedUser.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in ("user", *first["loc"]))
        raise ConfigError(f"{_USER_LOOP}: {key}: {first['msg'].removeprefix('Value error, ')}") from None
