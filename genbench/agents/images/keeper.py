"""The keeper of one rollout's box: it makes the box, and serves the harness on a socket of its folder.

The order is a line of JSON on standard input. When that is closed, or when this process ends, nothing of the
box is left. A request is a line of JSON on a connection of its own, with the descriptors 0, 1 and 2 of the
command and the `key` of the box; the reply is one line too. The harness names no image, no mount and no
option of the box.

    {"op": "exec", "argv": [...], "cwd": ..., "env": {...}, "user": ..., "timeout_s": ...}
                                  -> {"exit": ..., "killed_by": ..., "seconds": ...}
    {"op": "put", "path": ...}    a tar from descriptor 0 into a folder
    {"op": "get", "path": ...}    a tar of a file or a folder to descriptor 1
    {"op": "fresh"}               a new box of the same image
    {"op": "stats"}, {"op": "kill"}
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import signal
import socket
import stat
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genbench.agents.images.box import Box, BoxError, BoxLimits, Order, start, unreadable
from genbench.agents.images.cgroup import Group
from genbench.agents.images.ids import Ids, as_root_of
from genbench.sandbox import leftovers

if TYPE_CHECKING:
    import tarfile

_LOOK_S = 0.2
"""Seconds between two looks at what a box uses."""
_FULL_BYTES, _FULL_INODES = 64 << 20, 1_000
"""A file system with less left is full."""
_NEAR = 0.9
"""Above this share of the memory a box is at its limit: one process gets no more than all of it."""
_MOST_LINE = 16 << 20
_MOST_CONNECTIONS = 512
_PAGE_MB = os.sysconf("SC_PAGE_SIZE") / (1 << 20)


class _Request:
    """A connection: what was read of it, and the command that it has started."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.line = b""
        self.fds: list[int] = []
        self.pid = self.handle = -1
        self.began = time.monotonic()
        self.deadline: float | None = None
        self.killed_by: str | None = None

    def reply(self, said: Mapping[str, Any]) -> None:
        with contextlib.suppress(OSError):
            self.connection.sendall(json.dumps(said).encode() + b"\n")
        self.close()

    def close(self) -> None:
        self.connection.close()
        self.release()
        if self.handle >= 0:
            os.close(self.handle)

    def release(self) -> None:
        """Close the command's descriptors, so that its reader sees their end."""
        for place in self.fds:
            os.close(place)
        self.fds = []

    def end(self, why: str | None) -> None:
        """Kill the command and what is in its process group."""
        self.killed_by = self.killed_by or why
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)


