"""Tasks with a simulated user, who talks to the model while it calls functions of a file. Experimental."""

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
from genbench.suite.user import SimulatedUser
from genbench.tasks.single_turn import Readings, read_each
from genbench.tools.documents import Form
from genbench.tools.families import AUTO, check_family
from genbench.tools.isolated import FunctionRunner, IsolatedFunctions, read_wish
from genbench.tools.loop import LoopRules
from genbench.tools.simulation import FunctionFile
from genbench.tools.user_talk import talk
from genbench.types import Ask, Problem, ToolOffer

_NAME = "user_loop"
_STEPS, _MOST_STEPS = 30, 200
_COLUMNS = ("id", "instruction", "state", "actions")


@dataclass(frozen=True, slots=True)
class UserLoop:
    """A task whose samples are conversations of a simulated user, the model and functions.

    A row has `id`, `instruction` (what the user wants, which only the user sees), `state` (what the class of
    the functions is made with), `actions` (the calls that fulfil the wish, as {name, arguments}), and maybe
    `outputs` (texts that the model has to tell the user).
    """

    info: TaskInfo
    rows_file: Path
    functions: FunctionFile
    rules: LoopRules
    form: Form
    policy: str | None
    user: SimulatedUser | None
    """Who plays the user. None is enough for ready responses, which have the user's replies too."""
    runner: FunctionRunner = field(compare=False, repr=False)

    @property
    def is_slow(self) -> bool:
        """Return True: what is said next depends on functions that run in the sandbox."""
        return True

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns that a file of rows must have."""
        return _COLUMNS

    def readings(self, rows: Sequence[Row]) -> Readings:
        """Return the problems, and the rows that cannot be asked with the reason.

        Raises:
            DataError: no row can be asked, or two rows have one id.
        """
        return read_each(self.info.name, self._read, rows)

    def problems(self, rows: Sequence[Row]) -> list[Problem]:
        """Return one problem for each row that can be asked.

        Raises:
            DataError: as `readings`.
        """
        return self.readings(rows).problems

    def ask(self, problem: Problem, sample_index: int, replies: Sequence[str]) -> Ask | None:
        """Return what the user or the model is asked next, or None if the conversation is over."""
        row = problem.row
        functions = IsolatedFunctions(self.runner, self.functions, row["reference"]["state"])
        now = talk(functions, replies, self.rules)
        if now.is_over:
            return None
        offer = ToolOffer(tuple(self.functions.documents()), self.form)
        if now.speaker == "model":
            return Ask(now.for_model(self.policy), row["reference"], tools=offer)
        most = SimulatedUser.model_fields["max_tokens"].default if self.user is None else self.user.max_tokens
        said = now.for_user(row["instruction"])
        return Ask(said, row["reference"], max_tokens=most, tools=offer, speaker="user")

    def _read(self, place: int, row: Row) -> Problem:
        where = f"task {self.info.name}, row {place + 1}"
        for column in _COLUMNS:
            if column not in row:
                raise DataError(f"{where}: no column '{column}'{nearest(column, map(str, row))}")
        actions, outputs = row["actions"], row.get("outputs", [])
        if not isinstance(row["instruction"], str):
            raise DataError(f"{where}: 'instruction' is {str(row['instruction'])[:80]!r}, wanted a text")
        if not isinstance(actions, list) or not all(map(_is_call, actions)):
            raise DataError(
                f"{where}: 'actions' is {str(actions)[:80]!r}, wanted a list of {{name, arguments}}"
            )
        if not isinstance(outputs, list) or not all(isinstance(text, str) for text in outputs):
            raise DataError(f"{where}: 'outputs' is {str(outputs)[:80]!r}, wanted a list of texts")
        reference = {
            "functions": {"source": self.functions.source, "class": self.functions.name},
            "state": row["state"],
            "actions": actions,
            "outputs": outputs,
            "steps": self.rules.steps,
            "parser": self.rules.parser,
        }
        kept = {"instruction": row["instruction"], "reference": reference}
        turns = 2 * self.rules.steps + 1
        likely = min(turns, len(actions) + 8)
        return Problem(
            self.info.name, str(row["id"]), kept, turns=turns, ends_early=True, likely_turns=likely
        )


def _is_call(call: Any) -> bool:
    return (
        isinstance(call, dict)
        and isinstance(call.get("name"), str)
        and isinstance(call.get("arguments"), dict)
    )


def user_loop(
    functions: str,
    rows: str,
    *,
    user: Mapping[str, Any] | None = None,
    policy: str | None = None,
    form: Form = "auto",
    steps: int = _STEPS,
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
    path, _, name = functions.rpartition(":")
    if not path or not name.isidentifier():
        raise ConfigError(f"{_NAME}: functions is '{functions}', wanted PATH.py:Class")
    if form not in get_args(Form):
        raise ConfigError(f"{_NAME}: form is '{form}'{nearest(str(form), get_args(Form))}")
    if not isinstance(steps, int) or not 1 <= steps <= _MOST_STEPS:
        raise ConfigError(f"{_NAME}: steps is {steps!r}, wanted a whole number from 1 to {_MOST_STEPS}")
    check_family(parser)
    found = FunctionFile(_text("functions", path), name, path)
    said = None if policy is None else _text("policy", policy)
    player = _player(user)
    shown = None if player is None else player.model_dump(mode="json")
    facts = json.dumps([found.documents(), steps, form, parser, said, shown], sort_keys=True)
    info = TaskInfo(
        name=_NAME,
        version=f"1-{hashlib.sha256(facts.encode()).hexdigest()[:8]}",
        summary=f"conversations of a simulated user about the functions of {Path(path).name} (experimental)",
        dataset=None,
        k=1,
        verifier=_NAME,
        verifier_options={},
        metrics=("avg@k", "pass@k", "pass^k"),
        licence="the suite's own",
        family="tools",
    )
    runner = FunctionRunner(read_wish(sandbox or {}, _NAME))
    return UserLoop(info, Path(rows), found, LoopRules(steps, parser), form, said, player, runner)


def _text(option: str, path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ConfigError(f"{_NAME}: {option}: {path} cannot be read: {error}") from None


def _player(given: Mapping[str, Any] | None) -> SimulatedUser | None:
    if given is None:
        return None
    try:
        return SimulatedUser.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in ("user", *first["loc"]))
        raise ConfigError(f"{_NAME}: {key}: {first['msg'].removeprefix('Value error, ')}") from None
