"""The decoding contract: digests of the terms of a run, their differences, and the edits of a suite in
words.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

Terms = Mapping[str, Any]

DATA_TEXTS, AS_BEFORE = "data_texts", "as before"
"""The term that says how control tokens in texts of the data are read, and its value in runs that lack it."""


EFFORT = "effort"
"""The term that names the effort at which a model is asked. Runs without efforts lack it, see AS_BEFORE."""


def shaping(terms: Terms) -> dict[str, Any]:
    """Return the terms that tell one run from another, without what the digests of the prompts tell exactly.

    Runs of an older version lack `data_texts`. They compare, and are continued, unless a prompt differs. The
    name of an effort is compared by itself: what it sets is in the prompts or among the other terms.
    """
    return {key: value for key, value in terms.items() if key not in (DATA_TEXTS, EFFORT)}


_EXCLUDED = "excluded"
_NEWER: Mapping[str, Any] = {"kit": None, "limited_by": "rlimits", _EXCLUDED: ()}
"""Terms of tasks with container images that older runs lack, and what was true then: no kit for the verifier,
no control groups. They do not say which tasks were excluded."""


def aligned(left: Terms, right: Terms) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return two records of terms in which each has the terms of images that only the other one has.

    A run that lacks one was drawn as before: without a kit and without control groups. It does not say which
    tasks were excluded, so that its problems tell.
    """
    ours, theirs = (_of_images(side) for side in (left, right))
    return _with(left, ours, theirs), _with(right, theirs, ours)


def _of_images(terms: Terms) -> dict[str, Mapping[str, Any]]:
    """Return the terms of images by task. Those of imported runs may have any form."""
    found = {}
    for task, own in _mapping(terms.get("decoding")).items():
        images = _mapping(_mapping(own).get("agent")).get("images")
        if isinstance(images, Mapping):
            found[task] = images
    return found


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _with(
    terms: Terms, own: Mapping[str, Mapping[str, Any]], other: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return terms with those of images that only the other side has."""
    shared = own.keys() & other.keys()
    if not shared:
        return dict(terms)
    decoding = dict(terms["decoding"])
    for task in shared:
        lacking = {
            name: value if name == _EXCLUDED or value == _NEWER[name] else AS_BEFORE
            for name, value in other[task].items()
            if name in _NEWER.keys() - own[task].keys()
        }
        agent = {**decoding[task]["agent"], "images": {**own[task], **lacking}}
        decoding[task] = {**decoding[task], "agent": agent}
    return {**terms, "decoding": decoding}


def digest(record: object) -> str:
    """Return the sha256 of a record's canonical JSON (sorted keys, no blanks) in hexadecimal."""
    text = json.dumps(record, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def differences(left: Any, right: Any, prefix: str = "") -> list[str]:
    """Return one line for each value that differs, such as `decoding.temperature: 0.6 -> 0.7`.

    Args:
        prefix: the dotted key of the two records in the whole record.
    """
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        lines: list[str] = []
        for key in sorted(set(left) | set(right)):
            name = f"{prefix}.{key}" if prefix else str(key)
            lines += differences(left.get(key, "(absent)"), right.get(key, "(absent)"), name)
        return lines
    return [] if left == right else [f"{prefix}: {show(left)} -> {show(right)}"]


def show(value: Any) -> str:
    """Return a value as JSON of at most 120 characters."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= 120 else text[:117] + "..."


_SHOWN_LINES = 8
_LINE_CHARS = 120
_QUESTION_KEYS = ("task", "kind", "prompt", "turns", "system", "shots", "data", "options")
"""Keys of a suite's task that shape its questions and references."""


def text_diff(old: str, new: str) -> list[str]:
    """Return the lines that differ between two texts, with a "-" or "+" before each."""
    lines = [
        line[:_LINE_CHARS] + ("…" if len(line) > _LINE_CHARS else "")
        for line in difflib.ndiff(old.splitlines(), new.splitlines())
        if line[:2] in ("- ", "+ ")
    ]
    more = len(lines) - _SHOWN_LINES
    return lines if more <= 0 else [*lines[:_SHOWN_LINES], f"… {more} more lines"]


def task_edits(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return what differs between a task's entries in two configurations of a suite.

    Args:
        name: the task's name in files and reports.
        old, new: whole configurations, as manifests record them.
    """
    before, after = task_entry(name, old), task_entry(name, new)
    found: list[str] = []
    for key in _QUESTION_KEYS:
        left, right = before.get(key), after.get(key)
        if left == right:
            continue
        if isinstance(left, str) and isinstance(right, str):
            found += [f"task {name}: {key}:", *(f"  {line}" for line in text_diff(left, right))]
        else:
            found += [f"task {name}: {line}" for line in differences(left, right, key)]
    return found


def row_edits(name: str, old: Mapping[str, Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return how many problems of a task differ between the lines of two problems.jsonl, in words.

    Problems that only one side has are left out, since a limit may cut them.
    """
    changed = dict.fromkeys(("prompt", "reference"), 0)
    for record in new:
        before = old.get(str(record["problem_id"]))
        for key in changed:
            digest = f"{key}_digest"
            changed[key] += before is not None and before.get(digest) != record.get(digest)
    return [
        f"task {name}: {count} of {len(new)} problems have another {key}"
        for key, count in changed.items()
        if count
    ]


def task_entry(name: str, config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a task's entry in the whole configuration of a suite, or an empty one."""
    entries: Sequence[Mapping[str, Any]] = config.get("tasks", ())
    return next((entry for entry in entries if (entry.get("name") or entry.get("task")) == name), {})
