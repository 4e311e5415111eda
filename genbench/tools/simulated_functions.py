"""Functions that a team simulates: the methods of a class in a file, which run in the sandbox."""

from __future__ import annotations

import ast
import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.errors import ConfigError, nearest
from genbench.sandbox.programs import Returned
from genbench.sandbox.threads import SandboxThreads, SandboxWish
from genbench.tools import driver
from genbench.tools.calls import Call
from genbench.tools.loop import Ran, RunFailure, TurnOutcome

_TYPES = {
    "str": "string",
    "int": "integer",
    "float": "float",
    "bool": "boolean",
    "list": "array",
    "tuple": "array",
    "dict": "dict",
}
_KEPT = 64
"""Outcomes that are kept: a conversation is asked and verified with the same calls."""
_REASONS: Mapping[str, Any] = {"timeout": "timeout", "memory": "memory", "output_limit": "output_limit"}


@dataclass(frozen=True, slots=True)
class FunctionFile:
    """The source of a Python file with simulated functions, and the name of the class in it.

    The class is made as `Class(state)` with the initial state of a row. Its public methods are the functions.
    Its public attributes are the state. Both must be JSON. The file is executed only in the sandbox.
    """

    source: str
    name: str
    path: str = "functions"

    def documents(self) -> list[dict[str, Any]]:
        """Return the document of each function. The file is read, not executed.

        The name, the annotations and the docstring of a method are what a model sees. Lines
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


class FunctionRunner:
    """Runs the functions of files in sandboxes. It may be used from several threads.

    Args:
        wish: the sandbox and its limits.
    """

    def __init__(self, wish: SandboxWish) -> None:
        self._sandboxes = SandboxThreads(wish)
        self._text = Path(driver.__file__).read_text(encoding="utf-8")
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Ran] = OrderedDict()

    @property
    def facts(self) -> str:
        """Return the tier of the sandbox and its interpreter.

        Raises:
            UnavailableError: there is no sandbox on this machine.
        """
        return self._sandboxes.facts

    def run(self, file: FunctionFile, state: Any, turns: Sequence[Sequence[Call]]) -> Ran:
        """Return what came of the calls of each turn, from an initial state on.

        Raises:
            UnavailableError: there is no sandbox on this machine.
            SandboxError: no program runs in the sandbox any more.
        """
        order = {
            "source": file.source,
            "path": file.path,
            "class": file.name,
            "state": state,
            "names": [document["name"] for document in file.documents()],
            "turns": [[call.record for call in calls] for calls in turns],
        }
        key = hashlib.sha256(json.dumps(order).encode("utf-8", "surrogatepass")).hexdigest()
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        found = _ran(self._sandboxes.call(self._text, driver.play.__name__, order))
        with self._lock:
            self._known[key] = found
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return found

    def close(self) -> None:
        """End the sandboxes."""
        self._sandboxes.close()


@dataclass(frozen=True, slots=True)
class IsolatedFunctions:
    """The functions of a file in the initial state of one row."""

    runner: FunctionRunner
    file: FunctionFile
    initial: Any

    def run(self, turns: Sequence[Sequence[Call]]) -> Ran:
        """Return what came of the calls of each turn."""
        return self.runner.run(self.file, self.initial, turns)


def _ran(returned: Returned) -> Ran:
    """Return the outcome that the driver reported, or how its process ended."""
    if returned.failure is not None:
        reason = _REASONS.get(returned.failure, "runtime_error")
        last = (returned.why.strip().splitlines() or ["it ended"])[-1]
        return Ran((), RunFailure(reason, f"the functions were stopped: {returned.failure}: {last}"))
    try:
        told = json.loads(returned.value)
        if "failed" in told:
            return Ran((), RunFailure("runtime_error", str(told["failed"])))
        pairs = zip(told["results"], told["states"], strict=True)
        return Ran(tuple(TurnOutcome(tuple(map(str, results)), dict(state)) for results, state in pairs))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        why = f"the functions replaced what runs them: {type(error).__name__}: {error}"
        return Ran((), RunFailure("runtime_error", why))


def read_wish(given: Mapping[str, Any], where: str) -> SandboxWish:
    """Return the sandbox that options ask for.

    Args:
        given: some of `tier`, `wall_s`, `memory_mib`, `unsafe_local_exec`.

    Raises:
        ConfigError: an option has another name or value.
    """
    known = SandboxWish.__dataclass_fields__
    for name, value in given.items():
        if name not in known:
            raise ConfigError(f"{where}: unknown option '{name}' of the sandbox{nearest(name, known)}")
        if name == "tier" and value not in ("a", "b", None):
            raise ConfigError(f"{where}: tier is {value!r}, wanted a or b")
        if name in ("wall_s", "memory_mib") and (
            isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf")
        ):
            raise ConfigError(f"{where}: {name} is {value!r}, wanted a positive number")
        if name == "unsafe_local_exec" and not isinstance(value, bool):
            raise ConfigError(f"{where}: unsafe_local_exec is {value!r}, wanted true or false")
    return SandboxWish(**given)
