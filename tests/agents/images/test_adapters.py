"""A rollout of each adapter in a box: a scripted model that solves it scores 1, one that does nothing 0.

The harnesses are packages of their interfaces, in packages/. With GENBENCH_HARNESSES, a folder with the
virtual environments mini, harbor, inspect and swebench, they are the real ones; benchmarks/agents/boxes.py
is the same from the command line.
"""

from __future__ import annotations

import json
import os
import shutil
import site
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.agents.boxes import PROGRAMS, write
from genbench.agents.images.layout import Layout
from genbench.agents.images.mirror import prove
from genbench.agents.images.store import Store
from genbench.consent import allow_code
from genbench.pipeline import RunOptions
from tests.ready_runs import run_bare

HERE = Path(__file__).parent
NAMES = ("mini", "harbor", "inspect", "swebench")


def environments(folder: Path) -> dict[str, Path]:
    """The virtual environments: the real ones, if there are any."""
    if given := os.environ.get("GENBENCH_HARNESSES"):
        return {name: Path(given) / name for name in NAMES}
    made = folder / "env"
    venv.create(made, symlinks=True)
    (place,) = made.glob("lib/python3*/site-packages")
    shutil.copytree(HERE / "packages", place, dirs_exist_ok=True)
    (place / "swebench-5.0.2.dist-info").mkdir()
    (place / "own.pth").write_text("\n".join(site.getsitepackages()))  # yaml
    return dict.fromkeys(NAMES, made)


@pytest.fixture
def readable() -> Iterator[Path]:
    """A folder that every user can read, as harnesses must."""
    with tempfile.TemporaryDirectory(prefix="genbench-adapters-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.slow
def test_every_adapter_scores_1_for_the_solution_and_0_for_nothing(
    readable: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GENBENCH_IMAGES", str(readable / "store"))
    allow_code(readable)
    is_real = "GENBENCH_HARNESSES" in os.environ
    programs = PROGRAMS if is_real else [name for name in PROGRAMS if name not in ("tmux", "tput")]
    path = write(readable, environments(readable), programs)
    Store(readable / "store").add(Layout(readable / "layout"))
    assert {item.why for item in prove(path, workers=2, again=False)} == {None}
    place = run_bare(RunOptions(suite=str(path), run_dir=readable / "out", quiet=True)).folders["m"]
    found = {
        (file.parent.name, line["problem_id"].rpartition("-")[2]): (line["status"], line["score"])
        for file in place.glob("*/verdicts.jsonl")
        for line in map(json.loads, file.read_text().splitlines())
    }
    assert found == {
        ("harbor", "oracle"): ("correct", 1.0),
        ("harbor", "nop"): ("wrong", 0.0),
        ("mini", "oracle"): ("correct", 1.0),
        ("mini", "nop"): ("no_answer", 0.0),
        ("inspect", "oracle"): ("correct", 1.0),
        ("inspect", "nop"): ("wrong", 0.0),
    }
