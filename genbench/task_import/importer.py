"""Import of task definitions: each becomes a lock file, a file of rows and a page, and a suite lists them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from genbench.errors import GenbenchError, InputError
from genbench.sandbox.foreign import ForeignPython
from genbench.task_import.convert import Converted, convert
from genbench.task_import.definition import Definition, DefinitionTree, read_file, read_tree
from genbench.task_import.foreignscores import convert_scored
from genbench.task_import.levels import classify, without_code
from genbench.task_import.locate import Source, installed_folder, source_of
from genbench.task_import.olmo_requests import PREFIXES, convert_olmo
from genbench.task_import.pythontasks import convert_python, python_source
from genbench.task_import.records import ImportedRecord, ImportRecord, RefusedRecord
from genbench.task_import.written import suite_text, write_converted

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What a user asks of an import.

    Args:
        output: the folder that gets the files.
        data_dir: a mirror of datasets instead of the hub.
        tasks_dir: the folder of definitions that a name is looked up in. None: that of the installed lm-eval.
        shots: the number of exemplars, instead of the definition's own.
        headline: the filter that makes the score.
        skip_code: the lists, `filter_list` or `metric_list`, of which entries with Python functions are left
            out, if others remain.
        foreign: the Python that may run the task's own code once to make its rows. None: no code runs.
        generate: whether tasks with choices become tasks that generate their answer.
    """

    output: Path
    data_dir: Path | None = None
    tasks_dir: Path | None = None
    shots: int | None = None
    headline: str | None = None
    generate: bool = False
    skip_code: frozenset[str] = frozenset()
    foreign: ForeignPython | None = None
    tell: Tell = field(default=lambda line: None)


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
            f"'{source}' is no file or folder, and no folder of definitions is known for a name: give "
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
    try:
        if found.level == "3" and options.foreign is not None:
            return convert_scored(
                found,
                origin,
                options.foreign,
                data_dir=options.data_dir,
                shots=options.shots,
                headline=options.headline,
                left_out=left_out,
            )
        return convert(
            found,
            origin,
            data_dir=options.data_dir,
            shots=options.shots,
            headline=options.headline,
            generate=options.generate,
            left_out=left_out,
            foreign=options.foreign,
        )
    except GenbenchError as error:
        return RefusedRecord(task=definition.name, level=found.level, reason=str(error))


def _file_name(source: str) -> str:
    name = Path(source).name.removesuffix(".yaml")
    kept = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in name)
    return kept.lstrip("._-") or "imported"
