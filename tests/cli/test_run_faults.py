"""Full or read-only disks, clocks that jump, two writers: a message, and the run can continue."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import warm

from .conftest import ready_suite

N = 60
RUN = ("run", "suite.yaml", "--responses", "r.jsonl", "--run-dir", "out/runs")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    ready_suite(tmp_path, "exact", N, lambda i, _: f"{'so ' * 300}{i}")
    (tmp_path / "out").mkdir()
    return tmp_path


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the suite and its finished run, made once and copied by each test."""
    made = tmp_path_factory.mktemp("finished")
    ready_suite(made, "exact", N, lambda i, _: f"{'so ' * 300}{i}")
    (made / "out").mkdir()
    done = run(made, *RUN)
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture
def finished(finished_run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished_run, tmp_path / "copy"))


def run(place: Path, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return warm.run(arguments, cwd=place, text=True, **options)


@contextlib.contextmanager
def disk_of(place: Path, size: str) -> Iterator[warm.Mounts]:
    """A small file system of its own at out/."""
    with warm.Mounts(place) as mounts:
        mounts.do(f"mount -t tmpfs -o size={size} tmpfs out")
        yield mounts


def stored(folder: Path, kind: str) -> list[tuple[str, int]]:
    lines = (folder / "mine" / f"{kind}.jsonl").read_text().splitlines()
    return sorted((record["problem_id"], record["sample_index"]) for record in map(json.loads, lines))


@pytest.mark.slow
@pytest.mark.parametrize("size", ["40k", "60k", "100k", "140k", "180k"])
def test_a_full_disk_ends_the_run_with_what_to_do_and_it_goes_on_with_space(place: Path, size: str) -> None:
    with disk_of(place, size) as mounts:
        full = run(place, *RUN, mounts=mounts)
        mounts.do("mount -o remount,size=50m out")
        again = run(place, *RUN, mounts=mounts)
        mounts.do("cp -r out/runs/m kept")
    assert full.returncode == 2, full.stderr
    assert "Traceback" not in full.stderr
    assert "the disk is full; make space and run the same command again, it continues" in full.stderr
    assert again.returncode == 0, again.stderr
    every = sorted((f"p{i}", j) for i in range(N) for j in range(2))
    assert stored(place / "kept", "completions") == every
    assert stored(place / "kept", "verdicts") == every


@pytest.mark.slow
@pytest.mark.parametrize("kib", [0, 1, 3, 8, 16])
def test_a_limit_on_the_size_of_files_ends_the_run_with_a_message_and_it_goes_on(
    place: Path, kib: int
) -> None:
    limited = run(place, *RUN, file_bytes=kib << 10)
    assert limited.returncode == 2, limited.stderr
    assert "Traceback" not in limited.stderr
    assert "File too large" in limited.stderr
    assert run(place, *RUN).returncode == 0
    every = sorted((f"p{i}", j) for i in range(N) for j in range(2))
    assert stored(place / "out" / "runs" / "m", "verdicts") == every


@pytest.mark.slow
def test_a_read_only_folder_is_refused_for_writing_and_can_be_read(place: Path) -> None:
    with disk_of(place, "50m") as mounts:
        drawn = run(place, *RUN, mounts=mounts)
        mounts.do("mount -o remount,ro out")
        looks = [
            run(place, *words, mounts=mounts)
            for words in (
                ("show", "out/runs/m"),
                ("status", "out/runs"),
                ("compare", "out/runs/m", "out/runs/m"),
            )
        ]
        changes = [run(place, *words, mounts=mounts) for words in (RUN, ("score", "out/runs/m", "--again"))]
    assert [done.returncode for done in (drawn, *looks)] == [0, 0, 0, 0], drawn.stderr
    assert "finished, attempt 1" in looks[1].stdout
    for done in changes:
        assert done.returncode == 2
        assert "out/runs/m: cannot be written: Read-only file system" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_wall_clock_that_jumps_back_does_no_harm(finished: Path) -> None:
    """The manifest and the lock have times in the future."""
    place = finished
    folder = place / "out" / "runs" / "m"
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["attempts"][0] |= {"started": "2099-01-01T00:00:00+0000", "ended": "2098-01-01T00:00:00+0000"}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "mine" / "verdicts.jsonl").unlink()
    for path in folder.rglob("*"):
        os.utime(path, (4e9, 4e9))
    again = run(place, *RUN, "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["models"]["m"]["tasks"]["mine"]["lacking"] == 0
    found = json.loads(run(place, "status", "out/runs", "--json").stdout)["runs"][0]
    assert (found["state"], found["attempt"]) == ("finished", 2)
    assert found["elapsed_s"] >= 0


def test_durations_are_never_taken_from_the_wall_clock() -> None:
    package = Path(__file__).resolve().parents[2] / "genbench"
    wall = re.compile(r"time\.time\(|time_ns\(\)|datetime\.now|utcnow|perf_counter")
    found = [
        f"{path.name}: {line.strip()}"
        for path in package.rglob("*.py")
        if path.relative_to(package) != Path("store/clock.py")
        for line in path.read_text().splitlines()
        if wall.search(line) and "monotonic" not in line
    ]
    assert found == []


@pytest.mark.slow
def test_of_two_processes_on_one_folder_the_second_is_told_who_writes(place: Path) -> None:
    first = warm.Popen(RUN, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    owner = place / "out" / "runs" / "m" / "owner.json"
    while not owner.exists() or not owner.stat().st_size:
        assert first.poll() is None
    first.send_signal(19)  # SIGSTOP: it holds the folder for as long as it takes
    try:
        second = run(place, *RUN)
    finally:
        first.send_signal(18)
    assert second.returncode == 2
    assert f"another run writes this folder (pid {first.pid} on " in second.stderr
    assert first.wait(120) == 0
    assert stored(place / "out/runs/m", "completions") == sorted(
        (f"p{i}", j) for i in range(N) for j in range(2)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("completions", '"turn":0', '"turn":-1', r"completions\.jsonl:1: 'turn' is -1"),
        (
            "completions",
            '"task":"mine"',
            '"task":"other"',
            r"completions\.jsonl:1: task 'other' in the folder",
        ),
        ("completions", '{"task"', '"task"', r"completions\.jsonl:1: not valid JSON"),
        ("verdicts", '"score":', '"score":7,"was":', r"verdicts\.jsonl:1: 'score' is 7"),
        ("problems", '{"problem_id"', "{problem_id", r"problems\.jsonl:1: not valid JSON"),
    ],
)
def test_a_hand_edited_file_is_named_by_line(
    finished: Path, name: str, old: str, new: str, message: str
) -> None:
    path = finished / "out" / "runs" / "m" / "mine" / f"{name}.jsonl"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    done = run(finished, "score", "out/runs/m")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert re.search(message, done.stderr), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("cut", [1, 40, 200])
def test_a_file_that_was_cut_short_is_healed_and_the_samples_are_taken_again(
    finished: Path, cut: int
) -> None:
    path = finished / "out" / "runs" / "m" / "mine" / "completions.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    assert run(finished, *RUN).returncode == 0
    assert sorted(path.read_bytes().splitlines()) == sorted(whole.splitlines())
    manifest = json.loads((finished / "out/runs/m/manifest.json").read_text())
    assert manifest["attempts"][1]["healed_bytes"] > 0
