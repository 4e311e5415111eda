"""Results of OpenCompass."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from genbench.analysis.sides.log_format import SAID, ImportChoice, Line, LogFile, Say, json_object, read_whole
from genbench.errors import InputError
from genbench.interop.logs.tool_log import (
    ToolLogs,
    chat_message,
    first_text,
    json_next_to,
    mean_in,
    read_score,
    shown_text,
)


class OpenCompassLogs(ToolLogs):
    """Results of OpenCompass (results/MODEL/DATASET.json)."""

    tool = "opencompass"

    def is_log(self, log: LogFile) -> bool:
        """Return whether a file is below results/ and has details."""
        if log.path.suffix != ".json" or log.path.parent.parent.name != "results":
            return False
        try:
            return _details(log.content) is not None
        except (OSError, InputError):
            return False

    def lines(self, log: LogFile, choice: ImportChoice, say: Say) -> Iterable[Line] | None:
        """Return the lines if the file has details."""
        if log.kind != "object" or log.is_packed:
            return None
        details = _details(log.content)
        return None if details is None else _lines(log.path, details, choice)

    def total(self, log: LogFile, task: str, metric: str, of_filter: str) -> float | None:
        """Return the mean of the same file."""
        found = mean_in(json_next_to(log.path), ("accuracy", "score"))
        return None if found is None else found / 100


def _details(found: Any) -> Mapping[str, Any] | None:
    if not isinstance(found, dict) or "details" not in found or "eval" in found:
        return None
    details = found["details"]
    if isinstance(details, list):
        details = dict(enumerate(details))
    return details if isinstance(details, dict) else None


def _lines(source: Path, details: Mapping[str, Any], choice: ImportChoice) -> Iterator[Line]:
    """Yield the lines of the score file for results of OpenCompass.

    Prompts and texts are in the file of the same name below predictions/.

    Raises:
        InputError: a detail does not say whether it is correct.
    """
    said = _predictions(source.parent.parent.parent / "predictions" / source.parent.name / source.name)
    for name, item in details.items():
        if name == "type":
            continue
        where = f"{source}: details of {name!r}"
        detail = json_object(item, where)
        right = detail.get("correct", detail.get("is_correct", detail.get("score")))
        right = right[0] if isinstance(right, list) and len(right) == 1 else right
        if not isinstance(right, bool | int | float):
            raise InputError(f"{where}: 'correct' is {right!r:.40}, wanted true or false")
        own = said.get(str(name), {})
        yield {
            "task": choice.task or source.stem,
            "problem_id": str(name),
            "sample_index": 0,
            "score": read_score(float(right), where, "correct"),
            "answer": shown_text(
                next((detail[key] for key in ("pred", "predictions") if key in detail), None)
            ),
            "imported": {"from": "opencompass", "lacks": ["k", "seeds"]},
            SAID: {
                "prompt": _prompt(own.get("origin_prompt", detail.get("prompt"))),
                "text": first_text(own.get("prediction", detail.get("origin_prediction"))),
                "target": shown_text(
                    own.get(
                        "gold", next((detail[key] for key in ("answer", "references") if key in detail), None)
                    )
                ),
            },
        }


def _predictions(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """Return OpenCompass's predictions by number. Empty if there is no such file."""
    try:
        found = json.loads(read_whole(path))
    except (OSError, ValueError, RecursionError):
        return {}
    return (
        {key: item for key, item in found.items() if isinstance(item, dict)}
        if isinstance(found, dict)
        else {}
    )


def _prompt(found: Any) -> str | None:
    """Return a prompt, which is a text or a chat of {role, prompt}."""
    if isinstance(found, list):
        texts = (
            {**item, "content": item.get("prompt", item.get("content"))}
            for item in found
            if isinstance(item, dict)
        )
        return "\n\n".join(map(chat_message, texts))
    return first_text(found)
