"""A box as a harness uses it. This file needs Python 3.10 and its standard library, and nothing of genbench.

    box = Box()                                  # the socket that GENBENCH_BOX names
    done = box.exec(["bash", "-c", "make"], cwd="/testbed", timeout_s=60)
    done.exit, done.output, done.error, done.timed_out

As a program it is `genbench-box exec COMMAND...`, `genbench-box put SOURCE TARGET` and
`genbench-box get SOURCE TARGET`.
"""

from __future__ import annotations

import io
import json
import os
import selectors
import socket
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

_AFTER_S = 1.0
"""Seconds in which output is read when the command has ended: a process of it may keep that open."""
_CHUNK = 1 << 16
_MOST_BYTES = 4 << 30


class BoxGoneError(RuntimeError):
    """The box did not do it: it is gone, or the request was refused. No fault of the command."""


class Done(NamedTuple):
    """How a command has ended. A signal is 128 and more."""

    exit: int
    output: bytes
    error: bytes
    seconds: float
    killed_by: str | None

    @property
    def timed_out(self) -> bool:
        """Return whether its time was up."""
        return self.killed_by == "time"


class Box:
    """The box of a rollout.

    Args:
        path: its socket; that of the variable GENBENCH_BOX unless told.
        key: what opens it; that of the variable GENBENCH_BOX_KEY unless told.
    """

    def __init__(self, path: str | None = None, key: str | None = None) -> None:
        self.path = path or os.environ["GENBENCH_BOX"]
        self._key = os.environ.get("GENBENCH_BOX_KEY", "") if key is None else key

    def exec(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        user: str | None = None,
        timeout_s: float | None = None,
        input: bytes = b"",
        merged: bool = False,
    ) -> Done:
        """Run a command. What is not told is as the image has it.

        Args:
            merged: whether what it prints as errors is part of its output.

        Raises:
            BoxGoneError: it was not run.
        """
        wanted = {"op": "exec", "argv": list(argv), "cwd": cwd, "env": dict(env or {}), "user": user}
        return self._run({**wanted, "timeout_s": timeout_s}, io.BytesIO(input), merged=merged)

    def attach(self, argv: Sequence[str]) -> int:
        """Run a command with the descriptors 0, 1 and 2 of this process. Return its status.

        Its output goes through pipes of this process, so that what it leaves running keeps no reader waiting.
        """
        ends = [os.pipe(), os.pipe()]
        connection = self._sent({"op": "exec", "argv": list(argv)}, [0, *(write for _, write in ends)])
        for _, write in ends:
            os.close(write)
        shown = {read: number for number, (read, _) in enumerate(ends, start=1)}
        return int(_read(connection, list(shown), lambda place, data: _write(shown[place], data))["exit"])

    def put(self, source: str | Path, target: str) -> None:
        """Copy a file to a path, or what is in a folder into one.

        Raises:
            BoxGoneError: it could not be written.
        """
        place, path = Path(source), PurePosixPath(target)
        with tempfile.TemporaryFile() as data:
            with tarfile.open(fileobj=data, mode="w") as archive:
                archive.add(place, "." if place.is_dir() else path.name)
            folder = path if place.is_dir() else path.parent
            data.seek(0)
            self._require(self._run({"op": "put", "path": str(folder)}, data), target)

    def get(self, source: str, target: str | Path) -> None:
        """Copy a file to a path, or what is in a folder into one.

        Devices, and links that lead out of the target, are left out.

        Raises:
            BoxGoneError: it is not there, or is larger than 4 GiB.
        """
        done = self._run({"op": "get", "path": source}, io.BytesIO())
        self._require(done, source)
        with tarfile.open(fileobj=io.BytesIO(done.output)) as archive:
            entries = archive.getmembers()
            if len(entries) == 1 and entries[0].isfile():
                Path(target).parent.mkdir(parents=True, exist_ok=True)
                _copy(archive.extractfile(entries[0]), Path(target))
                return
            for entry in entries:
                _extract(archive, entry, Path(target))

    def fresh(self) -> None:
        """Take a new box of the same image in place of this one."""
        _reply(self._sent({"op": "fresh"}))

    def stats(self) -> dict[str, Any]:
        """Return what the box has used."""
        return _reply(self._sent({"op": "stats"}))

    def kill(self) -> None:
        """End all that runs in the box."""
        _reply(self._sent({"op": "kill"}))

    def _sent(self, wanted: Mapping[str, Any], fds: Sequence[int] = ()) -> socket.socket:
        return _sent(self.path, {**wanted, "key": self._key}, fds)

    @staticmethod
    def _require(done: Done, what: str) -> None:
        if done.exit != 0:
            raise BoxGoneError(f"{what}: {done.error.decode('utf-8', 'replace').strip()[-500:]}")

    def _run(self, wanted: Mapping[str, Any], source: IO[bytes], *, merged: bool = False) -> Done:
        read_in, write_in = os.pipe()
        read_out, write_out = os.pipe()
        read_err, write_err = (-1, write_out) if merged else os.pipe()
        theirs = [read_in, write_out, write_err]
        try:
            connection = self._sent(wanted, theirs)
        except BaseException:
            for place in {write_in, read_out, *([] if merged else [read_err])}:
                os.close(place)
            raise
        finally:
            for place in set(theirs):
                os.close(place)
        threading.Thread(target=_fill, args=(write_in, source), daemon=True).start()
        found = {place: bytearray() for place in (read_out, *([] if merged else [read_err]))}
        said = _read(connection, list(found), lambda place, data: found[place].extend(data))
        output, error = (*map(bytes, found.values()), b"")[:2]
        return Done(said["exit"], output, error, said["seconds"], said["killed_by"])


