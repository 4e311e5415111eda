"""Old names of modules that moved into an annexe.

Scripts of users import them, and processes that started before an update run them with `-m`. An old name
means the very module that the new one means.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MOVED = {
    "exchange": "interop.logs",
    "ledger": "nights.ledger",
    "policy": "nights.policy",
    "service": "team.service",
    "trackers": "team.trackers",
    "trend": "nights.trend",
    "watch": "team.watch",
}
"""Old -> new, below `genbench`. What is in a package moved with it."""


def new_name(name: str) -> str | None:
    """Return where a module is now, or None if it never moved."""
    root, _, rest = name.partition(".")
    package, dot, inner = rest.partition(".")
    return f"genbench.{MOVED[package]}{dot}{inner}" if root == "genbench" and package in MOVED else None


class _Finder:
    """Finds old names, see `sys.meta_path`, and loads the new modules for them."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        now = new_name(name)
        found = None if now is None else _spec(now)
        if found is None:
            return None
        loader: Any = self
        return ModuleSpec(name, loader, is_package=found.submodule_search_locations is not None)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        found = import_module(str(new_name(spec.name)))
        spec.loader_state = found.__spec__
        return found

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state  # the import has just given it that of the old name

    def get_code(self, name: str) -> Any:
        """Return the code for `python -m`."""
        found: Any = _spec(str(new_name(name)))
        return found.loader.get_code(found.name)


def _spec(name: str) -> ModuleSpec | None:
    from importlib.util import find_spec  # noqa: PLC0415  each start of genbench would pay for it

    return find_spec(name)


def install() -> None:
    """Let old names be found, before the folders are searched that they are no longer in."""
    sys.meta_path.insert(0, _Finder())
