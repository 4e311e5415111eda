"""Samples of lm-evaluation-harness."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from genbench.analysis.sides.log_format import (
    SAID,
    ImportChoice,
    Line,
    LogFile,
    Records,
    time_in,
    without_time,
)
from genbench.interop.logs.tool_log import (
    JsonLines,
    first_text,
    json_next_to,
    mean_in,
    one_of,
    read_score,
    shown_text,
)


class LmEvalLogs(JsonLines):
    """`samples_<task>_<time>.jsonl` of lm-eval."""

    tool, line_key, takes_empty = "lm-eval", "doc_id", True

    def model(self, log: LogFile) -> str:
        """Return the model that results_TIME.json names."""
        return _model(log.path)

    def total(self, log: LogFile, task: str, metric: str, of_filter: str) -> float | None:
        """Return the mean of results_TIME.json."""
        own = _results(log.path).get("results")
        found = own.get(task) if isinstance(own, Mapping) else None
        return mean_in(found, (f"{metric},{of_filter or 'none'}", metric))

    def samples(self, source: Path, records: Records, choice: ImportChoice) -> Iterator[Line]:
        """Yield the lines.

        lm-eval writes each document once for each filter, with one score for each metric.
        """
        filters = dict.fromkeys(str(record.get("filter", "none")) for _, record in records)
        wanted = one_of(source, "filter", filters, choice)
        kept = [(n, record) for n, record in records if str(record.get("filter", "none")) == wanted]
        metric = one_of(source, "metric", _metrics(kept), choice)
        task = choice.task or without_time(source.stem.removeprefix("samples_"))
        seen: Counter[str] = Counter()
        for number, record in kept:
            found = record.get("doc")
            doc: Line = found if isinstance(found, dict) else {}
            problem = str(doc.get("problem_id", record["doc_id"]))
            index = doc.get("sample_index") if "problem_id" in doc else None
            line = {
                "task": task,
                "problem_id": problem,
                "sample_index": seen[problem] if index is None else index,
                "score": read_score(record.get(metric), f"{source}:{number}", metric),
                "answer": _answer(record.get("filtered_resps")),
                SAID: {
                    "prompt": _prompt(record.get("arguments")),
                    "text": first_text(record.get("resps")),
                    "target": shown_text(record.get("target")),
                },
            }
            if index is None:  # a log of lm-eval itself, and not one that genbench exported
                line["imported"] = {"from": "lm-eval", "lacks": ["k", "seeds"]}
            seen[problem] += 1
            yield line


def _metrics(records: Records) -> dict[str, None]:
    """Return the names of the metrics that have a number on each line.

    Files of older versions do not list their metrics. Every key with a number is then taken for one.
    """
    names: dict[str, None] = {}
    for _, record in records:
        listed = record.get("metrics")
        for name in listed if isinstance(listed, list) else record:
            if name == "doc_id" or not isinstance(name, str):
                continue
            if isinstance(record.get(name), int | float) or (isinstance(listed, list) and name in record):
                names.setdefault(name)
    return {name: None for name in names if not any(isinstance(r.get(name), list) for _, r in records)}


def _prompt(found: Any) -> str | None:
    """Return the prompt of a line: its first argument, by place or by name, by version of lm-eval."""
    if isinstance(found, Mapping):
        found = found.get("gen_args_0")
        return first_text(found.get("arg_0") if isinstance(found, Mapping) else None)
    return first_text(found)


def _answer(found: Any) -> str | None:
    """Return the extracted text, or None if there is none.

    Multiple choice by likelihood has pairs in its place, which are not answers.
    """
    first = found[0] if isinstance(found, list) and found else found
    return first if isinstance(first, str) else None


def _results(path: Path) -> Mapping[str, Any]:
    """Return the results_TIME.json next to a samples file, whose times are equal or a second apart."""
    own = time_in(path)
    known = sorted(path.parent.glob("results_*.json"))
    near = [item for item in known if own is None or time_in(Path(item.name)) == own]
    return json_next_to(near[-1]) if near else json_next_to(known[-1]) if len(known) == 1 else {}


def _model(path: Path) -> str:
    found = _results(path)
    config = found.get("config")
    arguments = config.get("model_args") if isinstance(config, Mapping) else None
    if isinstance(arguments, Mapping):
        arguments = f"pretrained={arguments.get('pretrained', '')}"
    named = re.search(r"(?:pretrained|model)=([^,]+)", arguments) if isinstance(arguments, str) else None
    return str(found.get("model_name") or (named[1] if named else "") or path.parent.name)
