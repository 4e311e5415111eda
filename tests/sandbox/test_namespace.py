"""What a harness finds in its namespaces, and in the bubblewraps that harnesses start in them.

Files of the kernel are opened for writing, and never written.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from genbench.agents.harnesses.drivers.mini_swe import _ISOLATED
from genbench.errors import UnavailableError
from genbench.sandbox.cage import candidates
from genbench.sandbox.foreign import ForeignProcess, ForeignPython
from genbench.sandbox.inside import namespace
from genbench.sandbox.languages.runner import Runner
from genbench.sandbox.namespaces import check_namespaces
from genbench.sandbox.worker import private_uid

PYTHON = "/usr/bin/python3"
"""One that every user can start: that of the tests may be in a home of mode 700."""
WRITTEN = (
    *("/proc/sys/kernel/core_pattern", "/proc/sys/vm/drop_caches", "/proc/sys/kernel/hostname"),
    *("/proc/sysrq-trigger", "/proc/irq/default_smp_affinity", "/proc/bus/pci/00/00.0", "/proc/acpi/wakeup"),
    *("/dev/kvm", "/dev/fuse", "/dev/loop0", "/dev/net/tun", "/dev/console", "/dev/kmsg", "/dev/vsock"),
    *("/etc/passwd", "/sys/fs/cgroup/cgroup.procs", "/sys/kernel/mm/ksm/run"),
)
LOOK = """
import json, os, socket, subprocess, sys

HOME = os.path.join(os.sep, "root")
SECRETS = ("/etc/shadow", os.path.join(HOME, ".bashrc"), os.path.join(HOME, ".ssh"))

def opens(path, flags):
    try:
        os.close(os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY))
    except OSError:
        return False
    return True

def makes(family, kind, protocol=0):
    try:
        socket.socket(family, kind, protocol).close()
    except OSError:
        return False
    return True

def look():
    return {
        "written": [path for path in WRITTEN if opens(path, os.O_WRONLY)],
        "read": [path for path in SECRETS if opens(path, os.O_RDONLY)],
        "families": [f for f in (17, 29, 30, 31, 38, 40, 44) if any(makes(f, kind) for kind in (1, 2, 3, 5))],
        "is_root": open("/proc/self/uid_map").read().split()[1] == "0" and os.getuid() == 0,
    }
