"""Where golden data are found, and what happens to the tests that need them where they are not."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import UnavailableError
from genbench.sandbox.languages.language import languages, toolchain
from tests import warm
from tests.browser import browser, chromium
from tests.ready_runs import drawn_runs, make_run

__all__ = ["browser", "chromium", "drawn_runs", "make_run"]

# Tests start many processes. Without stored bytecode each would compile what it imports: 11 s for an engine.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

ROOT = Path(__file__).resolve().parent.parent
GOLD_VARIABLE = "GENBENCH_GOLD"


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the key of run folders out of the home of whoever runs the tests."""
    place = tmp_path_factory.getbasetemp()
    # Workers of pytest-xdist have folders next to each other, and may share a run.
    place = place.parent if "PYTEST_XDIST_WORKER" in os.environ else place
    os.environ["XDG_STATE_HOME"] = str(place / "state")
    # Suites that tests write, and those next to the tests, are our own. The tests of consent take this away.
    os.environ["GENBENCH_TRUST_CODE"] = os.pathsep.join((str(place), str(ROOT)))


@pytest.fixture(scope="session", autouse=True)
def warm_workers() -> Iterator[None]:
    """Fork the processes of verifiers, in tests that draw runs: each would compile the same for 0.8 s."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(subprocess, "Popen", warm.AnyPopen)
        yield


@pytest.fixture
def cold_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start the processes of verifiers as users do."""
    monkeypatch.setattr(subprocess, "Popen", warm.ColdPopen)


def shared_dir() -> Path | None:
    """Return the folder with gold/ and data/hub/: GENBENCH_GOLD, or one next to the checkout.

    None if the variable is empty, or if neither is there.
    """
    named = os.environ.get(GOLD_VARIABLE)
    if named == "":
        return None
    place = Path(named) if named else ROOT.parent / "shared"
    if (place / "gold").is_dir():
        return place
    if named:
        raise pytest.UsageError(f"{GOLD_VARIABLE}={named} has no folder gold/; name the folder that holds it")
    return None


def pytest_collection() -> None:
    """Look for no garbage in what is imported and collected, all of which stays."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Look again for what tests leave behind, and less often than after each 700 objects."""
    gc.set_threshold(10_000)
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if shared_dir() is None:
        _leave_out(
            config, items, "gold", f"the golden data: set {GOLD_VARIABLE} to the folder that holds gold/"
        )
    if any(item.get_closest_marker("toolchain") for item in items) and (missing := _missing_toolchains()):
        _leave_out(config, items, "toolchain", f"toolchains: apt install {missing}")


def _missing_toolchains() -> str:
    """Return the Debian packages of the toolchains that are not installed."""
    absent = set()
    for name, found in languages().items():
        try:
            toolchain(name)
        except UnavailableError:
            absent |= {found.package, *(package for _, package in found.needs)}
    return " ".join(sorted(absent))


def _leave_out(config: pytest.Config, items: list[pytest.Item], mark: str, need: str) -> None:
    """Leave out the tests of a mark and print a line that says why, or fail if CI is set."""
    marked = [item for item in items if item.get_closest_marker(mark)]
    if not marked:
        return
    line = f"{len(marked)} tests need {need}"
    if os.environ.get("CI"):
        raise pytest.UsageError(line + " (CI is set, so this is a failure)")
    config.hook.pytest_deselected(items=marked)
    items[:] = [item for item in items if not item.get_closest_marker(mark)]
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.write_line(f"deselected: {line}")


@pytest.fixture
def shared() -> Path:
    """The folder with gold/ and data/hub/; only for tests marked `gold`."""
    place = shared_dir()
    assert place is not None, "mark the test with @pytest.mark.gold"
    return place


@pytest.fixture
def gold(shared: Path) -> Callable[[str], list[dict[str, Any]]]:
    """Reads gold/NAME.jsonl; splits on newlines only, since some texts hold U+2028."""

    def read(name: str) -> list[dict[str, Any]]:
        text = (shared / "gold" / f"{name}.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.split("\n") if line]

    return read
