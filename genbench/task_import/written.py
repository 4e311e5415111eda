"""The files of an import: for each task a lock file, rows and a page, and a suite that lists the tasks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from genbench.task_import.convert import Converted
from genbench.task_import.records import ImportedRecord
from genbench.tasks.imported import ENDING, Lock, write_frozen, write_lock

_SHOWN = 3
"""Rows that are shown for approval."""

_READ = "the requests that the tool wrote were read; nothing of it was executed"

_SUITE = """\
# Tasks that were imported from {framework}. Each lock file says where its parts came from; the page next to
# it says the same in words. `genbench check {name}.yaml` checks files and rows.
#
# The definitions' own decoding is in their lock files. For a base model, write `prompt_style: plain` under
# the model and take stop and max_tokens from there. Chat models get the suite's max_tokens: the limits of
# the definitions (often 256 tokens) end a reasoning trace in the middle.
models:
  model:
    path: ORG/MODEL                 # or: genbench run {name}.yaml --model model=PATH

decoding:
  temperature: 0.6
  top_p: 0.95
  max_tokens: 32768
  seed: 0

tasks:
"""


def write_converted(found: Converted, output: Path) -> ImportedRecord:
    """Write the files of one task into a folder. The lock file comes last: it is never without rows."""
    output.mkdir(parents=True, exist_ok=True)
    name = found.lock.task
    rows = output / f"{name}.rows.jsonl"
    lock = found.lock.model_copy(update={"frozen": write_frozen(rows, found.rows)})
    (output / f"{name}.md").write_text(page_text(lock, found), encoding="utf-8")
    place = output / f"{name}{ENDING}"
    write_lock(place, lock)
    return ImportedRecord(
        task=name,
        level=lock.level,
        door=lock.door,
        output=lock.output,
        lock=str(place),
        rows=lock.frozen.rows,
        refused_rows=len(lock.refused),
        examples=tuple(_examples(found)),
        changes=lock.changes,
        defects=lock.defects,
    )


def _examples(found: Converted) -> Iterator[tuple[str, str]]:
    for row in found.rows[:_SHOWN]:
        reference = row.get("reference", row.get("gold", row.get("continuation")))
        yield row["context"], json.dumps(reference, ensure_ascii=False)


def suite_text(done: Sequence[ImportedRecord], group: str | None) -> str:
    """Return a suite with the imported tasks."""
    name = group or done[0].task
    lines = [_SUITE.format(framework="another tool", name=name)]
    for item in done:
        grouped = f", group: {json.dumps(group)}" if group else ""
        lines.append(f"  - {{task: {json.dumps('imported:' + Path(item.lock).name)}{grouped}}}\n")
    return "".join(lines)


def page_text(lock: Lock, found: Converted) -> str:
    """Return the page of an imported task: where each part came from, and under which licence."""
    return (
        "\n".join([f"# {lock.task}\n", *_origin(lock), *_checked(lock), *_lists(lock), *_rows(found)]) + "\n"
    )


def _origin(lock: Lock) -> Iterator[str]:
    origin = lock.origin
    doors = {
        1: "the definition was read; nothing of it was executed",
        2: "code of the tool made the rows once, in the sandbox",
        3: "code of the tool made the rows, and scores each answer in the sandbox",
    }
    yield "| part | where it came from | licence |\n|---|---|---|"
    version = " ".join(filter(None, (origin.framework, origin.version)))
    commit = f", commit `{origin.commit}`" if origin.commit else ""
    files = ", ".join(f"`{name}`" for name in origin.files)
    yield f"| definition | {version}{commit}: {files} (digest `{origin.digest[:16]}`) | {origin.licence} |"
    for part in lock.data:
        revision = f" at `{part.revision}`" if part.revision else ""
        config = f"{part.config or 'default'}, {part.split}"
        yield (
            f"| rows | `{part.repo}` ({config}){revision}, from the {part.source}: {part.rows:,} rows, "
            f"digest `{part.digest[:16]}` | {part.licence} |"
        )
    yield ""
    done = _READ if lock.origin.framework == "oe-eval" else doors[lock.door]
    yield f"Version `{lock.version}`, level {lock.level}: {done}.\n"


def _checked(lock: Lock) -> Iterator[str]:
    yield f"Exemplars: {lock.shots or 'none'}. Output: {lock.output}. Verifier: `{lock.verifier}`.\n"
    if lock.verifier_options:
        yield f"```json\n{json.dumps(lock.verifier_options, indent=2, ensure_ascii=False)}\n```\n"


def _lists(lock: Lock) -> Iterator[str]:
    for title, items in (
        ("What differs from the original", lock.changes),
        ("Known defects of the original", lock.defects),
        ("Rows that could not be made", [f"row {int(row) + 1}: {why}" for row, why in lock.refused.items()]),
    ):
        if items:
            yield f"## {title}\n"
            yield from (f"* {item}" for item in items)
            yield ""


def _rows(found: Converted) -> Iterator[str]:
    yield "## The first rows\n"
    for prompt, reference in _examples(found):
        yield f"````text\n{prompt}\n````\n\nReference: `{reference}`\n"
