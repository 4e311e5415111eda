"""Task definitions: one YAML file as plain data, a file with its includes resolved, and a folder of them.

Tags that name Python functions stay names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import Node, ScalarNode

from genbench.errors import InputError, nearest
from genbench.suite.yamlfile import MOST_CHARS, limited_scanner

MOST_VALUES = 500_000
"""Values of one file with its aliases written out, so that a few lines cannot stand for gigabytes."""
_DEEPEST = 60
_IGNORED = frozenset({"__pycache__", ".ipynb_checkpoints"})
_DEEPEST_INCLUDE = 20


@dataclass(frozen=True, slots=True)
class FunctionName:
    """A `!function module.name` of a definition, which is never called while the definition is read."""

    name: str

    def __str__(self) -> str:
        return f"!function {self.name}"


class _Constructor(SafeConstructor):
    """Builds plain data, and names in place of Python functions."""

    def check_mapping_key(self, *_: Any) -> bool:
        """Let a later value of a key replace an earlier one, as PyYAML does."""
        return True


def _function(constructor: _Constructor, node: Node) -> FunctionName:
    if not isinstance(node, ScalarNode):
        raise YAMLError(f"!function wants a name like module.function{node.start_mark}")
    return FunctionName(str(node.value))


_Constructor.add_constructor("!function", _function)


def read_source(path: Path) -> dict[str, Any]:
    """Return the mapping of one file, as YAML 1.1 reads it. Of a key given twice the last one counts.

    Raises:
        InputError: the file cannot be read, is not a mapping, has another tag than `!function`, or is too
            large once its aliases are written out. Names the line if the parser knows it.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(MOST_CHARS + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 (byte {error.start})") from error
    return parse_source(text, str(path))


def parse_source(text: str, where: str) -> dict[str, Any]:
    """Return the mapping of a YAML text. `where` names it in messages.

    Raises:
        InputError: as `read_source`.
    """
    if len(text) > MOST_CHARS:  # the largest definition of lm-eval 0.4.13 has a quarter of that
        raise InputError(f"{where}: has more than {MOST_CHARS:,} characters; put long lists into data files")
    reader = YAML(typ="safe", pure=True)
    reader.version = (1, 1)  # as PyYAML reads it, which lm-eval uses
    reader.Constructor = _Constructor
    reader.Scanner = limited_scanner(lambda line, why: InputError(f"{where}:{line}: {why}"))
    try:
        root = reader.compose(text)
        _require_small(root, where)  # before merge keys are written out, which ruamel does as it builds
        found = None if root is None else reader.constructor.construct_document(root)
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InputError(f"{where}:{line}: not a YAML definition: {error.problem}") from error
    except (YAMLError, ValueError, TypeError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{where}: not a YAML definition: {reason or type(error).__name__}") from error
    if not isinstance(found, dict):
        raise InputError(f"{where}: wanted a mapping, found {type(found).__name__}")
    return found


def _require_small(root: Node | None, where: str) -> None:
    """Refuse nodes that are too deep or too many, each alias counted as often as it is used."""
    for count, (node, depth) in enumerate(_with_depths(root, 0)):
        line = node.start_mark.line + 1 if node is not None else 1
        if count > MOST_VALUES:
            raise InputError(
                f"{where}:{line}: has more than {MOST_VALUES:,} values with its aliases written out"
            )
        if depth > _DEEPEST:
            raise InputError(f"{where}:{line}: is nested more than {_DEEPEST} levels deep")


def _with_depths(node: Any, depth: int) -> Iterator[tuple[Any, int]]:
    """Yield every node with its depth. A node that contains itself gets deeper without end."""
    yield node, depth
    if depth > _DEEPEST or node is None or isinstance(node, ScalarNode):
        return
    for item in node.value:
        for inner in item if isinstance(item, tuple) else (item,):
            yield from _with_depths(inner, depth + 1)


def functions_in(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], FunctionName]]:
    """Yield every function that a definition names, with the keys that lead to it."""
    if isinstance(value, FunctionName):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from functions_in(inner, (*path, str(key)))
    elif isinstance(value, list | tuple):
        for place, inner in enumerate(value):
            yield from functions_in(inner, (*path, str(place)))


