"""Control groups of boxes, in a folder that has the files of the kernel's own."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import psutil
import pytest

from genbench.agents.images import cgroup
from genbench.agents.images.box import BoxLimits
from genbench.agents.images.boxes import opened
from genbench.agents.images.cgroup import Group
from genbench.agents.images.given.genbench_box import Box, BoxGoneError
from genbench.agents.images.selftest import boxes_here
from genbench.agents.images.store import Store
from genbench.errors import ConfigError
from tests.agents.images.conftest import add_image

FILES = ("memory.max", "memory.swap.max", "pids.max", "cpu.max", "cgroup.kill", "cgroup.procs")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A delegated folder that is named as such."""
    found = tmp_path / "delegated"
    found.mkdir()
    (found / "cgroup.controllers").write_text("cpuset cpu memory pids\n")
    (found / "cgroup.subtree_control").write_text("\n")
    monkeypatch.setenv(cgroup.VARIABLE, str(found))
    return found


@pytest.fixture
def files(root: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that a new group has, and which may be changed. A name with `/` is a folder.

    The kernel makes them, kills when it is told to, and lets no group go that has processes.
    """
    found, mkdir, rmdir = list(FILES), Path.mkdir, Path.rmdir

    def make(path: Path) -> None:
        mkdir(path)
        for name in found:
            mkdir(path / name) if name.endswith("/") else (path / name).touch()

    def remove(path: Path) -> None:
        living = [psutil.Process(pid) for pid in pids(path) if pid > 0 and lives(pid)]
        if living and "1" in read(path / "cgroup.kill"):
            living[0].kill()  # one at a time, as it takes a while
        if living:
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
        for inner in path.iterdir():
            rmdir(inner) if inner.is_dir() else inner.unlink()
        rmdir(path)

    monkeypatch.setattr(Path, "mkdir", make)
    monkeypatch.setattr(Path, "rmdir", remove)
    return found


def read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def pids(path: Path) -> list[int]:
    return [int(word) for word in read(path / "cgroup.procs").split()]


def lives(pid: int) -> bool:
    return psutil.pid_exists(pid) and bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)


@pytest.fixture
def sleeper() -> Iterator[Callable[[], int]]:
    """Starts a program that sleeps, and returns its id."""
    started: list[subprocess.Popen[bytes]] = []

    def start() -> int:
        started.append(subprocess.Popen(["sleep", "600"]))
        return started[-1].pid

    yield start
    for one in started:
        one.kill()
        one.wait()


def test_a_group_has_the_limits_of_its_box(root: Path, files: list[str]) -> None:
    group = Group(root, BoxLimits(memory_mb=100, cpus=2, disk_mb=28, pids=40))
    (path,) = root.glob("genbench-*")
    found = {name: read(path / name) for name in FILES[:4]}
    wanted = {"memory.max": str(128 << 20), "memory.swap.max": "0", "pids.max": "41"}
    assert found == {**wanted, "cpu.max": "200000 100000"}
    group.end()
    files.remove("memory.swap.max")  # a kernel without swap, and cpu was not delegated
    files.remove("cpu.max")
    group = Group(root, BoxLimits(memory_mb=100, cpus=2))
    (path,) = root.glob("genbench-*")
    assert (read(path / "memory.max"), read(path / "pids.max")) == (str(100 << 20), "")
    assert not (path / "memory.swap.max").exists() and not (path / "cpu.max").exists()
    group.end()


def test_a_limit_that_cannot_be_set_leaves_no_group(root: Path, files: list[str]) -> None:
    files[files.index("pids.max")] = "pids.max/"
    with pytest.raises(OSError, match=r"pids\.max"):
        Group(root, BoxLimits(memory_mb=100, pids=40))
    assert not list(root.glob("genbench-*"))


@pytest.mark.parametrize("lacking", ["", "cgroup.kill"])
def test_the_end_of_a_group_is_that_of_its_processes(
    root: Path, files: list[str], sleeper: Callable[[], int], lacking: str
) -> None:
    files[:] = [name for name in files if name != lacking]
    group, others = Group(root, BoxLimits()), sleeper()
    group.add(0)  # this one, of which nobody is to be killed
    inside = [sleeper(), sleeper()]
    for pid in inside:
        group.add(pid)
    group.end()
    assert not list(root.glob("genbench-*"))
    assert [lives(pid) for pid in (*inside, others)] == [False, False, True]


def test_a_group_that_stays_busy_is_left_to_a_sweep(
    root: Path, files: list[str], sleeper: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroup, "_TRIES", 3)
    group = Group(root, BoxLimits())
    for _ in range(3):
        group.add(sleeper())
    group.end()
    assert len(list(root.glob("genbench-*"))) == 1
    monkeypatch.setattr(cgroup, "_TRIES", 100)
    assert cgroup.sweep(root) == 1
    assert not list(root.glob("genbench-*"))


def test_a_sweep_takes_the_groups_of_killed_keepers(
    root: Path, files: list[str], sleeper: Callable[[], int], tmp_path: Path
) -> None:
    pid, (told, tell) = sleeper(), os.pipe()
    keeper = os.fork()
    if keeper == 0:
        Group(root, BoxLimits()).add(pid)
        os.write(tell, b"x")
        signal.pause()
        os._exit(0)
    assert os.read(told, 1)
    for place in (told, tell):
        os.close(place)
    own = Group(root, BoxLimits())
    swept, lived = cgroup.sweep(root), lives(pid)
    os.kill(keeper, signal.SIGKILL)
    os.waitpid(keeper, 0)
    assert (swept, lived) == (0, True)
    assert Store(tmp_path / "store").sweep() == 1
    assert not lives(pid)
    assert len(list(root.glob("genbench-*"))) == 1
    own.end()


def test_limits_are_hit_as_the_kernel_counts(root: Path, files: list[str]) -> None:
    group = Group(root, BoxLimits())
    (path,) = root.glob("genbench-*")
    assert +group.hits() == {}
    (path / "memory.events").write_text("low 0\nhigh 0\nmax 90\noom 2\noom_kill 2\noom_group_kill 0\n")
    (path / "pids.events").write_text("max 5\n")
    assert group.hits() == {"memory": 2, "pids": 5}
    # the machine's memory was used up, and not that of the box
    (path / "memory.events").write_text("low 0\nhigh 0\nmax 0\noom 0\noom_kill 1\n")
    assert group.hits()["memory"] == 0
    group.end()


def test_a_folder_that_was_not_delegated_is_refused(root: Path, tmp_path: Path) -> None:
    assert cgroup.prepare(root) == ["memory", "pids", "cpu"]
    assert read(root / "cgroup.subtree_control") == "+memory +pids +cpu"
    (root / "cgroup.controllers").write_text("cpu io pids")
    with pytest.raises(ConfigError, match=r"GENBENCH_CGROUP: .*delegated cannot be used: no memory \(docs"):
        Store(tmp_path / "store").sweep()
    there, said = boxes_here()
    assert (there, said.startswith("none: GENBENCH_CGROUP: ")) == (False, True)
    with pytest.raises(ConfigError, match=r"cannot be used: .*No such file"):
        cgroup.prepare(tmp_path / "none")


@pytest.mark.slow
def test_what_runs_in_a_box_is_in_its_group(
    root: Path, tmp_path: Path, maker: ModuleType, programs: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    image, store = add_image(maker, tmp_path, [programs]), Store(tmp_path / "store")
    limits = BoxLimits(memory_mb=300, pids=40)
    text = "cat /proc/self/oom_score_adj /proc/1/oom_score_adj; ulimit -u; ulimit -d"

    def group_of(box: Box) -> Path:
        found = [path for path in root.glob("genbench-*") if read(path / "cgroup.kill") == ""]
        assert len(found) == 1 and pids(found[0]) == [0]  # the first process, by itself
        (found[0] / "cgroup.kill").write_text("known")
        return found[0]

    with opened(store, image, tmp_path, limits=limits) as box:
        first = group_of(box)
        done = box.exec(["bash", "-c", text])
        assert done.output.split()[:2] == [b"1000", Path("/proc/self/oom_score_adj").read_bytes().strip()]
        assert b"40" not in done.output.split()[2:] and str(300 << 10).encode() not in done.output.split()
        assert len(pids(first)) == 2
        (first / "memory.events").write_text("oom 1\noom_kill 1\n")
        assert box.stats()["limits_hit"] == {"memory": 1}
        box.fresh()
        second = group_of(box)
        assert box.exec(["id", "-u"]).output == b"0\n"
        (second / "pids.events").write_text("max 3\n")
        assert box.stats()["limits_hit"] == {"memory": 1, "pids": 3}
        (second / "cgroup.procs").rename(second / "moved")
        (second / "cgroup.procs").mkdir()
        with pytest.raises(BoxGoneError, match="cannot be put into its control group"):
            box.exec(["id"])
        assert box.stats()["gone"] is False
    monkeypatch.setenv("GENBENCH_IMAGES", str(tmp_path / "store"))
    there, said = boxes_here()
    assert there and "limits by a cgroup (memory, pids, cpu)" in said
