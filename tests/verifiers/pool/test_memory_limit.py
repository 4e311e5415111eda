"""The memory that a verifier process may use."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO, cast

import pytest

from genbench.verifiers.pool.worker import (
    LEAST_BYTES,
    alone_bytes,
    frame,
    free_bytes,
    machine_bytes,
    read_frame,
    worker_bytes,
)

pytestmark = pytest.mark.usefixtures("cold_workers")

PHYSICAL = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@pytest.mark.parametrize(("machine", "worker"), [(4 << 30, 2 << 30), (16 << 30, 8 << 30), (1 << 40, 8 << 30)])
def test_a_worker_may_use_half_of_the_machine_up_to_a_limit(machine: int, worker: int) -> None:
    assert worker_bytes(machine) == worker


def test_the_smallest_limit_around_a_container_counts(tmp_path: Path) -> None:
    own, groups = tmp_path / "cgroup", tmp_path / "groups"
    (groups / "pods" / "one").mkdir(parents=True)
    own.write_text("1:name=old:/elsewhere\n0::/pods/one\n")
    assert machine_bytes(own, groups) == PHYSICAL
    (groups / "pods" / "one" / "memory.max").write_text("max\n")
    (groups / "pods" / "memory.max").write_text(f"{64 << 20}\n")
    assert machine_bytes(own, groups) == 64 << 20


def test_a_limit_of_the_old_control_groups_counts_too(tmp_path: Path) -> None:
    own, groups = tmp_path / "cgroup", tmp_path / "groups"
    (groups / "memory" / "one").mkdir(parents=True)
    own.write_text("5:cpu,memory:/one\n4:pids:/\n0::/\n")
    (groups / "memory" / "memory.limit_in_bytes").write_text(f"{1 << 62}\n")
    assert machine_bytes(own, groups) == PHYSICAL
    (groups / "memory" / "one" / "memory.limit_in_bytes").write_text(f"{64 << 20}\n")
    assert machine_bytes(own, groups) == 64 << 20
    # In a container the path is that of the host, and only the root is mounted.
    own.write_text("5:cpu,memory:/docker/abc\n")
    (groups / "memory" / "memory.limit_in_bytes").write_text(f"{32 << 20}\n")
    assert machine_bytes(own, groups) == 32 << 20


def test_free_memory_is_that_of_the_tightest_group_without_files_in_memory(tmp_path: Path) -> None:
    own, groups, memory = tmp_path / "cgroup", tmp_path / "groups", tmp_path / "meminfo"
    (groups / "one").mkdir(parents=True)
    own.write_text("0::/one\n")
    memory.write_text("MemTotal:       9000 kB\nMemAvailable:   4000 kB\n")
    assert free_bytes(own, groups, memory) == 4000 << 10
    (groups / "one" / "memory.max").write_text("3000000\n")
    (groups / "one" / "memory.current").write_text("2500000\n")
    (groups / "one" / "memory.stat").write_text("anon 5\ninactive_file 700000\n")
    assert free_bytes(own, groups, memory) == 1_200_000


def test_a_case_alone_gets_half_of_what_is_free_and_never_nothing() -> None:
    size = alone_bytes(0) - LEAST_BYTES  # what this process has now
    assert alone_bytes(1 << 30) == pytest.approx(size + (512 << 20), abs=16 << 20)
    assert alone_bytes(1 << 50) == worker_bytes()


@pytest.mark.parametrize("text", [None, "", "5:memory:/old\n", "0::/gone\n"])
def test_without_control_groups_it_is_the_memory_of_the_machine(tmp_path: Path, text: str | None) -> None:
    own = tmp_path / "cgroup"
    if text is not None:
        own.write_text(text)
    assert machine_bytes(own, tmp_path / "groups") == PHYSICAL


def test_a_worker_has_the_limit() -> None:
    command = [sys.executable, "-P", "-m", "genbench.verifiers.pool.worker"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as worker:
        assert worker.stdin is not None and worker.stdout is not None
        worker.stdin.write(frame({"load": "no such verifier", "folder": None, "options": {}, "key": 1}))
        worker.stdin.flush()
        reply = read_frame(cast(BinaryIO, worker.stdout))
        soft, _ = resource.prlimit(worker.pid, resource.RLIMIT_AS)
    assert reply is not None and "refused" in reply
    assert soft == worker_bytes()
