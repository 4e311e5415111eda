"""Old names of modules that moved into an annexe are the modules themselves."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from genbench.moved import MOVED
from genbench.nights.ledger.history import TrackHistory


@pytest.mark.parametrize("old", sorted(MOVED))
def test_an_old_name_is_the_module(old: str) -> None:
    now = importlib.import_module(f"genbench.{MOVED[old]}")
    spec = now.__spec__
    assert importlib.import_module(f"genbench.{old}") is now
    assert now.__spec__ is spec and now.__name__ == f"genbench.{MOVED[old]}"


def test_names_in_it_are_the_same_objects() -> None:
    assert importlib.import_module("genbench.ledger.history").TrackHistory is TrackHistory


def test_an_old_module_that_is_gone_is_an_error() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"genbench\.ledger\.nothing"):
        importlib.import_module("genbench.ledger.nothing")


def test_a_process_of_an_older_version_runs_a_module_by_its_old_name() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "genbench.watch.loop", "no JSON"], capture_output=True, text=True, check=False
    )
    assert "JSONDecodeError" in done.stderr and "No module" not in done.stderr
