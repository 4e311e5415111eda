"""Reviews of evalscope."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from genbench.analysis.sides.log_format import SAID, ImportChoice, Line, Records, is_number, json_object
from genbench.interop.logs.tool_log import (
    JsonLines,
    as_text,
    chat_message,
    first_text,
    one_of,
    read_score,
    shown_text,
)


class EvalscopeLogs(JsonLines):
    """Reviews of evalscope (reviews/MODEL/DATASET_SUBSET.jsonl)."""

    tool, line_key = "evalscope", "sample_score"

    def samples(self, source: Path, records: Records, choice: ImportChoice) -> Iterator[Line]:
        """Yield the lines. Samples of one problem share their `group_id`."""
        scores = [_score_of(record, f"{source}:{number}") for number, record in records]
        named = dict.fromkeys(
            name for score in scores for name, value in score["value"].items() if is_number(value)
        )
        mains = {str(score["main_score_name"]) for score in scores if score.get("main_score_name")}
        (main,) = mains if len(mains) == 1 else (None,)
        metric = one_of(source, "metric", named, choice, main if main in named else None)
        seen: Counter[str] = Counter()
        for (number, record), score in zip(records, scores, strict=True):
            outer = record["sample_score"]
            group = next(
                (outer[key] for key in ("group_id", "sample_id") if outer.get(key) is not None), None
            )
            problem = str(record.get("index", number) if group is None else group)
            given = record.get("input")
            yield {
                "task": choice.task or source.stem,
                "problem_id": problem,
                "sample_index": seen[problem],
                "score": read_score(score["value"].get(metric), f"{source}:{number}", metric),
                "answer": as_text(score.get("extracted_prediction")),
                "imported": {"from": "evalscope", "lacks": ["seeds"]},
                SAID: {
                    "prompt": "\n\n".join(map(chat_message, given))
                    if isinstance(given, list)
                    else first_text(given),
                    "text": first_text(score.get("prediction")),
                    "target": shown_text(record.get("target")),
                },
            }
            seen[problem] += 1


def _score_of(record: Line, where: str) -> Mapping[str, Any]:
    outer = json_object(record.get("sample_score"), f"{where}: 'sample_score'")
    found = dict(json_object(outer.get("score"), f"{where}: 'sample_score.score'"))
    return found | {"value": json_object(found.get("value"), f"{where}: 'sample_score.score.value'")}
