"""One YAML file of a task definition as plain data. Tags that name Python functions stay names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import Node, ScalarNode

from genbench.errors import InputError
from genbench.suite.yamlfile import MOST_CHARS, limited_scanner

MOST_VALUES = 500_000
"""Values of one file with its aliases written out, so that a few lines cannot stand for gigabytes."""
_DEEPEST = 60


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
        InputError: the file cannot be read, is no mapping, has another tag than `!function`, or is too large
            once its aliases are written out. Names the line if the parser knows it.
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
