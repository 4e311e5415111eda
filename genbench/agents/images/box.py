"""A box: the processes of one image, in namespaces of their own, over a folder that they write.

The keeper forks the first process of a box. It mounts, makes itself small, and then only reaps. Commands are
forked by the keeper too, which join the namespaces and become a program of the image. No program of genbench
runs from the image's files, and nothing is imported after the root has changed.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import select
import signal
import socket
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from genbench.agents.images.ids import Ids, enter
from genbench.sandbox.inside import seccomp
from genbench.sandbox.inside.confine import PR_SET_DUMPABLE, Loaded, check, prctl, syscall
from genbench.sandbox.inside.namespace import (
    LIBC,
    MS_BIND,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_PRIVATE,
    MS_REC,
    NEWIPC,
    NEWNET,
    NEWNS,
    NEWPID,
    RDONLY,
    Attributes,
    empty_bounding_set,
    make_devices,
    mount,
    raise_loopback,
    set_attributes,
)

if TYPE_CHECKING:
    from genbench.agents.images.cgroup import Group

_NEWUTS, _NEWCGROUP = 0x04000000, 0x02000000
_SPACES = ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup")
_CLONE_PARENT = 0x8000
_NUMBERS = {"x86_64": (56, 155), "aarch64": (220, 41)}
"""The system calls clone and pivot_root."""
_MNT_DETACH = 2
_READ_ONLY = ("bus", "fs", "irq", "sys", "sysrq-trigger")
"""What can only be read of /proc, as with Docker."""
CAPABILITIES = (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31)
"""The 14 that Docker gives: those of owners, ids, ports below 1024, chroot, mknod and raw sockets."""
_SYS_ADMIN = 21
_CAPABILITIES_V3 = 0x20080522
_MOST_FILES = 1 << 20
HOME_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
NOT_STARTED, NOT_FOUND = 126, 127
_CLONE = ctypes.PyDLL(None).syscall


class BoxError(Exception):
    """A box could not be made, or is gone."""


class BoxLimits(NamedTuple):
    """What the processes of a box may use. `disk_mb` is a bound of what they write, and takes memory."""

    memory_mb: int | None = None
    cpus: int | None = None
    disk_mb: int | None = None
    pids: int | None = None


class Order(NamedTuple):
    """What a box is made of.

    Args:
        layers: folders of the store, the topmost first.
        upper: the folder that it writes. It has the folders `w` and `m`, and `u` unless `disk_mb` is given.
        hostname: its name.
        nested: whether its programs may mount and make namespaces of their own.
        group: the control group with its limits. Without one they are those of each process.
    """

    layers: Sequence[str]
    upper: str
    ids: Ids
    limits: BoxLimits
    hostname: str = "box"
    nested: bool = False
    group: Group | None = None


class User(NamedTuple):
    """Who runs a command."""

    uid: int
    gid: int
    groups: Sequence[int]
    home: str


class Box:
    """A running box.

    Args:
        pid: its first process.
        alive: a descriptor that ends it when it is closed.
        spaces: descriptors of its namespaces, the user namespace first.
        processes: a descriptor of its /proc.
        disk: a descriptor of the file system that it writes.
    """

    def __init__(self, order: Order, pid: int, alive: int, fds: Sequence[int]) -> None:
        self.order, self.pid, self._alive = order, pid, alive
        self.handle = os.pidfd_open(pid)
        *self._spaces, self.processes, self.disk = fds
        machine = seccomp.machine()
        if machine is None:
            raise BoxError("there are no filters of system calls for this processor")
        found = seccomp.build_box(machine, fakes_owners=order.ids.kind == "one", nested=order.nested)
        self._filters = [Loaded(made) for made in found]
        self._capabilities = (*CAPABILITIES, _SYS_ADMIN) if order.nested else CAPABILITIES

    def run(
        self, argv: Sequence[str], env: Mapping[str, str], cwd: str, user: str, fds: Sequence[int]
    ) -> int:
        """Start a program of the image. Return the process, which is a child of this one."""

        def start() -> int:
            for number, place in enumerate(fds):
                os.dup2(place, number)
            who = _user(user)
            environment = {"PATH": HOME_PATH, "HOME": who.home, **env}
            try:
                os.chdir(cwd or "/")
            except OSError as error:
                os.write(2, f"{cwd}: {error.strerror}\n".encode())
                return NOT_STARTED
            self._confine(who)
            try:
                os.execvpe(argv[0], list(argv), environment)
            except OSError as error:
                os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
                return NOT_FOUND if error.errno == errno.ENOENT else NOT_STARTED

        return self._joined(start)

    def call(self, act: Callable[[], object], fds: Sequence[int] = ()) -> int:
        """Do something of this program in the box as its root. Return the process."""

        def start() -> int:
            for number, place in enumerate(fds):
                os.dup2(place, number)
            os.closerange(3, _MOST_FILES)
            self._confine(User(0, 0, (), "/"))
            _keep_capabilities()
            act()
            return 0

        return self._joined(start)

    def kill(self, collect: Callable[[], object] = lambda: None) -> None:
        """End all its processes, and wait for that.

        Args:
            collect: waits for the commands that still run. They are children of this process, and the first
                process of a box does not end before all others were waited for.
        """
        for place in (self._alive, *self._spaces, self.processes, self.disk):
            os.close(place)
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        collect()
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        os.close(self.handle)
        if self.order.group is not None:
            self.order.group.end()

    def _joined(self, act: Callable[[], int]) -> int:
        """Fork a process into the box that does something and ends with what it returns."""
        group = self.order.group
        ours, theirs = os.pipe()
        told, tell = os.pipe()
        starter = os.fork()
        if starter == 0:
            code = NOT_STARTED
            try:
                os.close(tell)
                if group is not None:
                    _end_before_others()
                for place in self._spaces:
                    check(LIBC.setns(place, 0), "setns")
                pid = _clone_for_parent()
                if pid:
                    os.write(theirs, str(pid).encode())
                    os._exit(0)
                os.close(theirs)
                if group is not None and not os.read(told, 1):
                    raise BoxError("its keeper did not put it into its control group")
                os.setsid()
                if self.order.ids.kind == "full":
                    _become(User(0, 0, (), "/"))
                code = act()
            except BaseException as error:
                with suppress(OSError):
                    os.write(2, f"{error}\n".encode())
            finally:
                os._exit(code)
        os.close(theirs)
        said = os.read(ours, 32)
        os.waitpid(starter, 0)
        try:
            if not said:
                raise BoxError("the box is gone")
            self._let_begin(int(said), tell)
        finally:
            for place in (ours, told, tell):
                os.close(place)
        return int(said)

    def _let_begin(self, pid: int, tell: int) -> None:
        """Put a command into the control group. A starter in a full one could not have made it."""
        if self.order.group is not None:
            try:
                self.order.group.add(pid)
            except OSError as error:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                raise BoxError(f"a command cannot be put into its control group: {error}") from None
            os.write(tell, b"x")

    def _confine(self, user: User) -> None:
        """Set limits, and give up what Docker's containers do not have."""
        limits = self.order.limits
        if limits.cpus:
            own = sorted(os.sched_getaffinity(0))
            first = self.pid % len(own)
            os.sched_setaffinity(0, (own * 2)[first : first + limits.cpus])
        if self.order.group is not None:
            limits = BoxLimits()
        for which, value in (
            (resource.RLIMIT_NPROC, limits.pids),
            (resource.RLIMIT_DATA, limits.memory_mb and limits.memory_mb << 20),
            (resource.RLIMIT_CORE, 0),
        ):
            if value is not None:
                resource.setrlimit(which, (value, value))
        os.umask(0o022)
        for made in self._filters[:2]:
            made.install()
        empty_bounding_set(self._capabilities)
        if self.order.ids.kind == "full":
            _become(user)
        for made in self._filters[2:]:
            made.install()


