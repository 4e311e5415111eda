"""The store of images of a machine: blobs, unpacked layers, and the folders that boxes write.

    blobs/, index.json   an image layout (`Layout`)
    full/, one/          by kind of ids:
        l/DIGEST         a layer, unpacked once and never written again
        u/NAME           what a box writes; removed when it ends
    proofs/              which tasks can be judged here

A box holds a lock on its layers and on its upper folder, so what is not locked is not in use.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import genbench
from genbench.agents.images import cgroup
from genbench.agents.images.ids import Ids, as_root_of, ids_here
from genbench.agents.images.layout import Image, Layer, Layout
from genbench.errors import DataError, InputError, RunFolderError, UnavailableError, nearest
from genbench.sandbox import leftovers

VARIABLE = "GENBENCH_IMAGES"
"""The variable with the folder of the store."""
_MOST_BYTES, _MOST_ENTRIES = 64 << 30, 4_000_000
"""What one unpacked layer may have."""
_SHORT = 16
"""Letters of a layer's folder. The options of an overlay fill one page, and an image may have 127 layers."""
_PART = ".part-"
"""What the name of a layer that is being unpacked begins with. The lock is that of the layer."""
START = "import sys; sys.path.insert(0, {root!r}); from {module} import main; main()"
"""The program of a process that has the standard library and this package."""
ROOT = str(Path(genbench.__file__).parent.parent)


