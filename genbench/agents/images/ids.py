"""The ids of a box: which ids of the machine the owners in an image become.

A box has one of two kinds. With `full` ids it has 65,536 of its own: root gives it a range that nobody else
has, an ordinary user takes one of /etc/subuid by newuidmap. With `one` id all is owned by root of the box,
which is the user outside. The kernel's root is never in a box.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

from genbench.sandbox.inside.confine import PR_SET_DUMPABLE, check, prctl
from genbench.sandbox.inside.namespace import LIBC, NEWUSER, is_root_of_the_machine

Kind = Literal["full", "one"]
COUNT = 65_536
"""The ids of a box of the kind `full`."""
_FIRST_OF_ROOT = 0x60000000
"""The first id that root gives away: above those of users and of their ranges, below the sandbox's own."""
_RANGES = (("uid", Path("/etc/subuid")), ("gid", Path("/etc/subgid")))


class Ids(NamedTuple):
    """How the ids of a box are mapped. `first` are the first user and group id outside, after the own ones.

    `helped` says whether newuidmap and newgidmap make the map.
    """

    kind: Kind
    first: tuple[int, int]
    helped: bool = False


def ids_here() -> Ids:
    """Return the best that this user has."""
    if is_root_of_the_machine():
        return Ids("full", (_FIRST_OF_ROOT, _FIRST_OF_ROOT))
    import shutil  # noqa: PLC0415  a keeper needs it not, and it takes a quarter of its start

    if shutil.which("newuidmap") and shutil.which("newgidmap"):
        found = [_range_of_user(path) for _, path in _RANGES]
        if None not in found:
            return Ids("full", (found[0] or 0, found[1] or 0), helped=True)
    return Ids("one", (os.getuid(), os.getgid()))


def _range_of_user(path: Path) -> int | None:
    """Return the first id of a range of this user that is long enough."""
    try:
        names = {str(os.getuid()), pwd.getpwuid(os.getuid()).pw_name}
    except KeyError:
        names = {str(os.getuid())}
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    parts = [line.split(":") for line in lines]
    ranges = [part for part in parts if len(part) == 3 and part[0] in names and part[2].strip().isdecimal()]
    return next((int(first) for _, first, count in ranges if int(count) >= COUNT - 1), None)


def enter(ids: Ids, spaces: int = 0) -> None:
    """Put this process into a user namespace, and into others that belong to it, as root of them.

    Args:
        spaces: flags of further namespaces, as of unshare.

    Raises:
        OSError: the kernel or a helper refuses it.
    """
    own = os.getuid(), os.getgid()
    prctl(PR_SET_DUMPABLE, 1)  # the files of the maps would belong to the machine's root
    if ids.kind == "one":
        check(LIBC.unshare(NEWUSER | spaces), "user namespace")
        texts = {"setgroups": "deny", "uid_map": f"0 {own[0]} 1", "gid_map": f"0 {own[1]} 1"}
        for name, text in texts.items():
            Path("/proc/self", name).write_bytes(text.encode())
    else:
        with_maps(lambda pid: _write_maps(pid, ids, own), spaces)
        os.setgroups([])
        os.setresgid(0, 0, 0)
        os.setresuid(0, 0, 0)
    prctl(PR_SET_DUMPABLE, 0)


def with_maps(write: Callable[[int], None], spaces: int) -> None:
    """Enter a user namespace whose maps a child writes, which stays outside."""
    pid = os.getpid()
    told, tell = os.pipe()
    writer = os.fork()
    if writer == 0:
        code = 1
        try:
            os.close(tell)
            if os.read(told, 1):
                write(pid)
                code = 0
        except OSError as error:
            os.write(2, f"{error}\n".encode())
        finally:
            os._exit(code)
    os.close(told)
    try:
        check(LIBC.unshare(NEWUSER | spaces), "user namespace")
        os.write(tell, b"x")
    finally:
        os.close(tell)
        _, status = os.waitpid(writer, 0)
    if status != 0:
        raise PermissionError(1, "the ids of the user namespace could not be mapped")


def _write_maps(pid: int, ids: Ids, own: tuple[int, int]) -> None:
    import subprocess  # noqa: PLC0415  as above

    for at, (name, _) in enumerate(_RANGES):
        if ids.helped:
            words = [f"new{name}map", str(pid), "0", str(own[at]), "1", "1", str(ids.first[at])]
            if subprocess.run([*words, str(COUNT - 1)], check=False).returncode != 0:
                raise PermissionError(1, f"{words[0]} refuses the range of {_RANGES[at][1]}")
        else:
            Path(f"/proc/{pid}/{name}_map").write_text(f"0 {ids.first[at]} {COUNT}", encoding="ascii")


def as_root_of(ids: Ids, act: Callable[[], None]) -> int:
    """Do something in a child as root of a user namespace with these ids. Return its exit status.

    What mapped ids own can be removed only so.
    """
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        enter(ids)
        act()
        code = 0
    except OSError as error:
        os.write(2, f"{error}\n".encode())
    finally:
        os._exit(code)
