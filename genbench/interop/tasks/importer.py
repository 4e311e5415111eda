"""Import of task definitions: each becomes a lock file, a file of rows and a page, and a suite lists them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import Field

from genbench.errors import GenbenchError, InputError
from genbench.interop.tasks.harness.convert import Converted, ImportOptions, convert
from genbench.interop.tasks.harness.definition import Definition, DefinitionTree, read_file, read_tree
from genbench.interop.tasks.harness.levels import classify, without_code
from genbench.interop.tasks.olmo_requests import PREFIXES, convert_olmo
from genbench.interop.tasks.python_tasks import convert_python, python_source
from genbench.interop.tasks.sources import Source, installed_folder, source_of
from genbench.json_record import JsonRecord
from genbench.suite.block import task_mistake
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


class ImportedRecord(JsonRecord):
    """One task that was imported."""

    task: str = Field(description="name of the task in the original")
    level: str = Field(description="1, 1c, 2, 2c, 3 or 4 (see `genbench import levels`)")
    door: int = Field(description="1: definition read; 2: rows by foreign code; 3: also scored by it")
    output: str = Field(description="generate_until, multiple_choice, loglikelihood …")
    lock: str = Field(description="the lock file")
    rows: int = Field(description="rows that can be asked", ge=0)
    refused_rows: int = Field(description="rows that could not be rendered", ge=0)
    examples: tuple[tuple[str, str], ...] = Field(description="prompt and reference of the first rows")
    changes: tuple[str, ...] = Field(description="what differs from the original, and why")
    defects: tuple[str, ...] = Field(description="known defects of the original")


class RefusedRecord(JsonRecord):
    """One task that cannot be imported as asked."""

    task: str = Field(description="name of the task in the original")
    level: str = Field(description="its level, as in the tasks that were imported")
    reason: str = Field(description="why it cannot be imported, and what to do")


class ImportRecord(JsonRecord):
    """What an import wrote, and what it refused."""

    suite: str = Field(description="the suite file that lists the tasks")
    imported: tuple[ImportedRecord, ...] = Field(description="the tasks that were imported")
    refused: tuple[RefusedRecord, ...] = Field(description="the tasks that were not")


def import_tasks(source: str, options: ImportOptions) -> ImportRecord:
    """Import a definition file, all definitions of a folder, or a task, group or tag by name.

    Tasks that cannot be imported are listed with the reason. Nothing is written for them.

    Raises:
        InputError: the source is unknown, or none of its tasks can be imported.
    """
    if source.startswith(PREFIXES):
        found = convert_olmo(source, options.tasks_dir)
        return _finished(found.lock.task, [write_converted(found, options.output)], [], options)
    python = python_source(source)
    if python is not None:
        found = convert_python(python, options.foreign, options.data_dir)
        return _finished(source, [write_converted(found, options.output)], [], options)
    tree, wanted = _wanted(source, options)
    origin = source_of(tree.root)
    done: list[ImportedRecord] = []
    refused: list[RefusedRecord] = []
    for place, definition in enumerate(wanted, start=1):
        options.tell(f"task {place} of {len(wanted)}: {definition.name}")
        outcome = _imported(definition, origin, options)
        if isinstance(outcome, RefusedRecord):
            refused.append(outcome)
        else:
            done.append(write_converted(outcome, options.output))
    if not done:
        words = "\n".join(f"  {item.task}: {item.reason}" for item in refused[:20])
        raise InputError(f"none of {len(wanted)} tasks can be imported:\n{words}")
    return _finished(source, done, refused, options)


def _finished(
    source: str, done: list[ImportedRecord], refused: list[RefusedRecord], options: ImportOptions
) -> ImportRecord:
    """Write the suite that lists the tasks, and return what was done."""
    suite = options.output / f"{_file_name(source)}.yaml"
    group = _file_name(source) if len(done) > 1 else None
    suite.write_text(suite_text(done, group), encoding="utf-8")
    return ImportRecord(suite=str(suite), imported=tuple(done), refused=tuple(refused))


def _wanted(source: str, options: ImportOptions) -> tuple[DefinitionTree, Sequence[Definition]]:
    """Return the tree of a source and the tasks that are meant.

    Raises:
        InputError: there is no such file, folder or name.
    """
    path = Path(source).expanduser()
    if path.is_file():
        tree = read_file(path, options.tasks_dir)
        return tree, list(tree.tasks.values()) or _of_group(path, tree, options)
    if path.is_dir():
        tree = read_tree(path)
        return tree, list(tree.tasks.values())
    root = options.tasks_dir or installed_folder()
    if root is None:
        raise InputError(
            f"'{source}' is not a file or folder, and no folder of definitions is known for a name: give "
            "--tasks-dir FOLDER, or install lm-eval next to genbench (its definitions are read, not its code)"
        )
    options.tell(f"reading the definitions in {root}")
    tree = read_tree(root)
    return tree, tree.find(source)


def _of_group(path: Path, tree: DefinitionTree, options: ImportOptions) -> list[Definition]:
    """Return the tasks of a file that lists a group. Its members are in the same folder."""
    whole = read_tree(options.tasks_dir or path.resolve().parent)
    return [task for name in tree.groups for task in whole.find(name)]


def _imported(definition: Definition, origin: Source, options: ImportOptions) -> Converted | RefusedRecord:
    kept, left_out = without_code(definition, options.skip_code)
    found = classify(kept)
    mistake = task_mistake(definition.name)
    if mistake is not None:
        return RefusedRecord(task=definition.name, level=found.level, reason=f"its name {mistake}")
    try:
        return convert(found, origin, options, left_out)
    except GenbenchError as error:
        return RefusedRecord(task=definition.name, level=found.level, reason=str(error))


def _file_name(source: str) -> str:
    name = Path(source).name.removesuffix(".yaml")
    kept = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in name)
    return kept.lstrip("._-") or "imported"


def write_converted(found: Converted, output: Path) -> ImportedRecord:
    """Write the files of one task into a folder. The lock file comes last: it is never without rows."""
    output.mkdir(parents=True, exist_ok=True)
    name = found.lock.task
    rows = output / f"{name}.rows.jsonl"
    lock = found.lock.model_copy(update={"frozen": write_frozen(rows, found.rows)})
    (output / f"{name}.md").write_text(page_text(lock, found), encoding="utf-8")
    place = output / f"{name}{ENDING}"
    write_lock(place, lock)
    return ImportedRecord.from_object(
        lock,
        lock=str(place),
        rows=lock.frozen.rows,
        refused_rows=len(lock.refused),
        examples=tuple(_examples(found)),
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
    origin, checked, listed = _origin_lines(lock), _checked_lines(lock), _list_lines(lock)
    return "\n".join([f"# {lock.task}\n", *origin, *checked, *listed, *_row_lines(found)]) + "\n"


def _origin_lines(lock: Lock) -> Iterator[str]:
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


def _checked_lines(lock: Lock) -> Iterator[str]:
    yield f"Exemplars: {lock.shots or 'none'}. Output: {lock.output}. Verifier: `{lock.verifier}`.\n"
    if lock.verifier_options:
        yield f"```json\n{json.dumps(lock.verifier_options, indent=2, ensure_ascii=False)}\n```\n"


def _list_lines(lock: Lock) -> Iterator[str]:
    for title, items in (
        ("What differs from the original", lock.changes),
        ("Known defects of the original", lock.defects),
        ("Rows that could not be made", [f"row {int(row) + 1}: {why}" for row, why in lock.refused.items()]),
    ):
        if items:
            yield f"## {title}\n"
            yield from (f"* {item}" for item in items)
            yield ""


def _row_lines(found: Converted) -> Iterator[str]:
    yield "## The first rows\n"
    for prompt, reference in _examples(found):
        yield f"````text\n{prompt}\n````\n\nReference: `{reference}`\n"