@dataclass(frozen=True, slots=True)
class Definition:
    """One task, with its includes resolved. Keys of a file replace those of what it includes."""

    name: str
    config: dict[str, Any]
    path: Path
    """The file that names the task."""
    root: Path
    """The folder that includes must stay in."""
    files: tuple[Path, ...] = ()
    """Every file that was read, the task's own first."""

    @property
    def family(self) -> str:
        """Return the top folder of the file, by which reports group tasks."""
        relative = self.path.relative_to(self.root)
        return relative.parts[0] if len(relative.parts) > 1 else self.root.name

    @property
    def digest(self) -> str:
        """Return the SHA-256 (hex) of the resolved definition as canonical JSON."""
        return hashlib.sha256(json.dumps(self.plain, sort_keys=True).encode()).hexdigest()

    @property
    def plain(self) -> Any:
        """Return the resolved definition as JSON. Functions are texts like `!function utils.name`."""
        return plain_json(self.config)


@dataclass(frozen=True, slots=True)
class Group:
    """Tasks that a file lists under one name."""

    name: str
    members: tuple[Any, ...]
    """Names of tasks, groups and tags, or mappings that define a task in place."""
    config: dict[str, Any]
    path: Path


@dataclass(slots=True)
class DefinitionTree:
    """Every definition below a folder, by name. As in lm-eval, the first file of a name counts."""

    root: Path
    tasks: dict[str, Definition] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    tags: dict[str, list[str]] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)
    """One message for each file that cannot be read."""

    def find(self, name: str) -> list[Definition]:
        """Return the tasks that a name means: a task, or all tasks of a group or a tag.

        Raises:
            InputError: nothing has the name, or a group contains itself.
        """
        return list({item.name: item for item in self._find(name, ())}.values())

    def _find(self, name: str, within: tuple[str, ...]) -> Iterator[Definition]:
        if name in within:
            raise InputError(f"{self.root}: group '{name}' contains itself ({' > '.join((*within, name))})")
        if name in self.groups:
            for member in self.groups[name].members:
                yield from self._member(member, self.groups[name], (*within, name))
        elif name in self.tasks:
            yield self.tasks[name]
        elif name in self.tags:
            yield from (self.tasks[task] for task in self.tags[name])
        else:
            known = (*self.tasks, *self.groups, *self.tags)
            hint = nearest(name, known) if len(known) < 50 or name else ""
            hint = hint if len(hint) < 200 else ""
            raise InputError(f"{self.root}: no task, group or tag is called '{name}'{hint}")

    def _member(self, member: Any, group: Group, within: tuple[str, ...]) -> Iterator[Definition]:
        if isinstance(member, str):
            yield from self._find(member, within)
            return
        name = member.get("task") if isinstance(member, dict) else None
        if not isinstance(name, str):
            raise InputError(
                f"{group.path}: group '{group.name}' has the member {member!r:.80}, wanted a name"
            )
        known = self.tasks.get(name)
        config = (known.config if known else {}) | member
        yield Definition(name, config, group.path, self.root, (group.path, *(known.files if known else ())))