def default_store() -> Path:
    """Return the folder of the store of this user."""
    given = os.environ.get(VARIABLE)
    return Path(given) if given else Path.home() / ".cache" / "genbench" / "images"


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of one layer is unpacked."""

    most_bytes: int = _MOST_BYTES
    most_entries: int = _MOST_ENTRIES


class Store:
    """The images of a machine.

    Args:
        folder: where it is. Layers and uppers need a local file system.
        ids: those of its boxes. None means the best that this user has.
    """

    def __init__(self, folder: Path, ids: Ids | None = None) -> None:
        self.folder, self.ids = folder, ids or ids_here()
        self.layout = Layout(folder)
        self.kind = folder / self.ids.kind

    def names(self) -> dict[str, str]:
        """Return the digest of each image by name."""
        return self.layout.names() if (self.folder / "index.json").exists() else {}

    def find(self, name: str) -> Image:
        """Return an image by its name or its digest.

        Raises:
            DataError: it is not here, or not whole.
        """
        known = self.names()
        wanted = name.rpartition("@")[2]
        digest = known.get(name, wanted if wanted in known.values() else None)
        if digest is None and wanted.startswith("sha256:") and self.layout.blob(wanted).exists():
            digest = wanted
        if digest is None:
            raise DataError(f"image {name} is not in the store {self.folder}{nearest(name, known)}")
        image = self.layout.image(digest)
        if missing := self.layout.missing(image):
            raise DataError(
                f"image {name}: {len(missing)} of its blobs are not in {self.folder}, add it again"
            )
        return image

    def add(self, layout: Layout, name: str | None = None) -> list[tuple[str, Image, int]]:
        """Take the images of a layout. Return the name of each, the image, and the bytes that were copied.

        Raises:
            DataError: an image is not whole, or has another digest.
            InputError: a name is given, and there are several images.
        """
        found = layout.names()
        if name is not None and len(found) != 1:
            raise InputError(f"{layout.folder} has {len(found)} images, so --name names none of them")
        added = []
        for known, digest in found.items():
            image = layout.image(digest)
            copied = self.layout.take(layout, image)
            self.layout.write_name(name or known, image.digest)
            added.append((name or known, image, copied))
        return added

    def remove(self, name: str) -> int:
        """Take an image away, with what no other one has. Return the bytes that were freed.

        Raises:
            DataError: it is not here.
        """
        known = self.names()
        if name not in known:
            raise DataError(f"image {name} is not in the store {self.folder}{nearest(name, known)}")
        self.layout.write_name(name, None)
        kept = {digest for digest in known.values() if digest != known[name]}
        kept |= {digest for other, digest in known.items() if other != name}
        images = [self.layout.image(digest) for digest in kept]
        blobs = {*kept, *(blob.digest for image in images for blob in image.blobs)}
        freed = 0
        for path in (self.folder / "blobs" / "sha256").iterdir():
            if f"sha256:{path.name}" not in blobs:
                freed += path.stat().st_size
                path.unlink()
        layers = {_short(layer) for image in images for layer in image.layers}
        for path in self.layers():
            if path.name not in layers:
                self._drop(path)
        return freed

    def layers(self) -> list[Path]:
        """Return the unpacked layers, the one that was used longest ago first."""
        found = [path for path in self.kind.glob("l/*") if path.is_dir() and not path.name.startswith(".")]
        return sorted(found, key=lambda path: path.with_suffix(".lock").stat().st_mtime)

    def trim(self, most_bytes: int) -> list[Path]:
        """Remove unpacked layers that no box uses until the others have at most so many bytes."""
        sizes = {path: leftovers.usage(path, _MOST_ENTRIES)[0] for path in self.layers()}
        left, removed = sum(sizes.values()), []
        for path, size in sizes.items():
            if left <= most_bytes:
                break
            if self._drop(path):
                left -= size
                removed.append(path)
        return removed

    def unpacked(self, image: Image) -> list[str]:
        """Unpack the layers that are not unpacked yet. Return the folder of each, the topmost first.

        Raises:
            DataError: a layer is hostile or broken.
            RunFolderError: the machine has no room.
            UnavailableError: it refuses it.
        """
        self.prepare()
        for layer in image.layers:
            if not (self.kind / "l" / _short(layer)).is_dir():
                self._unpack(layer)
        return [f"l/{_short(layer)}" for layer in reversed(image.layers)]

    def sweep(self) -> int:
        """Remove what killed processes left: uppers, layers in part, control groups. Return how many."""
        gone = 0
        if (groups := cgroup.delegated()) is not None:
            cgroup.prepare(groups)
            gone += cgroup.sweep(groups)
        for path in self.kind.glob(f"l/{_PART}*"):
            with suppress(BlockingIOError), _locked(_whole(path).with_suffix(".lock"), wait=False):
                self._remove(path)
                gone += 1
        found = [path for path in self.kind.glob("u/*") if path.is_dir()]
        for path in found:
            with suppress(BlockingIOError), _locked(path.with_suffix(".lock"), wait=False):
                self._remove(path)
                path.with_suffix(".lock").unlink(missing_ok=True)
                gone += 1
        return gone

    def prepare(self) -> None:
        """Make the folders. Those that mapped ids write belong to their root."""
        for name in ("l", "u"):
            (self.kind / name).mkdir(parents=True, exist_ok=True)
        if self.ids.kind == "full" and not self.ids.helped:
            for place in (self.folder, self.kind, self.kind / "l", self.kind / "u"):
                place.chmod(0o755)

    def _unpack(self, layer: Layer) -> None:
        to = self.kind / "l" / _short(layer)
        with _locked(to.with_suffix(".lock"), wait=True):
            if to.is_dir():
                return
            part = to.with_name(_PART + to.name)
            if part.exists():  # a killed process has left it
                self._remove(part)
            part.mkdir(mode=0o700)
            try:
                self.unpack_into(part, layer)
                part.rename(to)
            finally:
                if part.exists():
                    self._remove(part)

    def unpack_into(self, folder: Path, layer: Layer, limits: Limits | None = None) -> None:
        """Unpack one layer into an empty folder, as root of the ids of this store.

        Raises:
            DataError: it is hostile or broken.
            RunFolderError: the machine has no room.
            UnavailableError: it refuses it.
        """
        folder.chmod(0o755)
        limits = limits or Limits()
        if self.ids.kind == "full" and not self.ids.helped:
            os.chown(folder, *self.ids.first)
        order = {
            "folder": str(folder),
            **self.ids._asdict(),
            "most_bytes": limits.most_bytes,
            "most_entries": limits.most_entries,
        }
        with _plain(self.layout.blob(layer.blob.digest), layer.blob.compression) as source:
            text = START.format(root=ROOT, module="genbench.agents.images.unpack")
            words = [sys.executable, "-I", "-S", "-c", text, json.dumps(order)]
            done = subprocess.run(words, stdin=source, capture_output=True, check=False)
        try:
            said = json.loads(done.stdout)
        except ValueError:
            said = {"error": done.stderr.decode("utf-8", "replace")[-300:] or f"status {done.returncode}"}
        where = f"layer {layer.diff_id}"
        if said.get("space"):
            raise RunFolderError(f"{where}: no room in {self.folder} to unpack it: {said['error']}")
        if "error" in said:
            raise DataError(f"{where} cannot be unpacked: {said['error']}")
        if said["diff_id"] != layer.diff_id:
            raise DataError(f"{where} has another digest: {said['diff_id']}; fetch the image again")

    def _drop(self, layer: Path) -> bool:
        """Remove an unpacked layer unless a box uses it."""
        try:
            with _locked(layer.with_suffix(".lock"), wait=False):
                self._remove(layer)
        except BlockingIOError:
            return False
        return True

    def _remove(self, path: Path) -> None:
        """Remove a folder whose files may belong to mapped ids."""
        if self.ids.helped:
            path.chmod(0o777)
            as_root_of(self.ids, lambda: leftovers.remove(path))
        leftovers.remove(path)

    def facts(self) -> Mapping[str, int]:
        """Return the free bytes and inodes."""
        place = next(path for path in (self.folder, *self.folder.absolute().parents) if path.exists())
        found = os.statvfs(place)
        return {"bytes": found.f_bavail * found.f_frsize, "inodes": found.f_favail}


def _whole(part: Path) -> Path:
    return part.with_name(part.name.removeprefix(_PART))


def _short(layer: Layer) -> str:
    return layer.diff_id.removeprefix("sha256:")[:_SHORT]


@contextmanager
def _locked(path: Path, *, wait: bool) -> Iterator[None]:
    """Hold the lock of a folder of the store.

    Raises:
        BlockingIOError: it is in use, and this is not to wait.
    """
    place = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(place, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(place)


@contextmanager
def _plain(blob: Path, compression: str) -> Iterator[int]:
    """Open a blob. What the standard library cannot read is read through a program.

    Raises:
        UnavailableError: that program is not here.
    """
    if compression != "zstd":
        place = os.open(blob, os.O_RDONLY | os.O_CLOEXEC)
        try:
            yield place
        finally:
            os.close(place)
        return
    if shutil.which("zstd") is None:
        raise UnavailableError("a layer is compressed by zstd: install the program zstd")
    with subprocess.Popen(["zstd", "-dcq", str(blob)], stdout=subprocess.PIPE) as reader:
        assert reader.stdout is not None
        yield reader.stdout.fileno()
        reader.kill()
