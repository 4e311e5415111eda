"""Simulated functions: a class of a Python file. Its methods are offered, and its attributes are the state.

Each conversation has its own copy of everything. The file is executed anew for each, so that not even a
global variable of it is shared between samples.
"""

from __future__ import annotations

import ast
import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, ModuleType
from typing import Any

from genbench.errors import ConfigError, cause
from genbench.tools.calls import Call, plain

_LONGEST_RESULT = 20_000
_TYPES = {
    "str": "string",
    "int": "integer",
    "float": "float",
    "bool": "boolean",
    "list": "array",
    "tuple": "array",
    "dict": "dict",
}


@dataclass(frozen=True, slots=True)
class FunctionFile:
    """The source of a Python file with simulated functions, and the name of the class in it.

    The class is made as `Class(state)` with the initial state of a row. Its public methods are the functions.
    Its public attributes are the state. Both must be JSON.
    """

    source: str
    name: str
    path: str = "functions"

    def documents(self) -> list[dict[str, Any]]:
        """Return the document of each function. The file is read, not executed.

        The name, the annotations and the docstring of a method are what a model is told. Lines
        `NAME: text` under `Args:` describe the parameters.

        Raises:
            ConfigError: the file is no Python, or it has no such class or no public method.
        """
        found = [
            _document(item)
            for item in self._class().body
            if isinstance(item, ast.FunctionDef) and not item.name.startswith("_")
        ]
        if not found:
            raise ConfigError(f"{self.path}: class {self.name} has no public method; each one is a function")
        return found

    def _class(self) -> ast.ClassDef:
        try:
            tree = ast.parse(self.source, self.path)
        except (SyntaxError, ValueError) as error:
            raise ConfigError(f"{self.path}: no Python: {error}") from None
        classes = {item.name: item for item in tree.body if isinstance(item, ast.ClassDef)}
        if self.name not in classes:
            known = ", ".join(classes) or "none"
            raise ConfigError(f"{self.path}: no class '{self.name}' at the top level; there are: {known}")
        return classes[self.name]

    def start(self, state: Any) -> Simulation:
        """Return the functions in an initial state, which is copied.

        Raises:
            ConfigError: the file or the class fails. Says why.
        """
        module = ModuleType("simulated_functions")
        try:
            exec(_compiled(self.source, self.path), vars(module))  # noqa: S102  the user's own plug-in
            made = getattr(module, self.name)(copy.deepcopy(state))
        except (Exception, SystemExit) as error:  # foreign code
            raise ConfigError(f"{self.path}: {self.name}(state) failed: {cause(error)}") from error
        names = tuple(document["name"] for document in self.documents())
        return Simulation(made, names, module)


@dataclass(frozen=True, slots=True)
class Simulation:
    """The functions of one conversation with their state."""

    instance: Any
    names: tuple[str, ...]
    module: ModuleType
    """Kept so that the globals of the file live as long as its functions."""

    def call(self, call: Call) -> str:
        """Run a call and return what the model is told: text, or JSON. An error is a result too."""
        if call.name not in self.names:
            return json.dumps({"error": f"there is no function '{call.name}'"})
        try:
            found = getattr(self.instance, call.name)(**call.arguments)
        except (Exception, SystemExit) as error:  # foreign code, with arguments that a model wrote
            return json.dumps({"error": cause(error)})
        text = found if isinstance(found, str) else json.dumps(plain(found), ensure_ascii=False)
        return text[:_LONGEST_RESULT]

    @property
    def state(self) -> dict[str, Any]:
        """Return a copy of the public attributes as JSON."""
        public = {name: value for name, value in vars(self.instance).items() if not name.startswith("_")}
        found: dict[str, Any] = plain(public)
        return found


@lru_cache(maxsize=16)
def _compiled(source: str, path: str) -> CodeType:
    return compile(source, path, "exec")


def _document(item: ast.FunctionDef) -> dict[str, Any]:
    """Return the document of a method."""
    text = ast.get_docstring(item) or ""
    said, _, described = text.partition("Args:")
    pairs = (line.partition(":") for line in described.splitlines() if ":" in line)
    given = {name.strip(): meaning.strip() for name, _, meaning in pairs}
    arguments = [argument for argument in (*item.args.args, *item.args.kwonlyargs) if argument.arg != "self"]
    optional = len(item.args.defaults)
    positional = [argument.arg for argument in item.args.args if argument.arg != "self"]
    required = positional[: len(positional) - optional]
    keyword = zip(item.args.kwonlyargs, item.args.kw_defaults, strict=True)
    required += [argument.arg for argument, default in keyword if default is None]
    properties = {
        argument.arg: _parameter(argument.annotation) | {"description": given.get(argument.arg, "")}
        for argument in arguments
    }
    return {
        "name": item.name,
        "description": " ".join(said.split()),
        "parameters": {"type": "dict", "properties": properties, "required": required},
    }


def _parameter(annotation: ast.expr | None) -> dict[str, Any]:
    """Return the type of a parameter from its annotation: `list[int]`, `str | None` … Others are texts."""
    if isinstance(annotation, ast.BinOp):
        return _parameter(annotation.left)
    if isinstance(annotation, ast.Subscript) and isinstance(annotation.value, ast.Name):
        outer = _TYPES.get(annotation.value.id, "string")
        inner = annotation.slice.elts[0] if isinstance(annotation.slice, ast.Tuple) else annotation.slice
        return {"type": outer, "items": _parameter(inner)} if outer == "array" else {"type": outer}
    name = annotation.id if isinstance(annotation, ast.Name) else ""
    return {"type": _TYPES.get(name, "string")}


def functions_of(record: Mapping[str, Any]) -> FunctionFile:
    """Return the functions that a reference names: `{source: …, class: …}`."""
    return FunctionFile(str(record["source"]), str(record["class"]), str(record.get("path", "functions")))
