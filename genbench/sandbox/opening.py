"""Opening of the best cage that works on this machine, with the reasons if there is none."""

from __future__ import annotations

import platform
from contextlib import suppress
from typing import Literal

from genbench.errors import UnavailableError
from genbench.sandbox.cage import Cage, candidates, unsafe
from genbench.sandbox.selftest import broken
from genbench.sandbox.worker import SandboxError, Worker

TierWish = Literal["a", "b"] | None
_TRIES = 3
"""Cages of one kind that may die while they are tried. A random kill must not change the tier."""


def open_cage(tier: TierWish = None, *, unsafe_local_exec: bool = False) -> tuple[Cage, Worker]:
    """Return a cage that has resisted real attacks, and its first worker.

    Args:
        tier: "a" (bubblewrap) or "b" (landlock). None takes the best one that works.
        unsafe_local_exec: run without any cage, for users who have asked for that.

    Raises:
        UnavailableError: no cage works here. The message lists what was tried.
    """
    if unsafe_local_exec:
        cage = unsafe()
        return cage, Worker(cage)
    tried: list[str] = []
    for cage in candidates(tier):
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
