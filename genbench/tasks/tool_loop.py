"""Tasks of a team's own functions: a conversation in which the model calls functions of a Python file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from genbench.errors import ConfigError, DataError, nearest
from genbench.protocols import Row, TaskInfo
from genbench.tasks.single_turn import Readings, read_each
from genbench.tools.documents import Form
from genbench.tools.families import AUTO, check_family
from genbench.tools.isolated import FunctionRunner, IsolatedFunctions, read_wish
from genbench.tools.loop import LoopRules, play
from genbench.tools.simulation import FunctionFile
from genbench.types import Ask, Message, Problem, ToolOffer

_STEPS = 20
_MOST_STEPS = 200


@dataclass(frozen=True, slots=True)
class ToolLoop:
    """A task whose samples are conversations with simulated functions.

    A row has `id`, `question` (a text, or a list with a text for each turn of the user), `state` (what the
    class is made with), and `calls`: for each turn the calls that solve it, as {name, arguments}. A turn
    without calls is one in which the model should call nothing.
    """

    info: TaskInfo
    rows_file: Path
    functions: FunctionFile
    rules: LoopRules
    form: Form
    runner: FunctionRunner = field(compare=False, repr=False)
    system: str | None = None

    @property
    def is_slow(self) -> bool:
        """Return True: what is asked next depends on functions that run in the sandbox, maybe for seconds."""
        return True

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns that a file of rows must have."""
        return ("id", "question", "state", "calls")

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
        """Return the conversation so far, with the results of all calls, or None if it is over."""
        row = problem.row
        before = [] if self.system is None else [Message("system", self.system)]
        asked = [[Message("user", text)] for text in row["question"]]
        asked[0] = [*before, *asked[0]]
        played = play(
            asked, IsolatedFunctions(self.runner, self.functions, row["state"]), replies, self.rules
        )
        if played.is_over:
            return None
        offer = ToolOffer(tuple(self.functions.documents()), self.form)
        return Ask(played.messages, row["reference"], tools=offer)

    def _read(self, place: int, row: Row) -> Problem:
        where = f"task {self.info.name}, row {place + 1}"
        for column in self.columns:
            if column not in row:
                raise DataError(f"{where}: no column '{column}'{nearest(column, map(str, row))}")
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
        if not isinstance(calls, list) or len(calls) != len(question) or not all(map(_are_calls, calls)):
            raise DataError(
                f"{where}: 'calls' is {str(calls)[:80]!r}, wanted a list of {{name, arguments}} for each of "
                f"the {len(question)} turns"
            )
        reference = {
            "functions": {"source": self.functions.source, "class": self.functions.name},
            "state": row["state"],
            "question": question,
            "calls": calls,
            "steps": self.rules.steps,
            "parser": self.rules.parser,
        }
        kept = {"question": question, "state": row["state"], "reference": reference}
        turns = len(question) * self.rules.steps
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


def _are_calls(calls: Any) -> bool:
    return isinstance(calls, list) and all(
        isinstance(call, dict)
        and isinstance(call.get("name"), str)
        and isinstance(call.get("arguments"), dict)
        for call in calls
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def tool_loop(
    functions: str,
    rows: str,
    *,
    form: Form = "auto",
    steps: int = _STEPS,
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
    path, _, name = functions.rpartition(":")
    if not path or not name.isidentifier():
        raise ConfigError(f"tool_loop: functions is '{functions}', wanted PATH.py:Class")
    if form not in get_args(Form):
        raise ConfigError(f"tool_loop: form is '{form}'{nearest(str(form), get_args(Form))}")
    if not isinstance(steps, int) or not 1 <= steps <= _MOST_STEPS:
        raise ConfigError(f"tool_loop: steps is {steps!r}, wanted a whole number from 1 to {_MOST_STEPS}")
    check_family(parser)
    wish = read_wish(sandbox or {}, "tool_loop")
    try:
        source = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ConfigError(f"tool_loop: functions: {path} cannot be read: {error}") from None
    found = FunctionFile(source, name, path)
    facts = json.dumps([found.documents(), steps, form, parser, system], sort_keys=True)
    info = TaskInfo(
        name="tool_loop",
        asks_alike=True,
        version=f"2-{_digest(facts)}",
        summary=f"conversations with the functions of {Path(path).name}",
        dataset=None,
        k=1,
        verifier="tool_loop",
        verifier_options={"runs_file": True},
        metrics=("avg@k", "pass@k", "pass^k"),
        licence="the suite's own",
        family="tools",
    )
    runner = FunctionRunner(wish)
    return ToolLoop(info, Path(rows), found, LoopRules(steps, parser), form, runner, system)