def _sent(path: str, wanted: Mapping[str, Any], fds: Sequence[int]) -> socket.socket:
    """Connect and send a request. A path may be longer than one of sockets."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        place = os.open(str(Path(path).parent), os.O_PATH | os.O_DIRECTORY)
        try:
            connection.connect(f"/proc/self/fd/{place}/{Path(path).name}")
        finally:
            os.close(place)
        line = json.dumps(wanted).encode() + b"\n"
        sent = socket.send_fds(connection, [line], list(fds)) if fds else 0
        if sent < len(line):  # the keeper may have replied and closed already
            connection.sendall(line[sent:])
    except OSError as error:
        connection.close()
        raise BoxGoneError(f"the box does not answer: {error}") from error
    return connection


def _reply(connection: socket.socket) -> dict[str, Any]:
    with connection, connection.makefile("rb") as lines:
        try:
            return _told(lines.readline())
        except ConnectionResetError:
            return _told(b"")


def _told(line: bytes) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(line or b'{"error": "the keeper of the box is gone"}')
    if "error" in said:
        raise BoxGoneError(said["error"])
    return said


def _fill(place: int, source: IO[bytes]) -> None:
    with os.fdopen(place, "wb", buffering=0) as target:
        try:
            while data := source.read(_CHUNK):
                target.write(data)
        except (BrokenPipeError, ValueError):
            return  # the command has ended, and its caller may have closed the file


def _write(place: int, data: bytes) -> None:
    while data:
        data = data[os.write(place, data) :]


def _read(
    connection: socket.socket, places: Sequence[int], take: Callable[[int, bytes], object]
) -> dict[str, Any]:
    """Take what a command prints until it has ended and its output is closed, or some time later."""
    line = b""
    until: float | None = None
    with selectors.DefaultSelector() as waiting, connection:
        for place in (*places, connection.fileno()):
            waiting.register(place, selectors.EVENT_READ)
        while waiting.get_map():
            left = None if until is None else until - time.monotonic()
            ready = waiting.select(left) if left is None or left > 0 else []
            for key, _ in ready:
                try:
                    data = os.read(key.fd, _CHUNK)
                except ConnectionResetError:  # the keeper was killed
                    data = b""
                if key.fd in places:
                    take(key.fd, data)
                else:
                    line += data
                    until = time.monotonic() + _AFTER_S
                if not data or (key.fd not in places and line.endswith(b"\n")):
                    waiting.unregister(key.fd)
            if until is not None and not ready:
                break
    for place in places:
        os.close(place)
    return _told(line)


def _extract(archive: tarfile.TarFile, entry: tarfile.TarInfo, target: Path) -> None:
    parts = [part for part in entry.name.split("/") if part not in ("", ".")]
    if ".." in parts:
        return
    path = target.joinpath(*parts)
    if entry.isdir():
        path.mkdir(parents=True, exist_ok=True)
    elif entry.isfile() or entry.islnk():
        path.parent.mkdir(parents=True, exist_ok=True)
        _copy(archive.extractfile(entry), path)
        path.chmod(0o700 & entry.mode | 0o600)
    elif entry.issym() and _stays(parts, entry.linkname):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(entry.linkname)


def _stays(parts: Sequence[str], link: str) -> bool:
    """Return whether a link leads to something in the same folder or below it, so that none leads out."""
    return not link.startswith("/") and ".." not in link.split("/")


def _copy(source: IO[bytes] | None, path: Path) -> None:
    with path.open("wb") as file:
        while source is not None and (data := source.read(_CHUNK)):
            file.write(data)


def main(words: Sequence[str] | None = None) -> int:
    """Do what a command line says. Return the status."""
    words = sys.argv[1:] if words is None else words
    acts: dict[str, Callable[..., object]] = {"put": Box().put, "get": Box().get}
    try:
        if words[:1] == ["exec"] and len(words) > 1:
            return Box().attach(words[1:])
        if len(words) == 3 and words[0] in acts:
            acts[words[0]](words[1], words[2])
            return 0
    except BrokenPipeError:  # nobody reads the output any more
        return 141
    except BoxGoneError as error:
        print(f"genbench-box: {error}", file=sys.stderr)
        return 125
    print("genbench-box exec COMMAND... | put SOURCE TARGET | get SOURCE TARGET", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
