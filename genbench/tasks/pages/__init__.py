"""The pages of the built-in benchmarks. Each `NAME.yaml` here is the task NAME, and `NAME` is its factory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from genbench.errors import ConfigError, nearest

FOLDER = Path(__file__).parent


def is_built_in_page(path: Path) -> bool:
    """Return whether a page is one of genbench's own."""
    return path.resolve().parent == FOLDER.resolve()


def page_path(name: str) -> Path:
    """Return the file of a built-in page.

    Raises:
        ConfigError: there is no such page.
    """
    path = FOLDER / f"{name}.yaml"
    if not path.is_file():
        raise ConfigError(f"no page is called '{name}'{nearest(name, page_names())}")
    return path


def page_names() -> list[str]:
    """Return the names of all built-in pages, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def __getattr__(name: str) -> Any:
    """Return the factory of the task that a page describes, so that the registry can name pages."""
    if not (FOLDER / f"{name}.yaml").is_file():
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from genbench.tasks.page.task import page_factory  # noqa: PLC0415  tasks in Python read pages as well

    return page_factory(page_path(name))