def plain_json(value: Any) -> Any:
    """Return a value of a definition as JSON: functions and other objects become texts."""
    if isinstance(value, dict):
        return {str(key): plain_json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain_json(inner) for inner in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


class SourceReader:
    """Reads files with their includes. A file that many include is parsed once.

    Args:
        root: the folder that no include may leave.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._parsed: dict[Path, dict[str, Any]] = {}

    def resolved(self, path: Path) -> tuple[dict[str, Any], tuple[Path, ...]]:
        """Return the mapping of a file with its includes, and every file that was read.

        Raises:
            InputError: a file cannot be read, includes itself, or includes one outside the folder.
        """
        return self._resolved(path.resolve(), ())

    def _resolved(self, path: Path, within: tuple[Path, ...]) -> tuple[dict[str, Any], tuple[Path, ...]]:
        if path in within or len(within) > _DEEPEST_INCLUDE:
            raise InputError(f"{within[0]}: include of {path.name} goes in a circle")
        own = dict(self._parse(path))
        wanted = own.pop("include", None)
        merged: dict[str, Any] = {}
        files = [path]
        for name in wanted if isinstance(wanted, list) else [] if wanted is None else [wanted]:
            included = self._included(path, name)
            found, read = self._resolved(included, (*within, path))
            found.pop("task_list", None)
            merged |= found
            files += read
        return merged | own, tuple(dict.fromkeys(files))

    def _included(self, path: Path, name: Any) -> Path:
        """Return the file that an include names.

        Raises:
            InputError: it is not a relative path within the folder. Links count as what they point to.
        """
        if not isinstance(name, str) or not name or "\0" in name:
            raise InputError(f"{path}: include is {name!r:.80}, wanted the name of a file")
        found = (path.parent / name).resolve()
        if Path(name).is_absolute() or not found.is_relative_to(self.root):
            raise InputError(
                f"{path}: include '{name}' is outside {self.root}; give the folder that contains both"
            )
        return found

    def _parse(self, path: Path) -> dict[str, Any]:
        if path not in self._parsed:
            self._parsed[path] = read_source(path)
        return self._parsed[path]


def read_file(path: Path, root: Path | None = None) -> DefinitionTree:
    """Return a tree with the one task or group of a file.

    Args:
        root: the folder that includes may not leave. Default: the folder above the file's own.

    Raises:
        InputError: the file cannot be read, or defines neither a task nor a group.
    """
    path = path.resolve()
    tree = DefinitionTree((root or path.parent.parent).resolve())
    _add(tree, SourceReader(tree.root), path)
    if not tree.tasks and not tree.groups:
        raise InputError(f"{path}: defines no task: it has neither 'task' nor 'group'")
    return tree


def read_tree(root: Path, tell: Callable[[int, int], None] = lambda done, of: None) -> DefinitionTree:
    """Return every definition below a folder. Nothing is executed.

    Args:
        tell: is called with the number of files read and of all.

    Raises:
        InputError: the folder does not exist, or has no definition.
    """
    if not root.is_dir():
        raise InputError(f"{root}: no such folder")
    tree = DefinitionTree(root.resolve())
    reader = SourceReader(tree.root)
    files = _yaml_files(tree.root)
    for done, path in enumerate(files, start=1):
        try:
            _add(tree, reader, path)
        except InputError as error:
            tree.unreadable.append(str(error))
        tell(done, len(files))
    if not tree.tasks and not tree.groups:
        raise InputError(f"{root}: no .yaml file in it defines a task")
    return tree


def _yaml_files(root: Path) -> Sequence[Path]:
    found = (path for path in root.rglob("*.yaml") if not _IGNORED.intersection(path.parts))
    return sorted((path for path in found if path.is_file()), key=lambda path: path.as_posix())


def _add(tree: DefinitionTree, reader: SourceReader, path: Path) -> None:
    config, files = reader.resolved(path)
    name = config.get("task")
    if "class" in config:
        name = name if isinstance(name, str) else path.stem
    elif "group" in config:
        members = config.get("task") or ()
        listed = tuple(members) if isinstance(members, list) else (members,)
        label = config["group"]
        if isinstance(label, str):
            tree.groups.setdefault(label, Group(label, listed, config, path))
        return
    if isinstance(name, FunctionName) or not isinstance(name, str):
        return
    if name in tree.tasks:
        return
    tree.tasks[name] = Definition(name, config, path, tree.root, files)
    tags = config.get("tag")
    for tag in tags if isinstance(tags, list) else [tags] if tags else []:
        tree.tags.setdefault(str(tag), []).append(name)
