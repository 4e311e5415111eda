"""A suite to start from, made of a file of rows: columns, kind of checking, and prompt are guessed."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from genbench.data.local import read_rows
from genbench.errors import ConfigError
from genbench.protocols import Row
from genbench.suite.suitefile import plain_name, read_suite
from genbench.tasks.loading import load_all

_SEEN = 500
"""Rows from which is guessed."""
_NAMES: Mapping[str, Sequence[str]] = {
    "id": ("id", "uid", "problem_id", "task_id", "question_id", "qid", "example_id", "key", "idx", "index"),
    "question": (
        *(
            "question",
            "problem",
            "prompt",
            "query",
            "input",
            "instruction",
            "task",
            "text",
            "user",
            "messages",
        ),
        *("conversation", "input_text", "user_prompt", "request"),
    ),
    "reference": (
        *("answer", "reference", "target", "expected", "gold", "label", "solution", "ground_truth", "output"),
        *(
            "answers",
            "ideal",
            "expected_output",
            "expected_answer",
            "correct_answer",
            "response",
            "completion",
        ),
    ),
    "options": ("options", "choices", "candidates", "endings"),
    "tests": ("tests", "test_list", "test_cases", "unit_tests"),
    "schema": ("schema", "json_schema", "response_schema"),
    "instructions": ("instruction_id_list", "instructions", "instruction_ids"),
}
"""Names of columns as data sets have them, the likeliest first, in lower case."""
_STRATA = (
    "level",
    "difficulty",
    "subject",
    "category",
    "topic",
    "domain",
    "type",
    "source",
    "language",
    "lang",
)
_LETTERS = ("a", "b", "c", "d", "e", "f")
_NUMBER = re.compile(r"[-+]?[$€£]?\s?\d[\d,]*(?:\.\d+)?\s?%?|[-+]?\d+\s?/\s?\d+")
_LATEX = re.compile(r"\\[a-zA-Z]+|[_^{}]|\$")
_LONG, _FEW = 80, 12
"""Characters from which a reference is not a short text, and values up to which references are labels."""


@dataclass(slots=True)
class Draft:
    """What was seen in the rows."""

    kind: str
    fields: dict[str, Any]
    prompt: str
    verifier: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def draft_suite(data: Path, path: Path, models: Mapping[str, str]) -> list[str]:
    """Write a suite of one task from a file of rows. Return what was seen, in words.

    Args:
        data: JSON Lines, CSV or Parquet.
        path: the suite to write.
        models: paths of models by name. Empty: the two tiny ones that ship with genbench.

    Raises:
        ConfigError: the suite exists already, its folder does not, or no column looks like a question.
        DataError: the file cannot be read.
    """
    if path.exists():
        raise ConfigError(
            f"{path} exists already; give another name: `genbench init other.yaml --data {data}`"
        )
    if not path.parent.is_dir():
        raise ConfigError(f"{path.parent}: no such folder")
    rows = read_rows(data, ())
    found = _guessed(data, rows[:_SEEN])
    if "id" in found.fields and not _is_unique(rows, found.fields["id"]):
        found.notes.append(
            f"column '{found.fields.pop('id')}' is not unique, so problems are known by their row"
        )
    draft = path.with_name(f".{path.name}.part")
    try:
        draft.write_text(_text(data, path, found, models), encoding="utf-8")
        (task,) = load_all(read_suite(draft), read_suite(draft).config.tasks, None, None)
        draft.replace(path)
    except BaseException:  # nothing half-written stays
        draft.unlink(missing_ok=True)
        raise
    named = ", ".join(f"{name}: {_named(value)}" for name, value in found.fields.items())
    kind = "none: answers are drawn and shown, and never scored" if found.kind == "none" else found.kind
    lines = [f"{data}: {len(task.problems)} problems; {named}", f"kind {kind}", *found.notes]
    if warning := task.provenance.get("warning"):
        lines.append(str(warning))
    return lines


def _named(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {column}" for name, column in value.items())
    return ", ".join(value) if isinstance(value, list) else str(value)


def _is_unique(rows: Sequence[Row], column: str) -> bool:
    values = [row.get(column) for row in rows]
    return None not in values and len(set(map(str, values))) == len(values)


def _guessed(data: Path, rows: Sequence[Row]) -> Draft:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    by_name = {str(column).lower(): column for column in columns}
    seen = {
        role: next((by_name[name] for name in names if name in by_name), None)
        for role, names in _NAMES.items()
    }
    question = seen["question"] or _longest(rows, columns)
    if question is None:
        raise ConfigError(
            f"{data}: no column looks like a question (columns: {', '.join(map(str, columns))}); name it "
            "'question', or write data.fields by hand: `genbench init` without --data shows how"
        )
    fields: dict[str, Any] = {} if seen["id"] is None else {"id": seen["id"]}
    fields["question"] = question
    strata = [by_name[name] for name in _STRATA if name in by_name and by_name[name] not in fields.values()]
    strata = [column for column in strata if 2 <= len(_values(rows, column)) <= 20]
    found = _by_columns(rows, by_name, seen, fields) or _by_reference(rows, seen["reference"], fields)
    found.fields |= {"strata": strata} if strata else {}
    return found


def _by_columns(
    rows: Sequence[Row], by_name: Mapping[str, str], seen: Mapping[str, str | None], fields: dict[str, Any]
) -> Draft | None:
    """Return the draft of rows whose columns say how they are checked, or None."""
    if seen["instructions"] is not None and _is_list(rows, seen["instructions"]):
        kwargs = {"kwargs": by_name["kwargs"]} if "kwargs" in by_name else {}
        return Draft("ifeval", {**fields, "instructions": seen["instructions"], **kwargs}, "{question}")
    if seen["tests"] is not None:
        names = {name: by_name[name] for name in ("fn_name",) if name in by_name}
        reference = {**names, "tests": seen["tests"]}
        prompt = "{question}\n\nReply with one Python code block."
        return Draft("code", {**fields, "reference": reference}, prompt)
    if seen["schema"] is not None:
        prompt = "{question}\n\nReply with JSON only."
        return Draft("json_schema", {**fields, "reference": {"schema": seen["schema"]}}, prompt)
    letters = [by_name[letter] for letter in _LETTERS if letter in by_name]
    options: str | list[str] | None = seen["options"]
    if options is None and len(letters) >= 2 and _LETTERS[: len(letters)] == tuple(map(str.lower, letters)):
        options = letters
    if options is not None and seen["reference"] is not None:
        return Draft("choice", {**fields, "options": options, "reference": seen["reference"]}, "")
    return None


def _by_reference(rows: Sequence[Row], column: str | None, fields: dict[str, Any]) -> Draft:
    """Return the draft of rows with a reference, by what the references look like."""
    texts = [] if column is None else [text for row in rows for text in _texts(row.get(column))]
    if column is None or not texts or column == fields["question"]:
        note = "no column looks like an answer, so nothing is scored; add one, a verifier or a judge"
        return Draft("none", fields, "{question}", notes=[note])
    own = {**fields, "reference": column}
    if sum(bool(_NUMBER.fullmatch(text) or _LATEX.search(text)) for text in texts) >= 0.9 * len(texts):
        return Draft("math", own, "")
    if sum(map(len, texts)) > _LONG * len(texts):
        note = (
            f"the answers in '{column}' are long texts, which no rule compares, so nothing is scored; name a "
            "judge or a verifier of your own, or keep the short answer in a column of its own"
        )
        return Draft("none", fields, "{question}", notes=[note])
    labels = dict.fromkeys(text.strip() for text in texts)
    verifier = {"extract": "stated", "ignore_case": True, "ignore_punctuation": True}
    end = "End with a line 'Answer: …'."
    if len(labels) <= _FEW and len(texts) >= 3 * len(labels):
        end = f"End with a line 'Answer: X', where X is one of: {', '.join(sorted(labels))}."
    prompt = "{question}\n\n" + end.replace("{", "{{").replace("}", "}}")
    return Draft("exact", own, prompt, verifier)


def _texts(value: Any) -> list[str]:
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    return [] if value is None or value == "" else [str(value).strip()]


def _values(rows: Sequence[Row], column: str) -> set[str]:
    return {str(row.get(column)) for row in rows if not isinstance(row.get(column), list | dict)}


def _is_list(rows: Sequence[Row], column: str) -> bool:
    return all(isinstance(row.get(column), list) for row in rows)


def _longest(rows: Sequence[Row], columns: Sequence[str]) -> str | None:
    """Return the column with the longest texts, if there are texts of several words."""
    sizes = {
        column: sum(len(str(row.get(column))) for row in rows if isinstance(row.get(column), str))
        for column in columns
        if any(" " in str(row.get(column)).strip() for row in rows if isinstance(row.get(column), str))
    }
    return max(sizes, key=lambda column: sizes[column]) if sizes else None


_TINY = {"base": "shipped:checkpoints/tiny-base", "tuned": "shipped:checkpoints/tiny-tuned"}


def _text(data: Path, path: Path, found: Draft, models: Mapping[str, str]) -> str:
    place = os.path.relpath(data.resolve(), path.resolve().parent)
    name = plain_name(path.stem)
    shown = json.dumps(found.fields, ensure_ascii=False)
    lines = [
        f"# Made by `genbench init` from {data.name}. What was guessed is in the task below: look at it.",
        f"name: {name}",
        "",
        "models:"
        if models
        else "models:                 # tiny ones that ship with genbench: put your own here",
        *(f"  {model}: {{path: {json.dumps(where)}}}" for model, where in (models or _TINY).items()),
        "",
        "decoding:               # one decoding for all models; reasoning models need 16,384 tokens and more",
        "  temperature: 0.6",
        "  top_p: 0.95",
        f"  max_tokens: {4096 if models else 256}",
        "",
        f"track: {{name: {name}}}   # the runs of each night, for `genbench ledger` and `genbench trend`",
        "",
        "tasks:",
        f"  - name: {plain_name(data.stem) or 'rows'}",
        f"    kind: {found.kind}",
        "    data:",
        f"      path: {json.dumps(place, ensure_ascii=False)}",
        f"      fields: {shown}",
        *([f"    prompt: {json.dumps(found.prompt, ensure_ascii=False)}"] if found.prompt else []),
        *([f"    verifier: {json.dumps(found.verifier)}"] if found.verifier else []),
        f"    k: {1 if found.kind == 'none' else 4}",
        *([] if found.kind == "none" else ["    gating: true"]),
    ]
    return "\n".join(lines) + "\n"
