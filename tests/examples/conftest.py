"""Imports the files of examples/tiny as its own scripts see them: flat, by their bare names."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "tiny"


@pytest.fixture(scope="module")
def tiny() -> Iterator[Callable[[str], ModuleType]]:
    """`tiny("data")` is examples/tiny/data.py; such names are forgotten again afterwards."""
    before = set(sys.modules)
    sys.path.insert(0, str(FOLDER))
    try:
        yield importlib.import_module
    finally:
        sys.path.remove(str(FOLDER))
        for file in FOLDER.glob("*.py"):
            if file.stem not in before:
                sys.modules.pop(file.stem, None)
