"""Starts a harness in namespaces of its own, in which the gateway is all that can be reached.

`main` is run in a process of its own, whose last argument is JSON:

    socket    path of the gateway's socket
    port      port at which the gateway appears on 127.0.0.1 inside
    writable  folders that stay writable; everything else can only be read
    shown     files and folders that stay reachable though a folder above them is closed to others
    user      the id that root gives the harness, which owns nothing; null if this is not root of the machine
    hidden    folders that are empty inside: services have sockets there, which no network namespace closes
    command   the program of the harness, with its arguments
    folder    its working folder
    out, err  files for what it prints
    environment  its environment, whole

A harness never has the id of root. Such a one could write kernel settings in any /proc, with no capability at
all, and mounts over parts of /proc are no way out: the kernel then refuses a /proc to every namespace inside,
which bubblewrap asks for. So root makes the namespaces with its own rights, and the harness gets an id that
owns nothing but its folder. Everybody else makes them in a user namespace.

The process waits for the harness and ends with its status, 128 and more after a signal. If it is killed,
everything in the namespaces is killed with it. The status 240 says that the namespaces could not be made.
What went wrong is then the last line on standard error.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import signal
import socket
import stat
import struct
import sys
import threading
from collections.abc import Collection
from contextlib import suppress
from functools import partial
from pathlib import Path

from . import seccomp
from .confine import (
    PR_SET_DUMPABLE,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_PDEATHSIG,
    Loaded,
    check,
    drop_capabilities,
    prctl,
    syscall,
)

START = "import sys; sys.path.insert(0, {code!r}); from inside.namespace import main; main()"
"""The program of such a process. `code` is the folder of this package."""
NO_NAMESPACE = 240
"""The status if the namespaces cannot be made."""
NEWNS, NEWUSER, NEWPID, NEWNET, NEWIPC = 0x20000, 0x10000000, 0x20000000, 0x40000000, 0x08000000
MS_BIND, MS_REC, MS_PRIVATE = 4096, 0x4000, 0x40000
MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
_MOUNT_SETATTR, _AT_FDCWD, AT_RECURSIVE, RDONLY = 442, -100, 0x8000, 1
_CAPBSET_DROP = 24
_CAPABILITIES = 64
_NOT_ROOT = 1000
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 0x1
_CHUNK = 1 << 16
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
"""What a harness finds in /dev. Others, such as kvm, fuse, loop or net/tun, are open to every user."""
_SHARED_BYTES = 256 << 20
LIBC = ctypes.CDLL(None, use_errno=True)


class Attributes(ctypes.Structure):
    """What `set_attributes` changes of a mount."""

    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user")]


def is_root_of_the_machine() -> bool:
    """Return whether this process has the kernel's user 0, and not only that of a user namespace."""
    if os.geteuid() != 0:
        return False
    try:
        first = Path("/proc/self/uid_map").read_text(encoding="ascii").split()
    except OSError:
        return True
    return first[:2] == ["0", "0"]


def become(user: int) -> None:
    """Take an id that owns nothing, for good.

    Raises:
        OSError: this process may not change its id.
    """
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    prctl(PR_SET_DUMPABLE, 1)  # a change of the id clears it, and /proc/self would stay root's


def hand_over(user: int, shown: list[str]) -> None:
    """Take an id that owns nothing, for good, with ways to some paths that it could not reach.

    Raises:
        OSError: this process may not change its id.
    """
    if LIBC.unshare(NEWNS) == 0:
        mount("none", "/", None, MS_REC | MS_PRIVATE)
        _open_ways(shown)
    become(user)


def enter(user: int | None) -> bool:
    """Put this process into a mount, network and IPC namespace. Its children get one of processes.

    Args:
        user: the id that the harness gets if this is root of the machine.

    Returns:
        whether this process still has that change of id to make.

    Raises:
        OSError: the kernel refuses a namespace.
    """
    spaces = NEWNS | NEWPID | NEWNET | NEWIPC
    if user is not None:
        if LIBC.unshare(spaces) == 0:
            return True
        become(user)  # root without the right to mount: as somebody else it may have user namespaces
    own, group = os.getuid(), os.getgid()
    # As somebody who is not root inside, a harness may make namespaces of its own without capabilities.
    as_user, as_group = own or _NOT_ROOT, group or _NOT_ROOT
    check(LIBC.unshare(NEWUSER), "user namespace")
    maps = {"setgroups": "deny", "uid_map": f"{as_user} {own} 1", "gid_map": f"{as_group} {group} 1"}
    for name, text in maps.items():
        Path("/proc/self", name).write_text(text, encoding="ascii")
    check(LIBC.unshare(spaces), "namespaces of mounts, processes and network")
    return False


