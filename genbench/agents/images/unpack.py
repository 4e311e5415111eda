"""Unpacks one layer of an image into a folder that an overlay can have as a lower one.

This file is run by a process of its own. It enters a user namespace, makes the folder its root, and follows
no link. The layer may be hostile: each name is checked part by part, devices are left out, bytes and entries
are counted. Whiteouts become those of overlay mounts by users (`userxattr`).
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import resource
import signal
import stat
import sys
import tarfile
from collections.abc import Callable, Iterator
from typing import IO, Any

from genbench.agents.images.ids import COUNT, Ids, enter
from genbench.sandbox.inside.confine import PR_SET_PDEATHSIG, prctl

_WHITEOUT, _OPAQUE = ".wh.", ".wh..wh..opq"
_OPAQUE_MARK = "user.overlay.opaque"
_CHUNK = 1 << 20
_MEMORY = 2 << 30
"""Bytes of this process. A header may claim any length, and is read whole."""
_XATTR = "SCHILY.xattr."
_KEPT_XATTRS = ("user.", "security.capability")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class LayerError(Exception):
    """A layer is not unpacked, and why."""


class _Counted(io.RawIOBase):
    """The layer as a tar, whose digest is known at its end. It may not be longer than `most` bytes."""

    def __init__(self, source: io.BufferedIOBase, most: int) -> None:
        self._source, self._most = source, most
        self._digest = hashlib.sha256()
        self.size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._source.read(min(len(buffer), _CHUNK))
        self.size += len(data)
        if self.size > self._most:
            raise LayerError(f"it has more than {self._most:,} bytes")
        self._digest.update(data)
        buffer[: len(data)] = data
        return len(data)

    def finish(self) -> str:
        """Read what is after the end of the archive. Return the digest."""
        while self.read(_CHUNK):
            pass
        return f"sha256:{self._digest.hexdigest()}"


class Tree:
    """The folder that a layer is unpacked into.

    Args:
        top: an open descriptor of it.
        owned: whether owners are kept; with one id all belongs to root.
    """

    def __init__(self, top: int, *, owned: bool) -> None:
        self._top, self._owned = top, owned
        self._times: list[tuple[str, int]] = []

    def add(self, entry: tarfile.TarInfo, content: Callable[[], IO[bytes] | None]) -> None:
        """Add one entry.

        Raises:
            LayerError: it is none that a layer may have.
            OSError: the file system refuses it, as with a file where a folder should be.
        """
        parts = _parts(entry.name)
        if not parts:
            if entry.isdir():
                self._finish(self._top, ".", entry)
            return
        folder = self._folder(parts[:-1])
        try:
            if parts[-1].startswith(_WHITEOUT):
                self._white_out(folder, parts[-1])
            else:
                self._make(folder, parts, entry, content)
        finally:
            os.close(folder)

    def close(self) -> None:
        """Set the times of the folders, which each entry in them has changed."""
        for path, seconds in reversed(self._times):
            folder = self._folder(_parts(path))
            os.utime(folder, ns=(seconds * 10**9, seconds * 10**9))
            os.close(folder)

    def _folder(self, parts: list[str]) -> int:
        """Return a descriptor of an inner folder, which is made if it is not there. No link is followed."""
        found = os.dup(self._top)
        for part in parts:
            try:
                inner = os.open(part, _FOLDER, dir_fd=found)
            except FileNotFoundError:
                os.mkdir(part, 0o755, dir_fd=found)
                inner = os.open(part, _FOLDER, dir_fd=found)
            except OSError as error:
                raise LayerError(f"{'/'.join(parts)!r} goes through what is no folder: {part!r}") from error
            finally:
                os.close(found)
            found = inner
        return found

    def _white_out(self, folder: int, name: str) -> None:
        if name == _OPAQUE:
            os.setxattr(folder, _OPAQUE_MARK, b"y")
            return
        hidden = name.removeprefix(_WHITEOUT)
        if hidden.startswith(_WHITEOUT):  # marks of aufs
            return
        if hidden in ("", ".", ".."):
            raise LayerError(f"a whiteout of {hidden!r}")
        os.mknod(hidden, stat.S_IFCHR, 0, dir_fd=folder)

    def _make(
        self, folder: int, parts: list[str], entry: tarfile.TarInfo, content: Callable[[], IO[bytes] | None]
    ) -> None:
        name = parts[-1]
        if entry.ischr() or entry.isblk():
            return
        if not (entry.isdir() and _is_folder(name, folder)):
            _clear(name, folder, entry.name)
        if entry.isdir():
            if not _is_folder(name, folder):
                os.mkdir(name, 0o755, dir_fd=folder)
            self._times.append((entry.name, int(entry.mtime)))
        elif entry.issym():
            os.symlink(entry.linkname, name, dir_fd=folder)
        elif entry.islnk():
            self._link(entry, name, folder)
            return
        elif entry.isfifo():
            os.mkfifo(name, dir_fd=folder)
        elif entry.isreg():
            _write(name, folder, content())
        else:
            raise LayerError(f"{entry.name!r} is of an unknown type {entry.type!r}")
        self._finish(folder, name, entry)

    def _link(self, entry: tarfile.TarInfo, name: str, folder: int) -> None:
        parts = _parts(entry.linkname)
        if not parts:
            raise LayerError(f"{entry.name!r} is a hard link to the root")
        source = self._folder(parts[:-1])
        try:
            os.link(parts[-1], name, src_dir_fd=source, dst_dir_fd=folder, follow_symlinks=False)
        except OSError as error:
            why = f"{entry.name!r} is a hard link to what the layer does not have: {entry.linkname!r}"
            raise LayerError(why) from error
        finally:
            os.close(source)

    def _finish(self, folder: int, name: str, entry: tarfile.TarInfo) -> None:
        """Set owner, mode, attributes and time."""
        if self._owned:
            if not (0 <= entry.uid < COUNT and 0 <= entry.gid < COUNT):
                raise LayerError(f"{entry.name!r} belongs to {entry.uid}:{entry.gid}, above {COUNT - 1}")
            os.chown(name, entry.uid, entry.gid, dir_fd=folder, follow_symlinks=False)
        if not entry.issym():
            os.chmod(name, entry.mode & 0o7777, dir_fd=folder)
            self._mark(folder, name, entry)
        if not entry.isdir():
            seconds = int(entry.mtime) * 10**9
            os.utime(name, ns=(seconds, seconds), dir_fd=folder, follow_symlinks=False)

    def _mark(self, folder: int, name: str, entry: tarfile.TarInfo) -> None:
        marks = {
            key.removeprefix(_XATTR): text
            for key, text in entry.pax_headers.items()
            if key.startswith(_XATTR)
        }
        if any("overlay." in key for key in marks):
            raise LayerError(f"{entry.name!r} has attributes of an overlay")
        kept = {key: text for key, text in marks.items() if key.startswith(_KEPT_XATTRS)}
        if not kept or entry.isfifo():
            return
        place = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        try:
            for key, text in kept.items():
                os.setxattr(place, key, text.encode("utf-8", "surrogateescape"))
        finally:
            os.close(place)


def _parts(name: str) -> list[str]:
    """Return the parts of a name.

    Raises:
        LayerError: it leads out of the layer.
    """
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts or "\0" in name:
        raise LayerError(f"{name!r} leads out of the layer")
    return parts


def _is_folder(name: str, folder: int) -> bool:
    try:
        return stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False


def _clear(name: str, folder: int, path: str) -> None:
    """Remove what a later entry of the same name replaces."""
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return
    except IsADirectoryError:
        raise LayerError(f"{path!r} is a folder, and then it is none") from None


def _write(name: str, folder: int, content: IO[bytes] | None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    place = os.open(name, flags, 0o600, dir_fd=folder)
    with open(place, "wb", buffering=0) as file:  # noqa: PTH123  a descriptor
        while content is not None and (data := content.read(_CHUNK)):
            file.write(data)


def unpack(source: io.RawIOBase, top: int, *, owned: bool, most_bytes: int, most_entries: int) -> str:
    """Unpack a layer, a plain tar or one of gzip. Return the digest of the tar.

    Raises:
        LayerError: the layer is hostile or broken.
        OSError: the file system refuses something.
    """
    counted = _Counted(_plain(source), most_bytes)
    tree = Tree(top, owned=owned)
    try:
        with tarfile.open(fileobj=io.BufferedReader(counted, _CHUNK), mode="r|", encoding="utf-8") as archive:
            for number, entry in enumerate(_entries(archive)):
                if number >= most_entries:
                    raise LayerError(f"it has more than {most_entries:,} entries")
                tree.add(entry, lambda entry=entry: archive.extractfile(entry))  # type: ignore[misc]
        tree.close()
        return counted.finish()
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, MemoryError, ValueError, RecursionError) as error:
        raise LayerError(f"it is no tar: {type(error).__name__} {error}") from error


def _entries(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    while (entry := archive.next()) is not None:
        yield entry
        archive.members = []  # type: ignore[attr-defined]  # it keeps them all


def _plain(source: io.RawIOBase) -> io.BufferedIOBase:
    reader = io.BufferedReader(source, _CHUNK)
    if reader.peek(2)[:2] == b"\x1f\x8b":
        return gzip.GzipFile(fileobj=reader)
    return reader


def main() -> None:
    """Unpack the layer of descriptor 0 into the folder of an order, and print a JSON object."""
    order = json.loads(sys.argv[-1])
    ids = Ids(order["kind"], tuple(order["first"]), order["helped"])
    top = os.open(order["folder"], os.O_RDONLY | os.O_DIRECTORY)
    "".encode("cp437", "replace")  # loaded before there are no files of this machine any more
    said: dict[str, Any]
    try:
        enter(ids)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # after the new user namespace, which clears it
        os.fchdir(top)
        os.chroot(".")
        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
        os.umask(0)
        with open(0, "rb", buffering=0, closefd=False) as source:
            found = unpack(
                source,
                top,
                owned=ids.kind == "full",
                most_bytes=order["most_bytes"],
                most_entries=order["most_entries"],
            )
        said = {"diff_id": found}
    except (LayerError, OSError) as error:
        said = {"error": str(error), "space": getattr(error, "errno", None) in (28, 122)}
    sys.stdout.write(json.dumps(said))
