"""What a machine lacks to keep programs and harnesses apart from itself, in words."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from genbench.sandbox.cage import candidates, proc_can_be_mounted
from genbench.sandbox.inside import seccomp
from genbench.sandbox.inside.confine import landlock_abi

_SIGNALS_ABI = 6
"""The version of landlock (Linux 6.12) from which a program cannot signal processes outside."""
_USER_SPACES = Path("/proc/sys/user/max_user_namespaces")
_APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
_CONTROLLERS = Path("/sys/fs/cgroup/cgroup.controllers")


def lacking() -> Iterator[str]:
    """Yield each part of the isolation that this machine lacks, and what follows from that."""
    if seccomp.machine() is None:
        yield "filters of system calls for this processor: no program runs, and harnesses make any socket"
    if shutil.which("bwrap") is None:
        yield "bubblewrap: programs run in tier b, which does not hide which files exist"
    if _says(_USER_SPACES, "0") or _says(_APPARMOR, "1"):
        yield "user namespaces for ordinary users: only root has tier a and agent tasks"
    version = landlock_abi()
    if version == 0:
        yield "landlock: there is no tier b"
    elif version < _SIGNALS_ABI:
        yield f"newer landlock than version {version}: tier b leaves signals and sockets to seccomp alone"
    if (cages := candidates("a")) and not any(map(proc_can_be_mounted, cages)):
        yield "a /proc of its own in a namespace: Bash has no <(command), and harnesses see the old /proc"
    if "memory" not in _text(_CONTROLLERS).split():
        yield (
            "control groups (version 2) with memory: what all processes of a program use is looked at every "
            "50 ms, and memory that no process maps is not counted"
        )


def _says(path: Path, value: str) -> bool:
    return _text(path).strip() == value


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return ""