def set_attributes(path: str, attributes: Attributes, flags: int) -> None:
    """Change attributes of a mount. Raise OSError if the kernel refuses it."""
    size = ctypes.sizeof(attributes)
    result = syscall(_MOUNT_SETATTR, _AT_FDCWD, path.encode(), flags, ctypes.byref(attributes), size)
    check(result, f"mount_setattr {path}")


def mount(source: str, target: str, kind: bytes | None, flags: int, options: str = "") -> None:
    """Mount something. Raise OSError if the kernel refuses it."""
    result = LIBC.mount(source.encode(), target.encode(), kind, flags, options.encode() or None)
    check(result, f"mount {target}")


def _protect(writable: list[str], hidden: list[str], shown: list[str]) -> None:
    """Let only some folders be written, and others not be seen."""
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    _open_ways([*writable, *shown])
    for folder in writable:
        mount(folder, folder, None, MS_BIND)
    set_attributes("/", Attributes(set=RDONLY), AT_RECURSIVE)
    for folder in writable:
        set_attributes(folder, Attributes(clear=RDONLY), 0)
    for folder in hidden:
        if os.path.isdir(folder):  # noqa: PTH112  one in another that is hidden or closed is not there any more
            mount("tmpfs", folder, b"tmpfs", MS_NOSUID | MS_NODEV)
    make_devices()
    # With a /proc of its own a harness sees none of the machine's processes, and can make namespaces itself,
    # as bubblewrap does. A container that masks parts of its /proc refuses this one, and the old one stays.
    LIBC.mount(b"proc", b"/proc", b"proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, None)


def _open_ways(paths: list[str]) -> None:
    """Make paths reachable for an id that may not enter a folder above them, such as a home of mode 700.

    The closed folder is replaced by one with nothing but the ways to these paths. Only root can do that, and
    only then is it needed.
    """
    closed: dict[str, list[str]] = {}
    for path in paths:
        above = next((str(place) for place in reversed(Path(path).parents) if _is_closed(place)), None)
        if above is not None and os.geteuid() == 0:
            closed.setdefault(above, []).append(path)
    for folder, inner in closed.items():
        places = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in inner}
        mount("tmpfs", folder, b"tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m")
        for path in sorted(places):
            place = places[path]
            if os.path.isdir(f"/proc/self/fd/{place}"):  # noqa: PTH112
                Path(path).mkdir(parents=True, exist_ok=True)
            elif not Path(path).exists():
                Path(path).parent.mkdir(parents=True, exist_ok=True)
                Path(path).touch()
            mount(f"/proc/self/fd/{place}", path, None, MS_BIND)
            os.close(place)


def _is_closed(folder: Path) -> bool:
    return not folder.stat().st_mode & stat.S_IXOTH


def make_devices(at: str = "/dev") -> None:
    """Mount a /dev with a few devices that lead nowhere at a folder.

    Nothing but pts and shm can be written in it if it takes the place of this machine's own.
    """
    found = {name: os.open(f"/dev/{name}", os.O_PATH | os.O_CLOEXEC) for name in _DEVICES if _is_device(name)}
    mount("tmpfs", at, b"tmpfs", MS_NOSUID, "mode=755,size=64k")
    for name, place in found.items():
        Path(at, name).touch()
        mount(f"/proc/self/fd/{place}", f"{at}/{name}", None, MS_BIND)
        os.close(place)
    for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        Path(at, name).symlink_to(f"/proc/self/{target}")
    for name in ("shm", "pts"):
        Path(at, name).mkdir()
    options = f"mode=1777,size={_SHARED_BYTES}"
    mount("tmpfs", f"{at}/shm", b"tmpfs", MS_NOSUID | MS_NODEV, options)
    # Without a root in the user namespace the kernel refuses it. bubblewrap makes one of its own inside.
    options = "newinstance,ptmxmode=0666,mode=0620"
    pts = f"{at}/pts".encode()
    if LIBC.mount(b"devpts", pts, b"devpts", MS_NOSUID | MS_NOEXEC, options.encode()) == 0:
        Path(at, "ptmx").symlink_to("pts/ptmx")
    if at == "/dev":
        set_attributes(at, Attributes(set=RDONLY), 0)