def start(place: int, order: Order) -> Box:
    """Make a box.

    Args:
        place: a descriptor of the store's folder for the kind of ids.

    Raises:
        BoxError: the kernel refuses a part of it. Says which.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    watched, alive = os.pipe()
    starter = os.fork()
    if starter == 0:
        try:
            ours.close()
            os.close(alive)
            os.fchdir(place)
            if order.group is not None:
                order.group.add(0)
            enter(order.ids, NEWNS | NEWPID | NEWNET | NEWIPC | _NEWUTS | _NEWCGROUP)
            pid = _clone_for_parent()
            if pid:
                theirs.send(json.dumps({"pid": pid}).encode())
            else:
                _be_first(order, theirs, watched)
        except BaseException as error:
            theirs.send(json.dumps({"error": str(error)}).encode())
        finally:
            os._exit(0)
    theirs.close()
    os.close(watched)
    found: dict[str, Any] = {}
    fds: list[int] = []
    while len(found) < 2 and "error" not in found:
        data, more, _, _ = socket.recv_fds(ours, 1 << 16, 16)
        found |= json.loads(data) if data else {"error": "its first process ended"}
        fds += more
    ours.close()
    os.waitpid(starter, 0)
    if "error" in found:
        os.close(alive)
        if "pid" in found:
            os.waitpid(found["pid"], 0)
        if order.group is not None:
            order.group.end()
        raise BoxError(found["error"])
    return Box(order, found["pid"], alive, fds)


def _be_first(order: Order, theirs: socket.socket, watched: int) -> None:
    """Be the first process of a box: make what it sees, and then reap."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGPIPE", "SIGQUIT"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    os.setsid()
    os.umask(0o022)
    raise_loopback()
    spaces = [os.open(f"/proc/self/ns/{name}", os.O_RDONLY | os.O_CLOEXEC) for name in _SPACES]
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    disk = _mount_root(order)
    processes = _furnish()
    _change_root()
    _write_names(order)
    socket.send_fds(theirs, [b'{"ready": true}'], [*spaces, processes, disk])
    theirs.detach()
    os.dup2(os.open("/dev/null", os.O_RDWR), 0)
    for number in (1, 2):
        os.dup2(0, number)
    os.dup2(watched, 3)
    os.closerange(4, _MOST_FILES)
    _reap(3)


