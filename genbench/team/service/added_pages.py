"""Pages that other parts of genbench add to the service."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from fastapi import FastAPI

from genbench import registry


@dataclass(frozen=True, slots=True)
class AddedPages:
    """Pages of one part, with their templates and scripts."""

    add: Callable[[FastAPI], None]
    """Adds the routes to an application, and what they keep to its state."""
    package: str
    """The package whose folder `templates` has the templates and scripts."""
    scripts: tuple[str, ...] = ()
    """The names of the scripts."""


@cache
def added_pages() -> tuple[AddedPages, ...]:
    """Return the pages that the registry names."""
    return tuple(registry.load_object(target) for target in registry.PAGES)
