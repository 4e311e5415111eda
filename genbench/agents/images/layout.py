"""Images on disk, as the OCI image layout has them: a folder with index.json and blobs by digest.

`skopeo copy`, `docker buildx`, `crane` and others write such folders. What is read from one is checked
against its digest.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.errors import DataError

NAME_MARK = "org.opencontainers.image.ref.name"
_INDEXES = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
_MANIFESTS = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
ACCEPTED = (*_INDEXES, *_MANIFESTS)
"""The media types of what a registry is asked for."""
_LAYERS = re.compile(
    r"application/vnd\.(?:oci\.image\.layer\.v1\.tar|docker\.image\.rootfs\.diff\.tar)(?:[.+](gzip|zstd))?"
)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_MOST_JSON = 8 << 20
_CHUNK = 1 << 20
Document = Callable[[str, bool], dict[str, Any]]
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclass(frozen=True, slots=True)
class Blob:
    """Something that a manifest names by digest. `compression` is that of a layer."""

    digest: str
    size: int
    compression: str = ""


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer: its blob, and the digest of the tar in it."""

    blob: Blob
    diff_id: str


@dataclass(frozen=True, slots=True)
class Image:
    """One image for this machine's platform. `digest` is that of its manifest."""

    digest: str
    config_blob: Blob
    config: Mapping[str, Any]
    layers: tuple[Layer, ...]

    @property
    def blobs(self) -> Iterator[Blob]:
        """Yield what belongs to it besides the manifest."""
        yield self.config_blob
        yield from (layer.blob for layer in self.layers)


def platform() -> str:
    """Return the platform of this machine as images have it."""
    machine = os.uname().machine
    return f"linux/{_ARCHITECTURES.get(machine, machine)}"


