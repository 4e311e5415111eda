"""IFBench (Pyatkin et al. 2025), and Multi-IF (He et al. 2024) with instructions that accumulate over three
turns.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from genbench.errors import ConfigError, DataError, nearest
from genbench.protocols import Row, TaskInfo
from genbench.tasks.base import Conversation
from genbench.tasks.page.model import instructions
from genbench.tasks.page.task import built_in_info, built_in_page
from genbench.types import Ask, Message, Problem

COLUMNS = ("key", "prompt", "instruction_id_list", "kwargs")
METRICS = ("avg@k", "pass@k")
"""No majority vote, because answers are texts that cannot agree with one another."""

Version = Literal["300", "294"]
Revision = Literal["head", "2025-07"]

PROMPTS: dict[str, int] = {"300": 300, "294": 294}
TELLING_KEY = "268"
TELLING_IDS = {"294": "custom:csv_city", "300": "words:vowel"}
"""The first text of the row that tells the versions apart. In the older file one prompt contains the text
of the six that follow it, because of an error in a spreadsheet."""


@dataclass(frozen=True, slots=True)
class IFBench:
    """IFBench's prompts in one version, with one revision of the official checkers."""

    info: TaskInfo
    version: Version

    columns = COLUMNS

    def problems(self, rows: Sequence[Row]) -> list[Problem]:
        """Return one problem per row.

        Raises:
            DataError: the rows are of the other version, or two have one key.
        """
        found = {str(row["key"]): _read(row) for row in rows}
        if len(found) < len(rows):
            raise DataError(f"task ifbench: {len(rows) - len(found)} rows have the key of another")
        self._check_version(found.get(TELLING_KEY))
        return list(found.values())

    def ask(self, problem: Problem, sample_index: int, replies: Sequence[str]) -> Ask | None:
        """Return the prompt of a problem, which has one turn."""
        return None if replies else _pose(problem)

    def _check_version(self, telling: Problem | None) -> None:
        if telling is None:
            return
        first = telling.row["instructions"][0]["id"]
        for version, instruction in TELLING_IDS.items():
            if instruction == first and version != self.version:
                raise DataError(
                    f"task ifbench: these are the {version} prompts (key {TELLING_KEY} is '{first}'), not "
                    f"the {self.version}; write 'options: {{version: {version}}}', and compare none with it"
                )


def _read(row: Row) -> Problem:
    """Return the problem of a row."""
    where = f"task ifbench, key {row['key']}"
    listed = instructions(row["instruction_id_list"], row["kwargs"], where)
    if not isinstance(row["prompt"], str) or not row["prompt"].strip():
        raise DataError(f"{where}: the prompt is empty")
    kept = {"prompt": row["prompt"], "instructions": listed}
    return Problem("ifbench", str(row["key"]), kept, {"instructions": str(len(listed))})


def _pose(problem: Problem) -> Ask:
    """Return the prompt as it is, with its list of instructions as the reference."""
    return Ask((Message("user", problem.row["prompt"]),), problem.row["instructions"])


def ifbench(version: str | int = "300", revision: str = "head") -> IFBench:
    """Return the task of 58 kinds of instruction.

    The score is prompt-level loose accuracy, as the paper reports it.

    Args:
        version: "300", the prompts since April 2026, or "294", those of the paper. Their scores are
            not comparable.
        revision: the revision of the checkers: "head", or "2025-07", the code of the paper.

    Raises:
        ConfigError: there is no such version or revision.
    """
    chosen = _chosen("version", str(version), get_args(Version))
    checkers = _chosen("revision", revision, get_args(Revision))
    dataset = built_in_page("ifbench").page.hub
    if PROMPTS[chosen] != dataset.rows:
        # No public copy of the 294 rows was available to measure, so that they have no digest.
        dataset = dataset.model_copy(update={"rows": PROMPTS[chosen], "digest": None})
    info = built_in_info(
        "ifbench",
        {"version": chosen},
        asks_alike=True,
        version=f"1-{chosen}-{checkers}",
        summary=f"IFBench: {chosen} prompts with instructions of 58 kinds, prompt-level loose",
        dataset=dataset,
        verifier="ifbench",
        verifier_options={"headline": "loose", "revision": checkers},
        metrics=METRICS,
    )
    return IFBench(info, "294" if chosen == "294" else "300")


def _chosen(name: str, value: str, valid: tuple[str, ...]) -> str:
    if value not in valid:
        raise ConfigError(f"task ifbench: {name}: unknown '{value}'{nearest(value, valid)}")
    return value


TURNS = 3


def multi_if() -> Conversation:
    """Return the task of 4,501 conversations.

    Each turn's list repeats the instructions of the turns before it.
    The score is prompt-level strict accuracy, averaged over turns. The published number is the mean of the
    four accuracies over turns, see verifiers/instructions/accuracies.py.
    """
    info = built_in_info(
        "multi_if",
        {},
        asks_alike=True,
        verifier="ifeval",
        verifier_options={"headline": "strict", "multilingual": True},
        metrics=METRICS,
    )
    assert info.dataset is not None
    return Conversation(info, lambda place, row: _read_turns(row), _pose_turn, info.dataset.columns)


def _read_turns(row: Row) -> Problem:
    """Return the problem of a row. If its last prompts are empty, the conversation is shorter."""
    where = f"task multi_if, key {row['key']}"
    turns = []
    for turn in range(1, TURNS + 1):
        if not row[f"turn_{turn}_prompt"]:
            break
        turns.append(_turn(row, turn, f"{where}, turn {turn}"))
    if not turns:
        raise DataError(f"{where}: the first prompt is empty")
    language = str(row["language"])
    return Problem("multi_if", str(row["key"]), {"turns": turns}, {"language": language}, turns=len(turns))


def _pose_turn(problem: Problem, sample_index: int, turn: int) -> Ask:
    asked = problem.row["turns"][turn]
    return Ask((Message("user", asked["prompt"]),), asked["instructions"])


def _turn(row: Row, turn: int, where: str) -> dict[str, Any]:
    """Return one turn's prompt and instructions.

    The hub's columns contain JSON, and the kwargs contain JSON within JSON.
    """
    message = _json(row[f"turn_{turn}_prompt"], where)
    if not isinstance(message, dict) or not isinstance(message.get("content"), str):
        raise DataError(f"{where}: the prompt is not a message with 'content': {message!r}")
    ids = _json(row[f"turn_{turn}_instruction_id_list"], where)
    kwargs = [_json(given, where) for given in _json(row[f"turn_{turn}_kwargs"], where)]
    return {"prompt": message["content"], "instructions": instructions(ids, kwargs, where)}


def _json(value: Any, where: str) -> Any:
    """Return `value`, parsed if it is text. Some copies of the data are parsed already."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError as error:
        raise DataError(f"{where}: not JSON: {error}: {value[:80]!r}") from None
