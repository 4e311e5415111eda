"""Samples of every_eval_ever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from genbench.analysis.sides.log_format import ImportChoice, Line, LogFile, Records, json_object
from genbench.errors import InputError
from genbench.interop.logs.tool_log import JsonLines, as_text, read_score


class EveryEvalLogs(JsonLines):
    """Samples of every_eval_ever as JSON Lines. They record neither k nor seeds."""

    tool, line_key = "every_eval_ever", "evaluation_name"

    def model(self, log: LogFile) -> str:
        """Return the model that the first line names."""
        return str(log.first_line.get("model_id") or log.path.parent.name)

    def samples(self, source: Path, records: Records, choice: ImportChoice) -> Iterator[Line]:
        seen: Counter[tuple[str, str]] = Counter()
        for number, record in records:
            name, problem = str(record.get("evaluation_name")), str(record.get("sample_id"))
            if choice.task is not None and name != choice.task:
                continue
            where = f"{source}:{number}"
            score = json_object(record.get("evaluation"), f"{where}: 'evaluation'").get("score")
            if score is None:
                raise InputError(f"{where}: 'evaluation.score' is {score!r}, wanted a number up to 1")
            given = record.get("answer_attribution") or [{}]
            if not isinstance(given, list):
                raise InputError(f"{where}: 'answer_attribution' is {given!r:.80}, wanted a list")
            yield {
                "task": name,
                "problem_id": problem,
                "sample_index": seen[name, problem],
                "score": read_score(score, where, "evaluation.score"),
                "answer": as_text(
                    json_object(given[-1], f"{where}: 'answer_attribution'").get("extracted_value")
                ),
                "imported": {"from": "every_eval_ever", "lacks": ["k", "seeds"]},
            }
            seen[name, problem] += 1
