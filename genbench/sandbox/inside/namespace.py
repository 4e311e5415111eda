"""Starts a harness in namespaces of its own, in which the gateway is all that can be reached.

`main` is run in a process of its own, whose last argument is JSON:

    socket    path of the gateway's socket
    port      port at which the gateway appears on 127.0.0.1 inside
    writable  folders that stay writable; everything else can only be read
    hidden    folders that are empty inside: services have sockets there, which no network namespace closes
    command   the program of the harness, with its arguments
    folder    its working folder
    out, err  files for what it prints
    environment  its environment, whole

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
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

from .confine import PR_SET_NO_NEW_PRIVS, PR_SET_PDEATHSIG, check, drop_capabilities, prctl, syscall

START = "import sys; sys.path.insert(0, {code!r}); from inside.namespace import main; main()"
"""The program of such a process. `code` is the folder of this package."""
NO_NAMESPACE = 240
"""The status if the namespaces cannot be made."""
_NEWNS, _NEWUSER, _NEWPID, _NEWNET, _NEWIPC = 0x20000, 0x10000000, 0x20000000, 0x40000000, 0x08000000
_MS_BIND, _MS_REC, _MS_PRIVATE = 4096, 0x4000, 0x40000
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 2, 4, 8
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE, _RDONLY = 442, -100, 0x8000, 1
_CAPBSET_DROP = 24
_CAPABILITIES = 64
_NOT_ROOT = 1000
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 0x1
_CHUNK = 1 << 16
_LIBC = ctypes.CDLL(None, use_errno=True)


class _Attributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user")]


def enter() -> None:
    """Put this process into a user, mount, network and IPC namespace. Its children get one of processes.

    Raises:
        OSError: the kernel refuses one.
    """
    user, group = os.getuid(), os.getgid()
    # As somebody who is not root inside, a harness may make namespaces of its own without capabilities.
    as_user, as_group = user or _NOT_ROOT, group or _NOT_ROOT
    check(_LIBC.unshare(_NEWUSER), "user namespace")
    maps = {"setgroups": "deny", "uid_map": f"{as_user} {user} 1", "gid_map": f"{as_group} {group} 1"}
    for name, text in maps.items():
        Path("/proc/self", name).write_text(text, encoding="ascii")
    check(_LIBC.unshare(_NEWNS | _NEWPID | _NEWNET | _NEWIPC), "namespaces of mounts, processes and network")


def _set_attributes(path: str, attributes: _Attributes, flags: int) -> None:
    size = ctypes.sizeof(attributes)
    result = syscall(_MOUNT_SETATTR, _AT_FDCWD, path.encode(), flags, ctypes.byref(attributes), size)
    check(result, f"mount_setattr {path}")


def _protect(writable: list[str], hidden: list[str]) -> None:
    """Let only some folders be written, and others not be seen."""
    check(_LIBC.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None), "private mounts")
    for folder in writable:
        check(_LIBC.mount(folder.encode(), folder.encode(), None, _MS_BIND, None), f"bind {folder}")
    _set_attributes("/", _Attributes(set=_RDONLY), _AT_RECURSIVE)
    for folder in writable:
        _set_attributes(folder, _Attributes(clear=_RDONLY), 0)
    for folder in hidden:
        result = _LIBC.mount(b"tmpfs", folder.encode(), b"tmpfs", _MS_NOSUID | _MS_NODEV, None)
        check(result, f"tmpfs {folder}")
    # With a /proc of its own a harness sees none of the machine's processes, and can make namespaces itself,
    # as bubblewrap does. A container that masks parts of its /proc refuses this one, and the old one stays.
    _LIBC.mount(b"proc", b"/proc", b"proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, None)


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh14x", b"lo", _IFF_UP)
        fcntl.ioctl(control, _SIOCSIFFLAGS, request)


def _drop_privileges() -> None:
    """Give up all capabilities, so that nothing of this can be undone. It runs in the harness's process."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    for capability in range(_CAPABILITIES):
        with suppress(OSError):  # kernels know fewer
            prctl(_CAPBSET_DROP, capability)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    drop_capabilities()


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


def _inside(order: dict[str, object]) -> int:
    """Be the first process of the namespace: forward connections, run the harness, collect its children."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    writable, hidden = ([str(path) for path in order[key]] for key in ("writable", "hidden"))  # type: ignore[attr-defined]
    place = os.open(Path(str(order["socket"])).parent, os.O_PATH | os.O_CLOEXEC)
    try:
        _raise_loopback()
        _protect(writable, hidden)
    except OSError as error:
        print(error, file=sys.stderr, flush=True)
        return NO_NAMESPACE
    gateway = f"/proc/self/fd/{place}/{Path(str(order['socket'])).name}"  # its folder may be hidden by now
    listener = socket.create_server(("127.0.0.1", int(str(order["port"]))), backlog=128)
    threading.Thread(target=_forward, args=(listener, gateway), daemon=True).start()
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
                preexec_fn=_drop_privileges,  # noqa: PLW1509  no other thread holds a lock that it needs
            )
        except OSError as error:
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
    try:
        enter()
    except OSError as error:
        print(error, file=sys.stderr, flush=True)
        os._exit(NO_NAMESPACE)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # after the new user namespace, which clears it
    first = os.fork()
    if first == 0:
        code = NO_NAMESPACE
        try:
            code = _inside(order)
        finally:
            os._exit(code)
    _, status = os.waitpid(first, 0)
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)