class Layout:
    """A folder in the OCI image layout."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def names(self) -> dict[str, str]:
        """Return the digest of each named image. One without a name has its digest as name.

        Raises:
            DataError: this is no layout.
        """
        path = self.folder / "index.json"
        try:
            index = json.loads(path.read_text(encoding="utf-8"))
            entries = [
                (item.get("annotations", {}).get(NAME_MARK), item["digest"]) for item in index["manifests"]
            ]
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            why = "it has no index.json" if isinstance(error, FileNotFoundError) else f"{path.name}: {error}"
            raise DataError(
                f"{self.folder}: not an OCI layout: {why}; "
                "write one with: skopeo copy docker://IMAGE oci:DIR:NAME"
            ) from None
        return {str(name or digest): str(digest) for name, digest in entries}

    def blob(self, digest: str) -> Path:
        """Return the path of a blob.

        Raises:
            DataError: the digest is none.
        """
        if not _DIGEST.fullmatch(digest):
            raise DataError(f"{self.folder}: digest {digest[:80]!r}, wanted sha256: and 64 hex digits")
        return self.folder / "blobs" / "sha256" / digest.removeprefix("sha256:")

    def document(self, digest: str) -> dict[str, Any]:
        """Return a blob of JSON.

        Raises:
            DataError: it is not there, too large, of another digest, or no object.
        """
        path = self.blob(digest)
        try:
            with path.open("rb") as file:
                data = file.read(_MOST_JSON + 1)
        except OSError as error:
            raise DataError(f"{self.folder}: {digest} is not there: {error.strerror}") from None
        return checked_document(data, digest, str(self.folder))

    def image(self, digest: str) -> Image:
        """Return the image of a manifest, or of the index whose entry for this platform it is.

        Raises:
            DataError: a part is not there, has another digest, or the image is for another platform.
        """
        return read_image(digest, lambda wanted, _: self.document(wanted))

    def missing(self, image: Image) -> list[Blob]:
        """Return the blobs that are not there or of another size."""
        return [blob for blob in image.blobs if not _has_size(self.blob(blob.digest), blob.size)]

    def broken(self, image: Image) -> list[Blob]:
        """Return the blobs that are not there or of another content. It reads them all."""
        return [blob for blob in image.blobs if digest_of_file(self.blob(blob.digest)) != blob.digest]

    def write_name(self, name: str, digest: str | None) -> None:
        """Give a name to an image, or take it away (None)."""
        kept = {} if not (self.folder / "index.json").exists() else self.names()
        kept.pop(name, None)
        if digest is not None:
            kept[name] = digest
        index = {
            "schemaVersion": 2,
            "mediaType": _INDEXES[0],
            "manifests": [
                {
                    "mediaType": _MANIFESTS[0],
                    "digest": found,
                    "size": self.blob(found).stat().st_size,
                    "annotations": {NAME_MARK: known},
                }
                for known, found in sorted(kept.items())
            ],
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self.folder / "oci-layout", b'{"imageLayoutVersion": "1.0.0"}')
        write_whole(self.folder / "index.json", json.dumps(index, indent=1).encode())

    def take(self, other: Layout, image: Image) -> int:
        """Copy the blobs of an image that are not here. Return their bytes.

        Raises:
            DataError: the other layout lacks one, or it has another content.
        """
        wanted = [Blob(image.digest, other.blob(image.digest).stat().st_size), *image.blobs]
        copied = 0
        for blob in wanted:
            to = self.blob(blob.digest)
            if _has_size(to, blob.size):
                continue
            to.parent.mkdir(parents=True, exist_ok=True)
            part = to.with_suffix(".part")
            try:
                shutil.copyfile(other.blob(blob.digest), part)
            except FileNotFoundError:
                raise DataError(f"{other.folder}: {blob.digest} is not there") from None
            require_digest(part, blob.digest, str(other.folder))
            part.rename(to)
            copied += blob.size
        return copied


def read_image(digest: str, document: Document) -> Image:
    """Return an image whose documents a function finds: a manifest or an index (True), or a config.

    Raises:
        DataError: a document is none of an image, or there is none for this platform.
    """
    for _ in range(3):
        found = document(digest, True)
        if found.get("mediaType") not in _INDEXES and "manifests" not in found:
            break
        digest = _of_platform(found, digest)
    try:
        config_blob = Blob(found["config"]["digest"], found["config"]["size"])
        blobs = [_layer_blob(item) for item in found["layers"]]
        config = document(config_blob.digest, False)
        diff_ids = list(config["rootfs"]["diff_ids"])
        own = f"{config['os']}/{config['architecture']}"
    except (LookupError, TypeError, AttributeError) as error:
        raise DataError(f"image {digest}: no manifest of an image: {error}") from None
    if own != platform():
        raise DataError(f"image {digest} is for {own}, and this machine is {platform()}")
    if len(diff_ids) != len(blobs) or not all(_DIGEST.fullmatch(str(item)) for item in diff_ids):
        raise DataError(f"image {digest}: {len(blobs)} layers, and its config has {len(diff_ids)}")
    layers = tuple(Layer(blob, diff_id) for blob, diff_id in zip(blobs, diff_ids, strict=True))
    return Image(digest, config_blob, config.get("config") or {}, layers)


def _of_platform(index: Mapping[str, Any], digest: str) -> str:
    entries = index.get("manifests", [])
    found = {}
    for item in entries:
        place = item.get("platform") or {}
        found[f"{place.get('os')}/{place.get('architecture')}"] = str(item["digest"])
    if platform() in found:
        return found[platform()]
    if len(entries) == 1:  # a layout of one image often does not say
        return str(entries[0]["digest"])
    raise DataError(f"image {digest} is for {', '.join(found)}, and this machine is {platform()}")


def _layer_blob(item: Mapping[str, Any]) -> Blob:
    match = _LAYERS.fullmatch(str(item.get("mediaType")))
    if match is None or item.get("urls"):
        raise DataError(f"a layer of the type {item.get('mediaType')!r} cannot be unpacked")
    return Blob(item["digest"], item["size"], match[1] or "")


def checked_document(data: bytes, digest: str, where: str) -> dict[str, Any]:
    """Return a JSON document.

    Raises:
        DataError: it is too large, has another digest, or is no object.
    """
    if len(data) > _MOST_JSON:
        raise DataError(f"{where}: {digest} has more than {_MOST_JSON:,} bytes")
    if f"sha256:{hashlib.sha256(data).hexdigest()}" != digest:
        raise DataError(f"{where}: what is at {digest} has another digest")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: {digest} is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise DataError(f"{where}: {digest} is no JSON object")
    return found


def require_digest(path: Path, digest: str, where: str) -> None:
    """Remove a file that has another digest.

    Raises:
        DataError: it has.
    """
    if digest_of_file(path) != digest:
        path.unlink()
        raise DataError(f"{where}: what is at {digest} has another digest")


def digest_of_file(path: Path) -> str | None:
    """Return the digest of a file, None if it cannot be read."""
    found = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while data := file.read(_CHUNK):
                found.update(data)
    except OSError:
        return None
    return f"sha256:{found.hexdigest()}"


def _has_size(path: Path, size: int) -> bool:
    try:
        return path.stat().st_size == size
    except OSError:
        return False


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is never there in part."""
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_bytes(data)
    part.rename(path)
