"""What a box must refuse. It is run in the box by Python, as root of the box, and prints what went well.

Files of the kernel are opened for writing, and never written.
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
NUMBERS = {"open_by_handle_at": 304, "bpf": 321, "keyctl": 250, "userfaultfd": 323, "io_uring_setup": 425}
if os.uname().machine == "aarch64":
    NUMBERS = {"open_by_handle_at": 265, "bpf": 280, "keyctl": 219, "userfaultfd": 282, "io_uring_setup": 425}


def call(name: str, *words: Any) -> bool:
    """Whether a call is there: whatever it says but that it is refused."""
    done = int(LIBC.syscall(ctypes.c_long(NUMBERS[name]), *words))
    return done >= 0 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS)


def opens(path: str, flags: int = os.O_WRONLY) -> bool:
    try:
        os.close(os.open(path, flags | os.O_NONBLOCK))
    except OSError:
        return False
    return True


def by_handle(path: bytes) -> bool:
    """Whether a file is opened by its handle, which no mount or folder above it can keep from anybody."""
    handle, mount = (ctypes.c_uint * 34)(128, 0), ctypes.c_int()
    number = ctypes.c_long(NUMBERS["open_by_handle_at"] - 1)
    if LIBC.syscall(number, -100, path, handle, ctypes.byref(mount), 0) != 0:
        return False
    place = os.open(path, os.O_RDONLY)
    return int(LIBC.syscall(ctypes.c_long(NUMBERS["open_by_handle_at"]), place, handle, 0)) >= 0


def other_box() -> bool:
    """Whether a command runs in the box of another rollout."""
    sys.path.insert(0, OTHER[1])
    from genbench_box import Box

    return bool(Box(OTHER[2], "").exec(["id"]).exit == 0)


def shell(text: str) -> bool:
    return subprocess.run(["bash", "-c", text], capture_output=True, check=False).returncode == 0


def device(major: int, minor: int) -> bool:
    try:
        os.mknod("/tmp/device", 0o666 | 0o060000, os.makedev(major, minor))
        return opens("/tmp/device", os.O_RDONLY)
    except OSError:
        return False
    finally:
        if os.path.lexists("/tmp/device"):
            Path("/tmp/device").unlink()


def connects(family: int, kind: int, address: Any) -> bool:
    try:
        with socket.socket(family, kind) as client:
            client.settimeout(2)
            if kind == socket.SOCK_DGRAM:
                client.sendto(b"x", address)
            else:
                client.connect(address)
    except OSError:
        return False
    return True


def ends(pid: int) -> bool:
    os.kill(pid, 9)
    return not Path(f"/proc/{pid}").exists()


def in_new_process(act: Callable[[], Any]) -> bool:
    """Whether something goes well in a child, which may not come back."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if act() else 1)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


PORT, ABSTRACT, OUTSIDE, OTHER = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[3:6]
"""`OTHER` are the store, the folder of the client of boxes, and the socket of another rollout's box."""
ATTEMPTS: dict[str, Callable[[], Any]] = {
    "a setting of the kernel": lambda: opens("/proc/sys/kernel/core_pattern"),
    "the program for modules": lambda: opens("/proc/sys/kernel/modprobe"),
    "forwarding": lambda: opens("/proc/sys/net/ipv4/ip_forward"),
    "sysrq": lambda: opens("/proc/sysrq-trigger"),
    "interrupts": lambda: opens("/proc/irq/default_smp_affinity"),
    "memory of the kernel": lambda: opens("/proc/kcore", os.O_RDONLY),
    "messages of the kernel": lambda: shell("dmesg"),
    "a mount of a tmpfs": lambda: shell("mount -t tmpfs none /tmp"),
    "a bind": lambda: shell("mount --bind /usr /tmp"),
    "a /proc/sys that can be written": lambda: shell("mount -o remount,rw /proc/sys"),
    "the parts of /proc taken off": lambda: LIBC.umount2(b"/proc/sys", 2) == 0,
    "the new mount calls": lambda: LIBC.syscall(ctypes.c_long(430), b"tmpfs", 0) >= 0,
    "namespaces of its own": lambda: shell("unshare -Urm id"),
    "a clone with a user namespace": lambda: in_new_process(
        lambda: LIBC.syscall(ctypes.c_long(56), 0x10000000 | 17, 0, 0, 0, 0) >= 0
    ),
    "the namespaces of the first process": lambda: shell("nsenter -t 1 -a id"),
    "the root of the first process": lambda: opens("/proc/1/root/etc", os.O_RDONLY),
    "the memory of the first process": lambda: opens("/proc/1/mem", os.O_RDWR),
    "the variables of the first process": lambda: bool(Path("/proc/1/environ").read_bytes() or True),
    "the descriptors of the first process": lambda: bool([*Path("/proc/1/fd").iterdir()] or True),
    "the program of the first process": lambda: opens("/proc/1/exe", os.O_RDONLY),
    "ptrace of the first process": lambda: LIBC.ptrace(16, 1, 0, 0) == 0,
    "the end of the first process": lambda: ends(1),
    "a handle of a file": lambda: by_handle(b"/etc/passwd"),
    "a write into the store": lambda: any(
        opens(f"{place}/x", os.O_WRONLY | os.O_CREAT) for place in (OUTSIDE, *Path(OUTSIDE).rglob("l"))
    ),
    "a write into a layer": lambda: any(
        opens(str(path)) for path in Path(OUTSIDE).rglob("l/*/opt/lower") if path.is_file()
    ),
    "what another box writes": lambda: [*Path(OUTSIDE).rglob("u/*/u/*")],
    "the box of another rollout": other_box,
    "the disk": lambda: device(254, 0) or device(8, 0) or device(259, 0),
    "bpf": lambda: call("bpf", 0, ctypes.create_string_buffer(64), 64),
    "keys": lambda: call("keyctl", 0, -3, 0),
    "userfaultfd": lambda: call("userfaultfd", 0),
    "io_uring": lambda: call("io_uring_setup", 4, ctypes.create_string_buffer(256)),
    "a server of the machine": lambda: connects(2, 1, ("127.0.0.1", PORT)),
    "a server elsewhere": lambda: connects(2, 1, ("192.0.2.1", 443)),
    "a datagram": lambda: connects(2, 2, ("192.0.2.1", 53)),
    "an abstract socket of the machine": lambda: connects(1, 1, "\0" + ABSTRACT),
    "a file of the machine": lambda: Path(OUTSIDE, "blobs").exists(),
    "sockets of services": lambda: any(
        Path(path).exists() for path in ("/run/docker.sock", "/run/systemd/private")
    ),
    "packets": lambda: bool(socket.socket(17, 3)),
    "the clock": lambda: LIBC.adjtimex((ctypes.c_ulong * 26)(1, 0)) >= 0,
    "the time of the machine": lambda: LIBC.settimeofday((ctypes.c_long * 2)(0, 0), None) == 0,
}


def went_well(act: Callable[[], Any]) -> bool:
    try:
        return bool(act())
    except (OSError, ImportError, RuntimeError):
        return False


print(len(ATTEMPTS), [name for name, act in ATTEMPTS.items() if went_well(act)])