def _mount_root(order: Order) -> int:
    """Mount the image's root, and make it the working folder. Return a descriptor of what is written."""
    base = order.upper
    if order.limits.disk_mb is not None:
        mount("tmpfs", f"{base}/s", b"tmpfs", MS_NOSUID | MS_NODEV, f"mode=755,size={order.limits.disk_mb}m")
        for name in ("u", "w"):
            os.mkdir(f"{base}/s/{name}", 0o755)  # noqa: PTH102
        base = f"{base}/s"
    options = f"userxattr,lowerdir={':'.join(order.layers)},upperdir={base}/u,workdir={base}/w"
    disk = os.open(f"{base}/u", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    mount("overlay", f"{order.upper}/m", b"overlay", 0, options)
    os.chdir(f"{order.upper}/m")
    return disk


def _furnish() -> int:
    """Make /proc, /dev and /sys below the working folder. Return a descriptor of /proc."""
    for name in ("proc", "dev", "sys"):
        _require_folder(name)
    mount("proc", "proc", b"proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    for name in _READ_ONLY:
        path = f"proc/{name}"
        if os.path.exists(path):  # noqa: PTH110
            mount(path, path, None, MS_BIND | MS_REC)
            set_attributes(path, Attributes(set=RDONLY), 0)
    make_devices("dev")
    return os.open("proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _require_folder(name: str) -> None:
    """Let a name be a folder. An image may have a link there, which would lead to this machine's files."""
    try:
        if stat.S_ISDIR(os.lstat(name).st_mode):
            return
        os.unlink(name)  # noqa: PTH108
    except FileNotFoundError:
        pass
    os.mkdir(name, 0o755)  # noqa: PTH102


def _change_root() -> None:
    """Let the working folder be the root, and nothing else of the machine be there."""
    number = _NUMBERS[os.uname().machine][1]
    check(syscall(number, b".", b"."), "pivot_root")
    check(LIBC.umount2(b".", _MNT_DETACH), "umount")
    os.chdir("/")


def _write_names(order: Order) -> None:
    """Write the names that a container's engine writes. There is no name server."""
    host = order.hostname.encode()
    check(LIBC.sethostname(host, len(host)), "sethostname")
    texts = {
        "/etc/hosts": f"127.0.0.1\tlocalhost {order.hostname}\n::1\tlocalhost\n",
        "/etc/hostname": f"{order.hostname}\n",
        "/etc/resolv.conf": "",
    }
    if order.ids.kind == "one" and os.path.isdir("/etc/apt/apt.conf.d"):  # noqa: PTH112
        texts["/etc/apt/apt.conf.d/99-one-id"] = 'APT::Sandbox::User "root";\n'
    with suppress(OSError):
        os.mkdir("/etc", 0o755)  # noqa: PTH102
    for path, text in texts.items():
        with suppress(OSError):
            os.unlink(path)  # noqa: PTH108
        with suppress(OSError):  # an image may have anything for /etc
            place = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
            os.write(place, text.encode())
            os.close(place)


def _reap(watched: int) -> None:
    """Collect what ends, until the keeper closes its end of the pipe."""
    told, tell = os.pipe()
    os.set_blocking(tell, False)
    os.set_blocking(told, False)
    signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    poller = select.poll()
    for place in (watched, told):
        poller.register(place, select.POLLIN)
    while True:
        ready = [place for place, _ in poller.poll()]
        if watched in ready:
            return
        with suppress(BlockingIOError):
            os.read(told, 4096)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _clone_for_parent() -> int:
    """Fork a sibling of this process, so that its parent is this one's. Return its id, 0 in the sibling."""
    number = _NUMBERS[os.uname().machine][0]
    return check(int(_CLONE(ctypes.c_long(number), _CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)), "clone")


def _end_before_others() -> None:
    """Let the kernel end this process, if memory is used up, and not the first one of its box."""
    prctl(PR_SET_DUMPABLE, 1)  # else the file belongs to the machine's root
    place = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
    os.write(place, b"1000")
    os.close(place)
    prctl(PR_SET_DUMPABLE, 0)


def _become(user: User) -> None:
    os.setgroups(list(user.groups))
    os.setresgid(user.gid, user.gid, user.gid)
    os.setresuid(user.uid, user.uid, user.uid)


def _keep_capabilities() -> None:
    """Give up what a started program would not have."""
    mask = sum(1 << number for number in CAPABILITIES)
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_V3, 0)
    check(LIBC.capset(ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)(mask, mask, 0))), "capset")


