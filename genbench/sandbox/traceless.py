"""Programs that can leave nothing behind in their interpreter, as far as their text shows.

Each test of such a program finds the interpreter as the first one did, also if all of them share a process,
since the program is executed anew for each, in a new module. So a wrong answer is the program's own fault,
and no test needs a second try in a process of its own. Most solutions of contest problems are such programs:
they read, compute with data of their own, and print.

This is no barrier. A program that gets past these rules can only spoil its own later tests.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence
from functools import cache
from importlib import import_module

_LONGEST = 20_000
"""Characters of a program that is looked at."""
_MODULES = (
    "array", "bisect", "cmath", "collections", "copy", "fractions", "functools", "heapq", "itertools", "json",
    "math", "operator", "re", "statistics", "string", "typing",
)  # fmt: skip
"""Modules whose functions leave nothing behind."""
_OF_SYS = frozenset({"exit", "maxsize", "setrecursionlimit", "stderr", "stdin", "stdout"})
"""What of `sys` is renewed for each test, or never changes."""
_REFUSED = frozenset(
    {"breakpoint", "compile", "copyright", "credits", "delattr", "eval", "exec", "getattr", "globals"}
    | {"help", "id", "license", "locals", "open", "setattr", "vars"}
)
"""Built-in names by which a program reaches what its text does not name."""
_STATEMENTS = (
    ast.AnnAssign, ast.Assert, ast.Assign, ast.AugAssign, ast.Break, ast.ClassDef, ast.Continue, ast.Delete,
    ast.Expr, ast.For, ast.FunctionDef, ast.Global, ast.If, ast.Import, ast.ImportFrom, ast.Nonlocal,
    ast.Pass, ast.Raise, ast.Return, ast.Try, ast.While, ast.With,
)  # fmt: skip


def leaves_nothing(text: str) -> bool:
    """Return whether the text of a program shows that it leaves nothing behind. If in doubt, it does not."""
    if len(text) > _LONGEST:
        return False
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    names = _Names(nodes)
    return not names.are_mixed and all(map(names.allow, nodes))


@cache
def _known() -> frozenset[str]:
    """Return the names that need no import: built-in ones, and those of the modules (inside/prelude.py)."""
    found = {name for name in vars(builtins) if not name.startswith("_")} | {"__name__", "exit", "quit"}
    for module in map(import_module, _MODULES):
        found.update(getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")])
    return frozenset(found - _REFUSED)


class _Names:
    """What the names of a program stand for: its own values, modules, or parts of modules."""

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        self._own, imported, self._parts, self._owners = set[str](), dict[str, str](), set[str](), set[int]()
        for node in nodes:
            match node:
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                    self._own.add(name)
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                    self._own.add(name)
                case ast.ExceptHandler(name=str(name)):
                    self._own.add(name)
                case ast.Import(names=names):
                    imported |= {item.asname or item.name: item.name for item in names}
                case ast.ImportFrom(names=names):
                    self._parts |= {item.asname or item.name for item in names}
                case ast.Attribute(value=value):
                    self._owners.add(id(value))
        self.are_mixed = not self._own.isdisjoint({*imported, *self._parts})
        """Whether a name is a module, or a part of one, and something else as well."""
        self._modules = {name: name for name in (*_MODULES, "sys") if name not in self._own} | imported

    def allow(self, node: ast.AST) -> bool:  # noqa: PLR0911  one rule for each kind of node
        """Return whether one part of the program can change nothing but what the program made."""
        match node:
            case ast.Import(names=names):
                return all(item.name in _MODULES or item.name == "sys" for item in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                wanted = {item.name for item in names}
                if module == "sys":
                    return not level and wanted <= _OF_SYS
                return not level and module in _MODULES and all(_is_fixed(module, name) for name in wanted)
            case ast.Attribute():
                return self._allow_attribute(node)
            case ast.Subscript(ctx=ast.Store() | ast.Del()):
                return self._root(node) in self._own
            case ast.Name(id=name):
                if name in self._own or name in self._parts:
                    return True
                return name in _known() if name not in self._modules else id(node) in self._owners
            case ast.FunctionDef(name=name):
                return name != "__del__"
            case ast.stmt():
                return isinstance(node, _STATEMENTS)
            case _:
                return not isinstance(node, ast.Await)

    def _allow_attribute(self, node: ast.Attribute) -> bool:
        if node.attr.startswith("__") and node.attr != "__init__":
            return False
        if not isinstance(node.ctx, ast.Load):
            return self._root(node) in self._own
        if not isinstance(node.value, ast.Name) or node.value.id not in self._modules:
            return True
        module = self._modules[node.value.id]
        return node.attr in _OF_SYS if module == "sys" else _is_fixed(module, node.attr)

    @staticmethod
    def _root(node: ast.expr) -> str:
        """Return the name that a chain of attributes and places begins with, or nothing."""
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        return node.id if isinstance(node, ast.Name) else ""


def _is_fixed(module: str, name: str) -> bool:
    """Return whether a part of a module is a function, a class or a constant. `*` stands for all of them."""
    if name == "*":
        return True
    value = getattr(import_module(module), name, None)
    return not name.startswith("_") and (callable(value) or isinstance(value, int | float | complex | str))