class Keeper:
    """The box of a rollout and its requests.

    Args:
        order: `folder` (of the store, for the kind of ids), `layers`, `ids`, `limits`, `config` of the image,
            `nested`, `entrypoint`, `cgroup` (a delegated folder or None), `socket`, `owner`, the id of the
            harness or None, and `key`, which each request must have.
    """

    def __init__(self, order: Mapping[str, Any]) -> None:
        self._folder = Path(order["folder"])
        self._layers: list[str] = order["layers"]
        self._ids = Ids(order["ids"][0], tuple(order["ids"][1]), order["ids"][2])
        self._limits = BoxLimits(**order["limits"])
        self._config: dict[str, Any] = order["config"]
        self._place = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._locks = [self._used(layer) for layer in self._layers]
        self._poller = select.poll()
        self._requests: dict[int, _Request] = {}
        """By the descriptor that is watched: a connection, or the handle of a command."""
        self._hits: Counter[str] = Counter()
        self._peak_mb = 0.0
        self._seen = 0
        self._groups = Path(order["cgroup"]) if order["cgroup"] else None
        self._gone = self._was_full = False
        self._cleaners: list[int] = []
        self._upper = ""
        self._upper_lock = -1
        self._nested, self._has_entry = bool(order["nested"]), bool(order["entrypoint"])
        self._entry: int | None = None
        self._key: str = order["key"]
        self._socket = Path(order["socket"])
        self._listener = _listen(self._socket, order["owner"])
        self.box = self._begin()

    def _used(self, layer: str) -> int:
        """Take a share of the lock of a layer, so that it is not removed."""
        path = f"{self._folder / layer}.lock"
        place = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        fcntl.flock(place, fcntl.LOCK_SH)
        with contextlib.suppress(OSError):
            os.utime(path)
        if not (self._folder / layer).is_dir():
            raise BoxError(f"layer {layer} is not unpacked any more")
        return place

    def _begin(self) -> Box:
        """Make a box with an upper folder of its own."""
        self._upper = f"u/{os.urandom(6).hex()}"
        upper = self._folder / self._upper
        lock = os.open(f"{upper}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        self._upper_lock = lock
        for path in (upper, *(upper / name for name in ("u", "w", "m", "s"))):
            path.mkdir(0o755)
            if self._ids.kind == "full" and not self._ids.helped:
                os.chown(path, *self._ids.first)
        try:
            group = None if self._groups is None else Group(self._groups, self._limits)
            order = Order(
                self._layers, self._upper, self._ids, self._limits, nested=self._nested, group=group
            )
            box = start(self._place, order)
        except BaseException:
            self._remove_upper()
            raise
        if self._has_entry:
            try:
                self._entry = self._entered(box)
            except BoxError:
                box.kill()
                self._remove_upper()
                raise
        self._poller.register(box.handle, select.POLLIN)
        return box

    def _entered(self, box: Box) -> int:
        """Start what the image runs by itself. Return the process."""
        argv = [*(self._config.get("Entrypoint") or ()), *(self._config.get("Cmd") or ())]
        if not argv:
            raise BoxError("the row has 'entrypoint', and the image has no ENTRYPOINT and no CMD")
        null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        cwd, user = self._config.get("WorkingDir") or "/", self._config.get("User") or ""
        try:
            return box.run(argv, self._own_environment(), str(cwd), str(user), [null, null, null])
        finally:
            os.close(null)

    def _own_environment(self) -> dict[str, str]:
        return dict(text.split("=", 1) for text in self._config.get("Env") or () if "=" in text)

    def _collect_entry(self, options: int) -> None:
        """Wait for what the image runs by itself, or see whether it has ended."""
        if self._entry is not None and os.waitpid(self._entry, options)[0]:
            self._entry = None

    def _remove_upper(self) -> None:
        upper = self._folder / self._upper
        if self._ids.helped:
            as_root_of(self._ids, lambda: leftovers.remove(upper))
        leftovers.remove(upper)
        upper.with_suffix(".lock").unlink(missing_ok=True)
        os.close(self._upper_lock)

    def serve(self, lifeline: int) -> None:
        """Serve until the lifeline is closed."""
        self._poller.register(lifeline, select.POLLIN)
        self._poller.register(self._listener, select.POLLIN)
        looked = time.monotonic()
        while True:
            for place, events in self._poller.poll(self._wait_ms()):
                if place == lifeline:
                    self._end()
                    return
                self._handle(place, events)
            now = time.monotonic()
            for request in [one for one in self._requests.values() if one.deadline and one.deadline < now]:
                request.deadline = None
                request.end("time")
            if now - looked >= _LOOK_S:
                looked = now
                self._look()

    def _wait_ms(self) -> int:
        deadlines = [one.deadline for one in self._requests.values() if one.deadline]
        wait = min([_LOOK_S, *(moment - time.monotonic() for moment in deadlines)])
        return max(1, int(wait * 1000))

    def _end(self) -> None:
        self._socket.unlink(missing_ok=True)
        self.box.kill(self._finish_all)
        self._remove_upper()
        for pid in self._cleaners:
            os.waitpid(pid, 0)

    def _handle(self, place: int, events: int) -> None:
        if place == self._listener.fileno():
            self._accept()
        elif place == self.box.handle:
            self._gone = True
            self._poller.unregister(place)
        elif place in self._requests:
            request = self._requests[place]
            if place == request.handle:
                self._finish(request)
            elif request.pid >= 0:  # the client has gone, or says more than it should
                self._forget(request.connection.fileno())
                request.end("client")
            else:
                self._read(request, events)

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return
        if len(self._requests) >= _MOST_CONNECTIONS:
            connection.close()
            return
        connection.setblocking(False)
        self._watch(connection.fileno(), _Request(connection))

    def _watch(self, place: int, request: _Request) -> None:
        self._requests[place] = request
        self._poller.register(place, select.POLLIN)

    def _forget(self, place: int) -> None:
        if self._requests.pop(place, None) is not None:
            self._poller.unregister(place)

    def _read(self, request: _Request, events: int) -> None:
        data = b""
        fds: list[int] = []
        with contextlib.suppress(OSError):
            data, fds, _, _ = socket.recv_fds(request.connection, 1 << 16, 8)
        request.fds += fds
        request.line += data
        if not data or len(request.line) > _MOST_LINE or events & select.POLLERR:
            self._forget(request.connection.fileno())
            request.close()
        elif request.line.endswith(b"\n"):
            try:
                self._begin_request(request)
            except (BoxError, OSError, ValueError, LookupError, TypeError, AttributeError) as error:
                self._forget(request.connection.fileno())
                request.reply({"error": str(error) or type(error).__name__, "gone": self._gone})

    def _begin_request(self, request: _Request) -> None:
        wanted = json.loads(request.line)
        if wanted.get("key") != self._key:
            raise BoxError("the key does not open this box")
        action = {"stats": self._stats, "kill": self._kill, "fresh": self._fresh}.get(wanted["op"])
        if action is not None:
            self._forget(request.connection.fileno())
            request.reply(action())
            return
        if self._gone:
            raise BoxError("the box is gone")
        if len(request.fds) != 3 or any(stat.S_ISDIR(os.fstat(place).st_mode) for place in request.fds):
            raise BoxError("a command needs the descriptors 0, 1 and 2, and none may be a folder")
        request.pid = self._started(wanted, request.fds)
        request.handle = os.pidfd_open(request.pid)
        request.release()
        if wanted.get("timeout_s") is not None:
            request.deadline = time.monotonic() + float(wanted["timeout_s"])
        self._watch(request.handle, request)

    def _started(self, wanted: Mapping[str, Any], fds: list[int]) -> int:
        if wanted["op"] in ("put", "get"):
            path, tar = str(wanted["path"]), _tars()
            act = _extract if wanted["op"] == "put" else _archive
            return self.box.call(lambda: act(path, tar), fds)
        if wanted["op"] != "exec":
            raise BoxError(f"there is no {str(wanted['op'])[:40]!r}")
        argv = [str(word) for word in wanted["argv"]]
        if not argv:
            raise BoxError("argv is empty")
        env = {
            **self._own_environment(),
            **{str(key): str(value) for key, value in (wanted.get("env") or {}).items()},
        }
        cwd = wanted.get("cwd") or self._config.get("WorkingDir") or "/"
        user = wanted.get("user")
        return self.box.run(
            argv, env, str(cwd), str(self._config.get("User") or "" if user is None else user), fds
        )

    def _finish(self, request: _Request) -> None:
        self._forget(request.handle)
        self._forget(request.connection.fileno())
        self._see_room()
        _, status = os.waitpid(request.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        request.reply(
            {
                "exit": code if code >= 0 else 128 - code,
                "killed_by": request.killed_by,
                "seconds": round(time.monotonic() - request.began, 4),
                "gone": self._gone,
            }
        )

    def _finish_all(self) -> None:
        """Wait for the commands of a box that was killed, and tell who has asked for them."""
        for request in {id(one): one for one in self._requests.values() if one.pid >= 0}.values():
            self._finish(request)
        self._collect_entry(0)

    def _stats(self) -> dict[str, Any]:
        self._look()
        return {
            "limits_hit": dict(self._hits + self._group_hits()),
            "peak_mb": round(self._peak_mb, 1),
            "processes": self._seen,
            "gone": self._gone,
            "full": self._was_full,
            "ids": self._ids.kind,
        }

    def _kill(self) -> dict[str, Any]:
        if not self._gone:
            self._gone = True
            self._poller.unregister(self.box.handle)
            os.kill(self.box.pid, signal.SIGKILL)
        return {"gone": True}

    def _fresh(self) -> dict[str, Any]:
        """Drop what was written, in the background, and make a new box."""
        if not self._gone:
            self._poller.unregister(self.box.handle)
        self._hits += self._group_hits()
        self.box.kill(self._finish_all)
        cleaner = os.fork()
        if cleaner == 0:
            try:
                self._remove_upper()
            finally:
                os._exit(0)
        self._cleaners.append(cleaner)
        os.close(self._upper_lock)
        self.box = self._begin()
        self._gone = False
        return {"seconds": 0}

    def _look(self) -> None:
        """See what the box uses. Its largest process ends if all together have too much memory."""
        self._collect_entry(os.WNOHANG)
        self._cleaners = [pid for pid in self._cleaners if os.waitpid(pid, os.WNOHANG)[0] == 0]
        self._see_room()
        if self._gone:
            return
        used = _memory_mb(self.box.processes)
        self._seen, total = len(used), sum(used.values())
        self._peak_mb = max(self._peak_mb, total)
        limits = self._limits
        near = _NEAR if self.box.order.group is None else 1  # the kernel counts what comes near
        if limits.memory_mb is not None and total > near * limits.memory_mb:
            self._hits["memory"] += 1
            if total > limits.memory_mb:
                self._end_inside(max(used, key=lambda pid: used[pid]))
        if self.box.order.group is None and limits.pids is not None and self._seen + 1 >= limits.pids:
            self._hits["pids"] += 1
        if limits.disk_mb is not None and os.fstatvfs(self.box.disk).f_bavail == 0:
            self._hits["disk"] += 1

    def _group_hits(self) -> Counter[str]:
        return Counter() if self.box.order.group is None else self.box.order.group.hits()

    def _see_room(self) -> None:
        """See whether the disk of the store is full. A command may have failed by that, even if it ends."""
        self._was_full = self._was_full or (self._limits.disk_mb is None and _is_full(self._place))

    def _end_inside(self, pid: int) -> None:
        """Kill a process by its id in the box."""
        with contextlib.suppress(BoxError):
            os.waitpid(self.box.call(lambda: os.kill(pid, signal.SIGKILL)), 0)


def _is_full(place: int) -> bool:
    free = os.fstatvfs(place)
    few = free.f_files > 0 and free.f_favail < _FULL_INODES
    return few or free.f_bavail * free.f_frsize < _FULL_BYTES


def _memory_mb(processes: int) -> dict[int, float]:
    """Return the memory of each process of a /proc but the first, without what files have."""
    found = {}
    for name in os.listdir(processes):
        if name.isdigit() and name != "1":
            try:
                place = os.open(f"{name}/statm", os.O_RDONLY, dir_fd=processes)
            except OSError:
                continue
            try:
                parts = os.read(place, 128).split()
                found[int(name)] = (int(parts[1]) - int(parts[2])) * _PAGE_MB
            except (OSError, IndexError):  # it ended meanwhile
                continue
            finally:
                os.close(place)
    return found


def _tars() -> type[tarfile.TarFile]:
    """Return what reads and writes a tar. Most boxes need none, and it takes a megabyte."""
    import tarfile  # noqa: PLC0415

    tarfile.pwd = tarfile.grp = None  # type: ignore[attr-defined]  # code of the image would look up names
    return tarfile.TarFile


def _extract(folder: str, tar: type[tarfile.TarFile]) -> None:
    """Write what a tar has below a folder of the box, owned by root."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    with os.fdopen(0, "rb", closefd=False) as source, tar.open(fileobj=source, mode="r|") as archive:
        archive.extraction_filter = staticmethod(lambda entry, path: entry)
        for entry in archive:
            entry.uid = entry.gid = 0
            archive.extract(entry, folder, numeric_owner=True)


def _archive(path: str, tar: type[tarfile.TarFile]) -> None:
    """Print a tar of a file or a folder of the box. Its name in it is `.` for a folder."""
    with os.fdopen(1, "wb", closefd=False) as target, tar.open(fileobj=target, mode="w|") as archive:
        archive.add(path, "." if os.path.isdir(path) else os.path.basename(path))  # noqa: PTH112, PTH119


def _listen(path: Path, owner: int | None) -> socket.socket:
    """Listen at a socket that the harness may use. Its path may be longer than one of sockets."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    place = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    path.unlink(missing_ok=True)
    os.umask(0o177)
    listener.bind(f"/proc/self/fd/{place}/{path.name}")
    os.umask(0o022)
    os.close(place)
    if owner is not None:
        os.chown(path, owner, owner, follow_symlinks=False)
    listener.listen(64)
    listener.setblocking(False)
    return listener


def main() -> None:
    """Keep the box of an order, see the top of this file."""
    lifeline = os.dup(0)
    order = json.loads(sys.stdin.readline())
    unreadable()
    try:
        keeper = Keeper(order)
    except (BoxError, OSError) as error:
        full = _is_full(os.open(order["folder"], os.O_RDONLY | os.O_DIRECTORY))
        sys.stdout.write(json.dumps({"error": str(error), "full": full}) + "\n")
        sys.stdout.flush()
        return
    sys.stdout.write('{"ready": true}\n')
    sys.stdout.flush()
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    keeper.serve(lifeline)