"""
NOTHING = {"written": [], "read": [], "families": [], "is_root": False}
NESTED = {
    "harbor": ("--unshare-user", "--unshare-ipc", "--proc", "/proc", "--dev", "/dev"),
    "mini_swe": ("--unshare-user-try", "--tmpfs", "/tmp", "--proc", "/proc", "--dev", "/dev", *_ISOLATED),
    "everything": ("--unshare-all", "--proc", "/proc", "--dev", "/dev"),
}
"""The options of bubblewrap in harnesses."""
needs_bwrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")


@pytest.fixture(params=["root", "user"])
def user(request: pytest.FixtureRequest) -> int:
    """The id of the process that makes the namespaces."""
    if request.param == "root" and not namespace.is_root_of_the_machine():
        pytest.skip("an ordinary user cannot be root; the parameter `user` is tried")
    return os.getuid() if request.param == "root" or os.getuid() else private_uid()


@pytest.fixture
def place(user: int) -> Iterator[Path]:
    """A folder that belongs to the user. That of root is in one that nobody else may enter."""
    with tempfile.TemporaryDirectory() as name:
        inner = Path(name) / "inner"
        inner.mkdir()
        if user != os.getuid():
            Path(name).chmod(0o755)
            os.chown(inner, user, user)
        yield inner


def run(place: Path, user: int, text: str) -> dict[str, Any]:
    """Return what a harness of a user prints in its namespaces."""
    harness = private_uid() if user == 0 and namespace.is_root_of_the_machine() else None
    if harness is not None:
        os.chown(place, harness, harness)
    order = {
        "socket": str(place / "none"),
        "port": 8000,
        "writable": [str(place)],
        "hidden": [],
        "shown": [],
        "user": harness,
        "command": [PYTHON, "-c", f"WRITTEN = {WRITTEN!r}\n{LOOK}\n{text}"],
        "folder": str(place),
        "out": str(place / "out.log"),
        "err": str(place / "err.log"),
        "environment": {"PATH": "/usr/bin:/bin"},
    }
    code = str(Path(namespace.__file__).parent.parent)
    start = [PYTHON, "-I", "-S", "-c", namespace.START.format(code=code), json.dumps(order)]
    other = user if user != os.getuid() else None
    done = subprocess.run(
        start,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        user=other,
        group=other,
        extra_groups=None if other is None else [],
    )
    said = (place / "err.log").read_text() if (place / "err.log").exists() else ""
    assert done.returncode == 0, done.stderr + said
    found: dict[str, Any] = json.loads((place / "out.log").read_text().strip().splitlines()[-1])
    return found


def test_ids_of_users_are_signed_numbers_for_bubblewrap() -> None:
    assert max(private_uid() for _ in range(1000)) < 1 << 31


def test_a_harness_reaches_nothing_of_the_machine(place: Path, user: int) -> None:
    assert run(place, user, "print(json.dumps(look()))") == NOTHING


def test_a_harness_has_the_devices_that_lead_nowhere(place: Path, user: int) -> None:
    found = run(place, user, "print(json.dumps({'dev': sorted(os.listdir('/dev'))}))")["dev"]
    assert set(found) - {"ptmx"} == {
        *("null", "zero", "full", "random", "urandom", "tty"),
        *("fd", "stdin", "stdout", "stderr", "shm", "pts"),
    }
    text = "open('/dev/null', 'w').write('x'); open('/dev/shm/x', 'w'); print(json.dumps({'ok': 1}))"
    assert run(place, user, text) == {"ok": 1}


def test_a_harness_writes_its_folder_and_nothing_else(place: Path, user: int) -> None:
    text = "open('own', 'w'); print(json.dumps({'up': opens('../x', os.O_WRONLY | os.O_CREAT)}))"
    assert run(place, user, text) == {"up": False}
    assert (place / "own").exists()


@needs_bwrap
@pytest.mark.parametrize("options", NESTED.values(), ids=list(NESTED))
def test_the_same_holds_in_a_bubblewrap_of_a_harness(
    place: Path, user: int, options: tuple[str, ...]
) -> None:
    words = ["bwrap", "--ro-bind", "/", "/", *options, PYTHON, "-c"]
    inner = f"WRITTEN = {WRITTEN!r}\n{LOOK}\nprint(json.dumps(look()))"
    text = f"done = subprocess.run([*{words!r}, {inner!r}], capture_output=True, text=True)\n"
    assert run(place, user, text + "print(done.stdout or json.dumps({'failed': done.stderr}))") == NOTHING


@needs_bwrap
def test_the_same_holds_for_foreign_code(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"WRITTEN = {WRITTEN!r}\n{LOOK}\ninput()\nprint(json.dumps(look()), flush=True)\n")
    foreign = ForeignProcess(ForeignPython(Path(sys.executable)), script)
    try:
        found = foreign.ask({})
    finally:
        foreign.close()
    assert {**found, "families": []} == NOTHING


@needs_bwrap
@pytest.mark.toolchain
def test_the_same_holds_for_bash_in_every_cage() -> None:
    text = f"for p in {' '.join(WRITTEN)}; do ( exec 9>>$p ) 2>/dev/null && echo REACHED $p; done; exit 3\n"
    for cage in candidates(None):
        grade = Runner(cage).run("sh", text, "set -e\n").grade
        assert (cage.label, grade.verdict, grade.actual.strip()) == (cage.label, "runtime_error", "")


@pytest.mark.skipif(
    not namespace.is_root_of_the_machine(), reason="only root hands a harness over to another id"
)
def test_root_is_told_which_files_a_harness_cannot_read(tmp_path: Path) -> None:
    shut = tmp_path / "agent.py"
    shut.touch(mode=0o600)
    with pytest.raises(UnavailableError, match=f"cannot read {shut}"):
        asyncio.run(check_namespaces([[sys.executable, str(shut)]]))
    shut.chmod(0o644)
    asyncio.run(check_namespaces([[sys.executable, str(shut)]]))
