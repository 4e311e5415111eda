"""The names that a program binds itself, separated from those of the prelude."""

from __future__ import annotations

import ast
from collections.abc import Iterator, MutableMapping
from typing import Any

_MISSING = object()


class Bindings(MutableMapping[str, object]):
    """The local names of a module's code. It reads and writes the namespace and records what is bound.

    An answer without a definition must not pass because the prelude has a function of the tested name.
    """

    def __init__(self, namespace: dict[str, Any], prelude: dict[str, Any]) -> None:
        self._namespace, self._prelude = namespace, prelude
        self._bound: set[str] = set()

    def __getitem__(self, name: str) -> object:
        return self._namespace[name]

    def __setitem__(self, name: str, value: object) -> None:
        self._bound.add(name)
        self._namespace[name] = value

    def __delitem__(self, name: str) -> None:
        del self._namespace[name]
        self._bound.discard(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._namespace)

    def __len__(self) -> int:
        return len(self._namespace)

    def is_own(self, name: str) -> bool:
        """Return whether the program bound the name, at module level or by `global` in a function."""
        value = self._namespace.get(name, _MISSING)
        return name in self._bound or value is not self._prelude.get(name, _MISSING)

    def require(self, name: str) -> None:
        """Raise NameError unless the program bound the name."""
        if not self.is_own(name):
            raise NameError(f"the program does not define '{name}'")

    def require_one_of(self, source: str) -> None:
        """Raise NameError unless a test's source uses a name that the program bound.

        In an expression the called names count, since `math.isclose(gcd(4, 6), 2)` tests gcd and not math.
        """
        tree = ast.parse(source)
        names = set(
            _called(tree) if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr) else _loaded(tree)
        )
        if names and not any(map(self.is_own, names)):
            raise NameError(f"the program does not define {', '.join(map(repr, sorted(names)))}")


def _called(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id


def _loaded(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
