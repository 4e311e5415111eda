"""A disk of images that is full: it is no fault of a model, and the run says so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from genbench.agents.images.plan import write_lock
from genbench.sandbox.inside import namespace
from tests.agents.images.conftest import add_image
from tests.agents.images.test_rollouts import GOOD, write_suite

SPACES = ["unshare", "-m"] if namespace.is_root_of_the_machine() else ["unshare", "-rm"]
RUN = """
import os, subprocess, sys
from pathlib import Path
from genbench.agents.images.layout import Layout
from genbench.agents.images.store import Store
from genbench.errors import RunFolderError
from genbench.pipeline import RunOptions
from tests.agents.images.test_rollouts import prove_first
from tests.ready_runs import run_bare

place = Path(sys.argv[1])

def leave(mb):
    # lets so many megabytes of the disk be free, or all
    ballast = place / "small" / "ballast"
    ballast.unlink(missing_ok=True)
    found = os.statvfs(ballast.parent)
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(1, found.f_bavail * found.f_frsize - (mb << 20)))

def draw(name):
    try:
        run_bare(RunOptions(suite=str(place / f"{name}.yaml"), run_dir=place / name, quiet=True))
        print("drawn")
    except RunFolderError as error:
        print(error)

subprocess.run(["mount", "-t", "tmpfs", "-o", "size=700m,mode=755", "none", str(place / "small")], check=True)
store = Store(place / "small")
store.add(Layout(place / "layout"))
leave(1)
try:
    store.unpacked(store.find("test:1"))
except RunFolderError as error:
    print(error)
leave(700)
prove_first(place / "suite.yaml")
leave(110)
draw("suite")
leave(1)
draw("suite")
leave(700)
draw("suite")
"""


@pytest.mark.slow
def test_a_full_disk_makes_no_zero_and_one_sentence(
    tmp_path: Path, maker: ModuleType, swe: ModuleType, programs: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "small").mkdir()
    monkeypatch.setenv("GENBENCH_IMAGES", str(tmp_path / "small"))
    layers = [programs, maker.layer_of([], [(str(swe.repository(tmp_path)), "/testbed")])]
    write_lock(tmp_path / "images.lock", {"test:1": add_image(maker, tmp_path, layers).digest})
    fill = "dd if=/dev/zero of=/full bs=1M count=150 2>/dev/null; sleep 1; rm /full"
    does = [GOOD, f"{GOOD}; {fill}", GOOD, f"{GOOD} || sleep 1", f"{GOOD}; {fill}", GOOD]
    rows = [swe.row(f"own__calc-{number}", do=do) for number, do in enumerate(does)]
    write_suite(tmp_path, rows)
    done = subprocess.run(
        [*SPACES, sys.executable, "-c", RUN, str(tmp_path)],
        cwd=Path.cwd(),
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    unpacked, first, second, last = done.stdout.splitlines()
    assert "no room in" in unpacked
    for said in (first, second):
        assert said.startswith(f"{tmp_path / 'small'}: the disk of the images is full")
    assert last == "drawn"
    lines = (tmp_path / "suite" / "m" / "fix" / "verdicts.jsonl").read_text().splitlines()
    assert [json.loads(line)["score"] for line in lines] == [1.0] * len(rows)
