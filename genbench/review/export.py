"""Labels of people for other tools: CSV, JSON Lines that `judge check` reads, and JSON of Label Studio."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from genbench.errors import InputError
from genbench.review.items import ShownItem, read_items
from genbench.review.questions import Question, question_of
from genbench.review.reviews import ReviewFolder
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
    question, shown = question_of(place.plan), read_items(place.plan)
    rows = list(_rows(place, shown))
    if kind == "jsonl":
        lines = ({**row, **question.exported(shown[row["item"]])} for row in rows)
        return b"".join(encode({**line, **question.judged(line, place.plan)}) for line in lines)
    if kind == "json":
        return encode(_label_studio(rows, shown, question))
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


def _plain(value: object) -> object:
    """Return a value that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in {"=", "+", "-", "@"} else value


def _label_studio(
    rows: list[dict[str, Any]], shown: dict[str, ShownItem], question: Question
) -> list[dict[str, Any]]:
    """Return tasks with annotations, for a project whose choices are named `label`."""
    tasks: dict[str, dict[str, Any]] = {}
    for row in rows:
        texts = question.exported(shown[row["item"]])
        task = tasks.setdefault(row["item"], {"data": texts, "annotations": []})
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
