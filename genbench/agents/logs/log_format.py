"""Results of agent harnesses as a log format: trials become score files, or runs of the task `agent`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.agents.gateway.rollout import outcome_text
from genbench.agents.logs.trials import AgentLog, agent_tool, logs_of_agents, outcome_record, read_agent_log
from genbench.agents.tasks import is_result
from genbench.analysis.sides.log_format import (
    SAID,
    ImportChoice,
    Line,
    LogFile,
    LogFormat,
    LoggedTask,
    Say,
    without_time,
)

_REPLY = "\n\n[assistant]\n"
_MOST_ASKED = 1 << 20
"""Characters of a conversation that is repeated with each turn. After more, a turn has only what is new."""
_LOST: Line = {
    "turns": [],
    "outcome": {
        "score": None,
        "status": "unscored",
        "detail": {"why": "the log has fewer samples of this problem"},
        "rollout": {},
    },
}
"""What is said of a trial that is not in the log."""


class AgentLogs(LogFormat):
    """Results of the harnesses that `agent_tool` knows: whole folders and files."""

    tool = "agents"

    def claimed(self, place: Path) -> Iterator[Path]:
        """Yield the results at a place and below it."""
        return logs_of_agents(place)

    def is_log(self, log: LogFile) -> bool:
        """Return whether a file or a folder has results of a harness."""
        return agent_tool(log.path) is not None

    def lines(self, log: LogFile, choice: ImportChoice, say: Say) -> Iterator[Line] | None:
        """Return the trials of a file or a folder with results of a harness."""
        found = read_agent_log(log.path, choice.metric, say)
        return None if found is None else _lines(log.path, found, choice)

    def task(self, log: LogFile, choice: ImportChoice, say: Say) -> AgentTask | None:
        """Return the trials of a harness as a task."""
        found = read_agent_log(log.path, choice.metric, say)
        if found is None or not found.samples:
            return None
        lines = list(_lines(log.path, found, choice))
        return AgentTask(log.path, found.tool, found.model, log.at, found.metric, lines)


def _lines(source: Path, log: AgentLog, choice: ImportChoice) -> Iterator[Line]:
    """Yield the lines of the score file for results of an agent harness. Trials that died have no score."""
    for sample in log.samples:
        outcome = sample.outcome
        ended = {} if outcome.status is None else {"status": outcome.status}
        if ended and outcome.detail.get("ended_by") is not None:
            ended["ended_by"] = outcome.detail["ended_by"]
        yield {
            "task": choice.task or without_time(source.name if source.is_dir() else source.stem),
            "problem_id": sample.problem_id,
            "sample_index": sample.index,
            "score": outcome.score,
            "answer": None,
            "imported": {"from": log.tool, "lacks": list(log.lacks), **ended},
            SAID: {
                "prompt": sample.turns[0].prompt if sample.turns else None,
                "text": sample.turns[-1].text if sample.turns else None,
                "turns": [[turn.prompt, turn.text, turn.tokens] for turn in sample.turns],
                "outcome": outcome_record(sample),
            },
        }


@dataclass(frozen=True, slots=True)
class AgentTask(LoggedTask):
    """Trials of an agent harness, which become rollouts of the task `agent`."""

    def entry(self, rows_file: str) -> dict[str, Any]:
        """Return the options of the task `agent`."""
        turns = max(len(line[SAID]["turns"]) for line in self.lines)
        options = {"source": rows_file, "command": [self.tool], "limits": {"turns": turns or 1}}
        return {"task": "agent", "options": options}

    def row(self, line: Line) -> Line:
        """Return an instruction.

        What the harness asked is in the turns. It need not be the same in each trial.
        """
        return {"instruction": line["problem_id"]}

    def responses(self, line: Line | None) -> Iterator[Line]:
        """Yield the turns of a trial, and then what its harness found.

        What was asked in a turn is the conversation before it, as in a rollout of genbench's own.
        """
        said: Line = _LOST if line is None else line[SAID]
        before = ""
        for turn, (prompt, text, tokens) in enumerate(said["turns"]):
            counted = {} if tokens is None else {"completion_tokens": tokens}
            said_so = f"(text) {text}" if is_result(text) else text  # a model may imitate a result
            asked = f"{before}{prompt}{_REPLY}"
            yield {"turn": turn, "asked": asked, "text": said_so, "finish_reason": "stop", **counted}
            before = f"{asked}{said_so}\n\n" if len(asked) < _MOST_ASKED else ""
        ended = outcome_text(said["outcome"])
        yield {"turn": len(said["turns"]), "text": ended, "finish_reason": "stop"}