def _is_device(name: str) -> bool:
    path = Path("/dev", name)
    return path.is_char_device() and not path.is_symlink()


def raise_loopback() -> None:
    """Bring the loopback device of this network namespace up."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh14x", b"lo", _IFF_UP)
        fcntl.ioctl(control, _SIOCSIFFLAGS, request)


def _drop_privileges(user: int | None, families: Loaded | None) -> None:
    """Give up root and all capabilities, so that nothing of this can be undone.

    It runs in the harness's process.
    """
    empty_bounding_set()
    if user is not None:
        become(user)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # a change of the id clears it
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    drop_capabilities()
    if families is not None:
        families.install()


def empty_bounding_set(kept: Collection[int] = ()) -> None:
    """Let no program that is started from here on have capabilities, except some."""
    for capability in range(_CAPABILITIES):
        if capability not in kept:
            with suppress(OSError):  # kernels know fewer
                prctl(_CAPBSET_DROP, capability)


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(_CHUNK):
            target.sendall(data)
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


def _forward(listener: socket.socket, gateway: str) -> None:
    """Connect each client of a port with the gateway."""
    while True:
        client, _ = listener.accept()
        peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            peer.connect(gateway)
        except OSError:
            client.close()
            continue
        for pair in ((client, peer), (peer, client)):
            threading.Thread(target=_pump, args=pair, daemon=True).start()


def _inside(order: dict[str, object], user: int | None) -> int:
    """Be the first process of the namespace: forward connections, run the harness, collect its children."""
    import subprocess  # noqa: PLC0415  boxes use this file without it

    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    writable, hidden, shown = (
        [str(path) for path in order[key]]  # type: ignore[attr-defined]
        for key in ("writable", "hidden", "shown")
    )
    machine = seccomp.machine()
    families = None if machine is None else Loaded(seccomp.build_families(machine))
    place = os.open(Path(str(order["socket"])).parent, os.O_PATH | os.O_CLOEXEC)
    try:
        raise_loopback()
        _protect(writable, hidden, shown)
    except OSError as error:
        print(error, file=sys.stderr, flush=True)
        return NO_NAMESPACE
    gateway = f"/proc/self/fd/{place}/{Path(str(order['socket'])).name}"  # its folder may be hidden by now
    listener = socket.create_server(("127.0.0.1", int(str(order["port"]))), backlog=128)
    threading.Thread(target=_forward, args=(listener, gateway), daemon=True).start()
    prctl(PR_SET_DUMPABLE, 0)  # a harness of the same user would find its descriptors in /proc
    with Path(str(order["out"])).open("ab") as out, Path(str(order["err"])).open("ab") as err:
        try:
            harness = subprocess.Popen(
                list(order["command"]),  # type: ignore[call-overload]
                cwd=str(order["folder"]),
                env=dict(order["environment"]),  # type: ignore[call-overload]
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                # No other thread holds a lock that it needs.
                preexec_fn=partial(_drop_privileges, user, families),  # noqa: PLW1509
            )
        except (OSError, subprocess.SubprocessError) as error:
            err.write(f"{order['command']}: {error}\n".encode())
            return 127
    while True:
        try:
            ended, status = os.wait()
        except OSError as error:
            if error.errno == errno.EINTR:
                continue
            raise
        if ended == harness.pid:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def main() -> None:
    """Run one harness, see the top of this file."""
    order = json.loads(sys.argv[-1])
    user = order.get("user")
    try:
        user = user if enter(user) else None
    except OSError as error:
        print(error, file=sys.stderr, flush=True)
        os._exit(NO_NAMESPACE)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # after the new user namespace, which clears it
    first = os.fork()
    if first == 0:
        code = NO_NAMESPACE
        try:
            code = _inside(order, user)
        finally:
            os._exit(code)
    _, status = os.waitpid(first, 0)
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)
