"""Whether `kill -9` of a run leaves something behind or changes a verdict.

`make chaos` draws 200 rollouts, 16 at once, and kills the run at five moments instead of two.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import psutil
import pytest

from genbench.agents.images.plan import write_lock
from tests.agents.images.conftest import add_image
from tests.agents.images.test_rollouts import GOOD, WRONG, prove_first, write_suite

FULL = "GENBENCH_CHAOS" in os.environ
PROBLEMS, K, AT_ONCE = (25, 8, 16) if FULL else (3, 1, 3)
LEFT_S = 5 if FULL else 30
"""Seconds after a kill in which everything must be gone. A test suite may share its machine."""
MARK = f"3{os.getpid()}"
"""The seconds for which programs in boxes sleep, by which they are known."""
STAY = f"setsid sleep {MARK} > /dev/null 2>&1 & sleep 0.3"
RUN = """
import sys
from pathlib import Path
from genbench.pipeline import RunOptions
from tests.ready_runs import run_bare
run_bare(RunOptions(suite=sys.argv[1], run_dir=Path(sys.argv[2]), quiet=True))
"""


@dataclass(frozen=True)
class Place:
    """A suite whose problems have an image."""

    folder: Path

    def start(self, name: str) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-c", RUN, str(self.folder / "suite.yaml"), str(self.folder / name)]
        return subprocess.Popen(words, cwd=Path.cwd(), stdout=subprocess.DEVNULL)

    def verdicts(self, name: str) -> dict[tuple[str, int], tuple[str, float | None]]:
        path = self.folder / name / "m" / "fix" / "verdicts.jsonl"
        text = path.read_text() if path.exists() else ""
        lines = [json.loads(line) for line in text.splitlines() if line.endswith("}")]
        return {(line["problem_id"], line["sample_index"]): (line["status"], line["score"]) for line in lines}

    def uppers(self) -> set[str]:
        return {path.name for path in self.folder.glob("store/*/u/*") if path.is_dir()}

    def mounts(self, names: set[str]) -> list[str]:
        """The processes that see a mount of an upper folder."""
        found = []
        for path in Path("/proc").glob("[0-9]*/mountinfo"):
            try:
                text = path.read_text()
            except OSError:
                continue
            found += [path.parent.name for name in names if f"upperdir=u/{name}" in text]
        return found


@pytest.fixture(scope="module")
def place(
    maker: ModuleType, swe: ModuleType, programs: bytes, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    found = Place(tmp_path_factory.mktemp("kills"))
    os.environ["GENBENCH_IMAGES"] = str(found.folder / "store")
    layers = [programs, maker.layer_of([], [(str(swe.repository(found.folder)), "/testbed")])]
    write_lock(found.folder / "images.lock", {"test:1": add_image(maker, found.folder, layers).digest})
    does = (f"{GOOD}; {STAY}", f"{WRONG}; {STAY}", f"sed -n 1p calc.py; {STAY}", f"{GOOD}; {STAY}")
    rows = [swe.row(f"own__calc-{number}", do=does[number % 4]) for number in range(PROBLEMS)]
    limits = {"turns": 3, "wall_s": 300, "concurrent": AT_ONCE, "box": {"memory_mb": 300}}
    path = write_suite(found.folder, rows, limits=limits)
    path.write_text(path.read_text().replace('"k": 1', f'"k": {K}'))
    prove_first(path)
    yield found
    del os.environ["GENBENCH_IMAGES"]


def running(words: list[str]) -> bool:
    """Whether a program in a box has this command line."""
    return any(one.info["cmdline"] == words for one in psutil.process_iter(["cmdline"]))


def unpacks() -> bool:
    lines = (one.info["cmdline"] or [] for one in psutil.process_iter(["cmdline"]))
    return any("genbench.agents.images.unpack" in word for line in lines for word in line)


def moments(place: Place) -> dict[str, Callable[[], bool]]:
    """When the run is killed, in this order."""

    def ended(share: float) -> bool:
        return len(place.verdicts("killed")) >= PROBLEMS * K * share

    found = {
        "a command of an agent runs": lambda: running(["sleep", MARK]),
        "tests of a verdict run": lambda: running(["/bin/bash", "/eval.sh"]),
    }
    more = {
        "a layer is unpacked": unpacks,
        **found,
        "half of the rollouts have ended": lambda: ended(0.5),
        "most have ended": lambda: ended(0.75),
    }
    return more if FULL else found


def kill(process: subprocess.Popen[bytes], *, keepers_too: bool) -> list[psutil.Process]:
    """Kill a run. Return what it had started."""
    own = psutil.Process(process.pid)
    own.suspend()  # so that it starts nothing between the look and the end
    children: list[psutil.Process] = own.children(recursive=True)
    for child in children if keepers_too else []:
        with suppress(psutil.NoSuchProcess):  # it went with another one
            child.kill()
    own.kill()
    process.wait()
    return children


def lives(process: psutil.Process) -> bool:
    """Whether a process is there, and does not only wait for somebody who asks how it ended."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def shown(process: psutil.Process) -> str:
    try:
        return f"{process.pid} {process.status()} {process.cmdline()}"
    except psutil.Error as error:
        return str(error)


def wait_until_gone(place: Place, children: list[psutil.Process], uppers: set[str]) -> Any:
    """What is left some seconds after a kill."""
    until = time.monotonic() + LEFT_S
    while True:
        found = ([*map(shown, filter(lives, children))], running(["sleep", MARK]), place.mounts(uppers))
        if not any(found) or time.monotonic() > until:
            return found
        time.sleep(0.1)


def disturbed(place: Place) -> list[str]:
    """Draw a run, and kill it at each moment. Return the moments."""
    done = []
    for name, is_now in moments(place).items():
        process = place.start("killed")
        while process.poll() is None and not is_now():
            time.sleep(0.02)
        if process.poll() is not None:
            break
        uppers = place.uppers()
        children = kill(process, keepers_too="verdict" in name)
        assert wait_until_gone(place, children, uppers) == ([], False, []), name
        done.append(name)
        print(f"killed as {name}: {len(children)} processes and {len(uppers)} uppers were there")
    return done


@pytest.mark.slow
def test_a_killed_run_leaves_nothing_and_changes_no_verdict(place: Place) -> None:
    began = time.monotonic()
    assert place.start("plain").wait() == 0
    undisturbed = place.verdicts("plain")
    print(f"undisturbed: {time.monotonic() - began:.0f} s")
    assert {status for status, _ in undisturbed.values()} == {"correct", "wrong", "no_answer"}
    for layer in place.folder.glob("store/*/l/*"):  # so that the next run unpacks them
        shutil.rmtree(layer) if layer.is_dir() else layer.unlink()
    assert disturbed(place) == list(moments(place))
    assert place.start("killed").wait() == 0
    assert place.uppers() == set()
    assert not list(place.folder.glob("store/*/l/.part-*"))
    found = place.verdicts("killed")
    assert len(found) == PROBLEMS * K
    assert found == undisturbed
