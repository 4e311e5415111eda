"""What the formats of tools share: the choice of a metric, scores and texts, and how a log becomes a task."""

from __future__ import annotations

import json
import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

from genbench.analysis.sides.log_format import (
    SAID,
    ImportChoice,
    Line,
    LogFile,
    LogFormat,
    LoggedTask,
    Records,
    Say,
    is_number,
)
from genbench.errors import InputError
from genbench.interop.logs.import_log import read_log

_NO_PROMPT = "(the log has no prompt)"


@dataclass(frozen=True, slots=True)
class ToolTask(LoggedTask):
    """A task of questions and answers. What the tool found is kept with each response and taken over."""

    def entry(self, rows_file: str) -> dict[str, Any]:
        """Return the data, the prompt and the verifier of the task."""
        return {
            "data": {
                "path": rows_file,
                "fields": {"id": "id", "question": "question", "reference": "target"},
            },
            "prompt": "{question}",
            "verifier": {"use": "logged", "tool": self.tool, "metric": self.metric},
        }

    def row(self, line: Line) -> Line:
        """Return the prompt and the target of a problem."""
        said = line.get(SAID, {})
        return {"question": said.get("prompt") or _NO_PROMPT, "target": said.get("target") or ""}

    def responses(self, line: Line | None) -> Iterator[Line]:
        """Yield the response of a sample with what was logged of it."""
        said: Line = {} if line is None else line.get(SAID, {})
        lacking = "has fewer samples of this problem" if line is None else "has no score for this sample"
        score = None if line is None else line["score"]
        logged: Line = {"score": score} if score is not None else {"score": None, "why": f"the log {lacking}"}
        answer = None if line is None else line.get("answer")
        yield {
            "text": said.get("text") or answer or "",
            "finish_reason": "length" if said.get("cut") else "stop",
            **({"completion_tokens": said["tokens"]} if said.get("tokens") is not None else {}),
            "logged": {**logged, **({"answer": answer} if answer is not None else {})},
        }


class ToolLogs(LogFormat):
    """Logs with one file for each task. Derive from it, and write `is_log` and `lines`."""

    def model(self, log: LogFile) -> str:
        """Return the model that a log is of: the name of its folder, unless the format tells."""
        return log.path.parent.name

    def at(self, log: LogFile) -> datetime:
        """Return when a log was written."""
        return log.at

    def total(self, log: LogFile, task: str, metric: str, of_filter: str) -> float | None:
        """Return the tool's own mean of the metric, or None if it is not next to the log."""
        return None

    def task(self, log: LogFile, choice: ImportChoice, say: Say) -> LoggedTask:
        """Return the task of a log."""
        lines = read_log(log, choice, say)
        metric, of_filter = (choice.taken.get(what, [""])[0] for what in ("metric", "filter"))
        total = self.total(log, str(lines[0]["task"]), metric, of_filter)
        metric = f"{metric}, {of_filter}" if of_filter not in ("", "none") else metric
        return ToolTask(log.path, self.tool, self.model(log), self.at(log), metric, lines, total)


class JsonLines(ToolLogs):
    """Logs of JSON Lines, which their `line_key` tells apart. Derive from it, and write `samples`."""

    line_key: ClassVar[str]
    takes_empty: ClassVar[bool] = False
    """Whether a file without any line is read as one of these."""

    def is_log(self, log: LogFile) -> bool:
        """Return whether the first line of a file has the key."""
        return log.path.suffix == ".jsonl" and self.line_key in log.first_line

    def lines(self, log: LogFile, choice: ImportChoice, say: Say) -> Iterator[Line] | None:
        """Return the lines if the first one has the key."""
        if log.kind != "lines":
            return None
        is_own = self.line_key in log.records[0][1] if log.records else self.takes_empty
        return self.samples(log.path, log.records, choice) if is_own else None

    @abstractmethod
    def samples(self, source: Path, records: Records, choice: ImportChoice) -> Iterator[Line]:
        """Yield the lines of the score file.

        Raises:
            InputError: a line is damaged, or `choice` selects nothing of the file.
        """


def one_of(
    source: Path,
    what: str,
    found: Mapping[str, Any] | Iterable[str],
    choice: ImportChoice,
    usual: str | None = None,
) -> str:
    """Return the name that is chosen, and note it and the others.

    Args:
        usual: the name that is taken if the user chose none.

    Raises:
        InputError: there is no such name, or there are several and none is chosen.
    """
    names = list(found)
    wanted: str | None = getattr(choice, what) or usual
    if not names:
        raise InputError(f"{source}: it has no {what}, wanted at least one with a number on each line")
    if wanted not in names and (choice.takes_first or (wanted is None and len(names) == 1)):
        wanted = names[0]
    if wanted in names:
        choice.taken[what] = [wanted, *(name for name in names if name != wanted)]
        return wanted
    listed = ", ".join(names)
    asked = f"no {what} '{wanted}'" if wanted is not None else f"{len(names)} {what}s"
    raise InputError(f"{source}: {asked}; it has: {listed}; choose one with --{what}")


def read_score(value: Any, where: str, metric: str) -> float | None:
    """Return a score of a log.

    Raises:
        InputError: it is not a number up to 1.
    """
    if value is None:
        return None
    if not is_number(value) or not -math.inf < value <= 1:
        raise InputError(f"{where}: '{metric}' is {value!r:.80}, wanted a number up to 1")
    return float(value)


def as_text(value: Any) -> str | None:
    """Return an answer as text. Inspect allows any JSON."""
    return value if value is None or isinstance(value, str) else json.dumps(value)


def first_text(found: Any) -> str | None:
    """Return the first text of nested lists, or None if something else comes first."""
    while isinstance(found, list) and found:
        found = found[0]
    return found if isinstance(found, str) else None


def shown_text(found: Any) -> str | None:
    """Return a target as text. None is none."""
    return found if found is None or isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def chat_message(item: Any) -> str:
    """Return a message of a chat as text, with its role."""
    if not isinstance(item, Mapping):
        return str(item)
    content = item.get("content")
    if isinstance(content, list):
        content = "\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return f"[{item.get('role', 'user')}]\n{content}"


def json_next_to(path: Path) -> Mapping[str, Any]:
    """Return the JSON object of a file next to a log. Empty if there is none."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def mean_in(record: Any, keys: Iterable[str]) -> float | None:
    """Return the number under the first of the keys that is there, or None."""
    found = (
        next((record[key] for key in keys if key in record), None) if isinstance(record, Mapping) else None
    )
    return float(found) if isinstance(found, int | float) else None
