"""Programs that try not to be counted: whatever they do is their own failure, in all languages and tiers."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from genbench.sandbox import leftovers
from genbench.sandbox.languages.runner import Runner
from tests.sandbox.self_excluding import PROGRAMS, Try, tries

COUNT = 200 if os.environ.get("GENBENCH_CHAOS") == "full" else 30
CHEAP = ["sh", "rb", "php", "js", "cpp", "sh", "rb", "java", "php", "js", "sh", "go", "rs", "rb", "ts"]
"""Languages without a compiler come more often in `make test`, as they take less time."""


@pytest.fixture
def folders(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder in which steps of tier B have theirs. The user of a step can enter it."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        monkeypatch.setattr(tempfile, "tempdir", name)
        yield Path(name)


@pytest.mark.toolchain
@pytest.mark.slow
@pytest.mark.timeout(7200 if COUNT > 30 else 400)
def test_no_program_excludes_itself(folders: Path) -> None:
    runners = {"a": Runner.open("a"), "b": Runner.open("b")}

    def verdict(one: Try) -> str:
        try:
            return runners[one.tier].run(one.language, one.program, one.tests).grade.verdict
        except Exception as error:  # what it raises would exclude the sample
            return f"excluded: {error!r}"

    chosen = list(tries(COUNT, CHEAP if COUNT == 30 else sorted(PROGRAMS)))
    assert {one.language for one in chosen} == set(PROGRAMS)
    with ThreadPoolExecutor(2) as threads:
        found = dict(zip(chosen, threads.map(verdict, chosen), strict=True))
    assert {one.what: said for one, said in found.items() if said.startswith("excluded")} == {}
    assert {"pass", "wrong", "runtime_error"} <= set(found.values())
    honest = [verdict(Try("sh", tier, "", "", "set -e\ntrue\n")) for tier in "ab"]
    assert honest == ["pass", "pass"]
    assert list(folders.glob("genbench-step-*")) == []


def test_a_folder_is_measured_and_removed_whatever_is_in_it(tmp_path: Path) -> None:
    place, here = tmp_path / "left", Path.cwd()
    place.mkdir()
    for name in ("d", "d" * 200):
        os.chdir(place)
        for _ in range(1500):
            os.mkdir(name)  # noqa: PTH102  the path of a Path would be too long
            os.chdir(name)
        Path("file").touch()
    os.chdir(here)
    os.mkfifo(place / "pipe")
    (place / "up").symlink_to("..")
    (place / "shut" / "in").mkdir(parents=True)
    (place / "shut").chmod(0)
    size, entries = leftovers.usage(place, 4096)
    assert entries >= 1500 and size >= 0
    leftovers.remove(place)
    assert list(tmp_path.iterdir()) == []


def test_only_plain_files_with_one_name_are_kept(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    place = tmp_path / "left"
    place.mkdir()
    (place / "log").write_text("kept")
    os.link(outside, place / "second")
    (place / "link").symlink_to(outside)
    os.mkfifo(place / "pipe")
    leftovers.remove(place, keep=lambda name: True)
    assert [path.name for path in place.iterdir()] == ["log"]
    assert outside.read_text() == "mine" and stat.S_IMODE(outside.stat().st_mode) == 0o644
