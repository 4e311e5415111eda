"""The kind of engine that a suite's `engine:` block names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from genbench import registry
from genbench.engines.foreign import ForeignKind, defects_of
from genbench.engines.kind import EngineKind
from genbench.suite.engine import EngineConfig


def engine_kind(config: EngineConfig, folder: Path | None = None) -> EngineKind:
    """Return the kind of engine of a suite, made with the suite's `engine:` block.

    Args:
        folder: a folder that is searched for the engine's module, in addition to the installed packages.

    Raises:
        ConfigError: there is no such kind. EngineError: it belongs to another package and failed.
    """
    plug_in = registry.find("engine", config.kind, folder)
    found: Any = plug_in.load()
    if plug_in.is_built_in:
        kind: EngineKind = found(config)
        return kind
    with defects_of(config.kind):
        return ForeignKind(config.kind, found(config))
