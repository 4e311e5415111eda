"""Opens the best cage that works on this machine, or says why there is none.

Each cage is attacked before it is used. If an attack succeeds, the cage is refused. An attack is a program
that tries one thing and prints REACHED if it succeeded. Some attacks are also seen from outside.
"""

from __future__ import annotations

import os
import platform
import secrets
import socket
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from genbench.errors import UnavailableError
from genbench.sandbox.cage import PACKAGES, Cage, candidates, unsafe
from genbench.sandbox.grading import Checks, grade
from genbench.sandbox.programs import Check, Limits, Program
from genbench.sandbox.turns import Turns
from genbench.sandbox.worker import SandboxError, Worker

_REACHED = "REACHED"
_LIMITS = Limits(wall_s=5.0, memory_mib=256)
_ATTACKS = {
    "read a file of the host": "import os\nif os.read(os.open({secret!r}, 0), 99): print('REACHED')",
    "write a file of the host": (
        "import os\nos.write(os.open({marker!r}, os.O_WRONLY | os.O_CREAT), b'x')\nprint('REACHED')"
    ),
    "connect to a port of the host": (
        "import socket\nsocket.create_connection(('127.0.0.1', {port}), 2)\nprint('REACHED')"
    ),
    "connect to an abstract socket of the host": (
        "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect({abstract!r})\nprint('REACHED')"
    ),
    "see the environment": "import os\nif set(os.environ) & set({names!r}): print('REACHED')",
    "start a process": (
        "import ctypes, os\nchild = ctypes.CDLL(None).fork()\nif child == 0: os._exit(0)\n"
        "if child > 0: print('REACHED')"
    ),
    "start another program": (
        "import os\nos.posix_spawn('/bin/sh', ['sh', '-c', 'exit'], {{}})\nprint('REACHED')"
    ),
    "signal its parent": "import os\nos.kill(os.getppid(), 0)\nprint('REACHED')",
    "look into /proc": "import os\nif [p for p in os.listdir('/proc') if p.isdigit()]: print('REACHED')",
    "hold a capability": (
        "import ctypes\nh = (ctypes.c_uint32 * 2)(0x20080522, 0)\nd = (ctypes.c_uint32 * 6)()\n"
        "ctypes.CDLL(None).capget(h, d)\nif d[0] or d[1] or d[2]: print('REACHED')"
    ),
    "raise its limits": (
        "import resource as r\nr.setrlimit(r.RLIMIT_AS, (r.RLIM_INFINITY, r.RLIM_INFINITY))\nprint('REACHED')"
    ),
    "take more memory than it may": (
        "b = bytearray(1 << 30)\nb[::4096] = b'x' * len(b[::4096])\nprint('REACHED')"
    ),
}
_CANARY = "a, b = map(int, input().split())\nprint(a + b)"


@dataclass(frozen=True, slots=True)
class _Bait:
    """Targets on the host that an attack could reach."""

    secret: str
    marker: str
    port: int
    abstract: str
    names: tuple[str, ...]


def broken(worker: Worker) -> list[str]:
    """Return the forbidden actions that programs can do in this worker's cage, or none if the cage works.

    A harmless program that fails is listed too, because a cage in which nothing runs does not work.
    """
    turns = Turns()
    try:
        with _bait() as bait:
            found = [name for name, attack in _ATTACKS.items() if _succeeds(worker, turns, attack, bait)]
            if Path(bait.marker).exists() and "write a file of the host" not in found:
                found.append("write a file of the host")
        return found if _passes(worker, turns, _CANARY, "7") else [*found, "not run an honest program"]
    finally:
        turns.close()


def _succeeds(worker: Worker, turns: Turns, attack: str, bait: _Bait) -> bool:
    told = {name: getattr(bait, name) for name in _Bait.__slots__}
    return _passes(worker, turns, attack.format(**told), _REACHED)


def _passes(worker: Worker, turns: Turns, text: str, output: str) -> bool:
    checks = Checks([Check("3 4\n", output)])
    try:
        return grade(worker, Program(text), checks, _LIMITS, turns).verdict == "pass"
    finally:
        checks.close()


@contextmanager
def _bait() -> Iterator[_Bait]:
    name = f"\0genbench-{secrets.token_hex(8)}"
    with (
        tempfile.TemporaryDirectory(prefix="genbench-bait-") as folder,
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        place = Path(folder)
        place.chmod(0o777)
        secret = place / "secret"
        secret.write_text(secrets.token_hex(8))
        secret.chmod(0o644)
        abstract.bind(name)
        abstract.listen()
        names = tuple(set(os.environ) - {"HOME", "LANG", "PATH", "LC_CTYPE", "LD_LIBRARY_PATH", "PWD"})
        names = tuple(n for n in names if not n.startswith(("OMP_", "OPENBLAS_", "PYTHON")))
        yield _Bait(str(secret), str(place / "marker"), server.getsockname()[1], name, names)


TierWish = Literal["a", "b"] | None
_TRIES = 3
"""Cages of one kind that may die while they are tried. A random kill must not change the tier."""


def open_cage(
    tier: TierWish = None, *, unsafe_local_exec: bool = False, packages: Sequence[str] = PACKAGES
) -> tuple[Cage, Worker]:
    """Return a cage that has resisted real attacks, and its first worker.

    Args:
        tier: "a" (bubblewrap) or "b" (landlock). None takes the best one that works.
        unsafe_local_exec: run without any cage, for users who have asked for that.
        packages: what programs may import besides the standard library, as far as it is installed.

    Raises:
        UnavailableError: no cage works here. The message lists what was tried.
    """
    if unsafe_local_exec:
        cage = unsafe(packages)
        return cage, Worker(cage)
    tried: list[str] = []
    for cage in candidates(tier, packages):
        try:
            worker, failures = _tried(cage)
        except SandboxError as error:
            tried.append(str(error))
            continue
        if not failures:
            return cage, worker
        worker.close()
        tried.append(f"{cage.label}: a program inside could {', '.join(failures)}")
    raise UnavailableError(_refusal(tier, tried))


def _tried(cage: Cage) -> tuple[Worker, list[str]]:
    """Return a worker and the attacks that its cage did not prevent.

    Raises:
        SandboxError: the cage does not start, or died three times under the attacks.
    """
    for _ in range(_TRIES - 1):
        with suppress(SandboxError):
            return _tried_once(cage)
    return _tried_once(cage)


def _tried_once(cage: Cage) -> tuple[Worker, list[str]]:
    worker = Worker(cage)
    try:
        return worker, broken(worker)
    except SandboxError:
        worker.close()
        raise


def _refusal(tier: TierWish, tried: list[str]) -> str:
    wanted = f" in tier {tier}" if tier else ""
    probed = "".join(f"\n  {line}" for line in tried) or "\n  bubblewrap: bwrap is not installed"
    return (
        f"there is no sandbox for model-written code{wanted} on this machine"
        f" ({platform.system()} {platform.release()}, {platform.machine()}). Tried:{probed}\n"
        "Install bubblewrap (apt-get install bubblewrap) and allow user namespaces"
        " (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns=0),"
        " or use a kernel with landlock (5.13 or newer).\n"
        "To run model code without any protection, on a machine that you can lose: --unsafe-local-exec"
        " (in a suite: unsafe_local_exec: true)"
    )
