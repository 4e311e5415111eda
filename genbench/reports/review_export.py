"""Labels of people for other tools: CSV, JSON Lines that `judge check` reads, and JSON of Label Studio."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from genbench.analysis.reviews import ReviewFolder, ReviewPlan
from genbench.errors import InputError
from genbench.reports.review_items import ShownItem, read_items
from genbench.store.json_files import encode

KINDS = ("csv", "jsonl", "json")
"""The endings of files: CSV, JSON Lines, and JSON of Label Studio."""
_COLUMNS = (
    "item",
    "task",
    "problem_id",
    "sample_index",
    "reviewer",
    "label",
    "final",
    "comment",
    "seconds",
    "at",
)


def export_labels(folder: str | Path, kind: str) -> bytes:
    """Return the labels in force of a folder. Those of answers that were drawn again are left out.

    JSON Lines have one line for each label with id, question, reference, answer and label, as the calibration
    set of a judge. Of a pair the reference is answer B, and the label is WIN, TIE or LOSS of A. The label of
    a rubric with one dimension is a score of this dimension.

    Args:
        kind: csv, jsonl, or json for Label Studio.

    Raises:
        InputError: there is no such kind or plan, or a run is gone.
    """
    if kind not in KINDS:
        raise InputError(
            f"'{kind[:20]}': wanted a file that ends with .csv, .jsonl, or .json for Label Studio"
        )
    place = ReviewFolder.open(Path(folder))
    shown = read_items(place.plan)
    rows = list(_rows(place, shown))
    if kind == "jsonl":
        lines = ({**row, **_texts(shown[row["item"]])} for row in rows)
        return b"".join(encode({**line, **_as_judged(line, place.plan)}) for line in lines)
    if kind == "json":
        return encode(_label_studio(rows, shown))
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _plain(row[name]) for name in _COLUMNS} for row in rows)
    return text.getvalue().encode("utf-8", "replace")


def _rows(place: ReviewFolder, shown: dict[str, ShownItem]) -> Iterator[dict[str, Any]]:
    for item in place.plan.items:
        if shown[item.item].is_void:
            continue
        for who, line in place.in_force.get(item.item, {}).items():
            yield {
                "id": f"{item.item}-{who}",
                "item": item.item,
                "task": place.plan.task,
                "problem_id": item.problem_id,
                "sample_index": item.sample_index,
                "reviewer": who,
                "label": line.label,
                "final": line.final,
                "comment": line.comment,
                "seconds": line.seconds,
                "at": line.at,
            }


def _as_judged(line: dict[str, Any], plan: ReviewPlan) -> dict[str, Any]:
    """Return the label and the reference of a line as a calibration set has them, if those differ."""
    found: dict[str, Any] = {}
    rubric = plan.rubric
    if plan.kind == "prefer":
        score = plan.labels[line["label"]]
        found["label"] = "WIN" if score > 0.5 else "LOSS" if score < 0.5 else "TIE"
    elif rubric is not None and rubric.dimension is not None and line["label"].isdecimal():
        found["label"] = {rubric.dimension: int(line["label"])}
    if rubric is not None and rubric.has_checklist:
        with suppress(ValueError):
            found["reference"] = json.loads(line["reference"])
    return found


def _plain(value: object) -> object:
    """Return a value that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in {"=", "+", "-", "@"} else value


def _texts(item: ShownItem) -> dict[str, str]:
    answers = ["\n\n".join(turns) for turns in item.answers]
    reference = answers[1] if len(answers) > 1 else item.reference
    return {"question": item.question, "answer": answers[0], "reference": reference}


def _label_studio(rows: list[dict[str, Any]], shown: dict[str, ShownItem]) -> list[dict[str, Any]]:
    """Return tasks with annotations, for a project whose choices are named `label`."""
    tasks: dict[str, dict[str, Any]] = {}
    for row in rows:
        task = tasks.setdefault(row["item"], {"data": _texts(shown[row["item"]]), "annotations": []})
        task["data"]["item"] = row["item"]
        choice = {
            "from_name": "label",
            "to_name": "answer",
            "type": "choices",
            "value": {"choices": [row["label"]]},
        }
        task["annotations"].append(
            {"completed_by": {"email": row["reviewer"]}, "result": [choice], "lead_time": row["seconds"]}
        )
    return list(tasks.values())