def _user(wanted: str) -> User:
    """Return who `name`, `name:group` or `uid:gid` is by the files of the box.

    Raises:
        BoxError: there is nobody of that name.
    """
    name, _, group = wanted.partition(":")
    names = [line.split(":") for line in _lines("/etc/passwd")]
    groups = [line.split(":") for line in _lines("/etc/group")]
    found = next((row for row in names if len(row) > 5 and name in (row[0], row[2])), None)
    if found is None and name and not name.isdecimal():
        raise BoxError(f"there is no user {name} in the image")
    uid = int(found[2]) if found else int(name or 0)
    gid = int(found[3]) if found else 0
    if group:
        other = next((row for row in groups if len(row) > 2 and group in (row[0], row[2])), None)
        if other is None and not group.isdecimal():
            raise BoxError(f"there is no group {group} in the image")
        gid = int(other[2]) if other else int(group)
    more = [int(row[2]) for row in groups if len(row) > 3 and found and found[0] in row[3].split(",")]
    return User(uid, gid, more, found[5] if found and found[5] else "/root" if uid == 0 else "/")


def _lines(path: str) -> list[str]:
    try:
        place = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return []
    data = os.read(place, 1 << 20)
    os.close(place)
    return data.decode("utf-8", "replace").splitlines()


def unreadable() -> None:
    """Let no process look into this one or its children, as they are until they become another program."""
    prctl(PR_SET_DUMPABLE, 0)
