"""Makes an image layout of programs of this machine, without a network and without a daemon.

    python make_image.py FOLDER NAME [--add SOURCE=TARGET ...] [PROGRAM ...]

The layer has the programs with their libraries, the files that --add names, a /tmp and two users. Such an
image is for trying things: a benchmark's own comes from a registry (genbench mirror).
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

PROGRAMS = (
    *("sh", "bash", "cat", "ls", "mkdir", "rm", "cp", "mv", "chmod", "touch", "head", "tail"),
    *("grep", "sed", "find", "env", "id", "sleep"),
)
"""What an image has besides the named programs."""
_FILES = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nwww-data:x:33:33::/var/www:/bin/sh\n",
    "etc/group": "root:x:0:\nwww-data:x:33:\n",
}
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_MEDIA = "application/vnd.oci.image."


def found_program(name: str) -> str:
    """Return the path of a program of this machine."""
    path = shutil.which(name)
    if path is None:
        raise SystemExit(f"there is no program {name} here")
    return path


def libraries(files: list[str]) -> list[str]:
    """Return the libraries that programs and modules load."""
    words = ["ldd", *(os.path.realpath(path) for path in files)]
    told = subprocess.run(words, capture_output=True, text=True, check=False)
    return sorted(set(re.findall(r"(/\S+) \(0x", told.stdout)))


def layer_of(programs: list[str], added: list[tuple[str, str]]) -> bytes:
    """Return the tar of one layer."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        folder = tarfile.TarInfo("tmp")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o1777
        tar.addfile(folder)
        link = tarfile.TarInfo("bin")
        link.type, link.linkname = tarfile.SYMTYPE, "usr/bin"
        tar.addfile(link)
        for name, text in _FILES.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text.encode()))
        paths = [found_program(name) for name in programs]
        modules = [str(path) for source, _ in added for path in Path(source).rglob("*.so")]
        for path in dict.fromkeys([*paths, *libraries([*paths, *modules])]):
            place = re.sub("^/bin/", "usr/bin/", path).lstrip("/")
            tar.add(os.path.realpath(path), place, filter=_owned_by_root)
        for source, target in added:
            tar.add(source, target.lstrip("/"), filter=_owned_by_root)
    return out.getvalue()


def _owned_by_root(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return None if "__pycache__" in entry.name else entry


def write_layout(
    folder: Path, name: str, layers: list[bytes], config: dict[str, Any], *, compressed: bool = False
) -> str:
    """Write an image layout of layers. Return the digest of the image."""
    blobs = folder / "blobs" / "sha256"
    blobs.mkdir(parents=True, exist_ok=True)

    def stored(data: bytes, kind: str) -> dict[str, Any]:
        digest = hashlib.sha256(data).hexdigest()
        (blobs / digest).write_bytes(data)
        return {"mediaType": _MEDIA + kind, "digest": f"sha256:{digest}", "size": len(data)}

    if compressed:
        found = [stored(gzip.compress(layer), "layer.v1.tar+gzip") for layer in layers]
    else:
        found = [stored(layer, "layer.v1.tar") for layer in layers]
    machine = os.uname().machine
    whole = {"os": "linux", "architecture": _ARCHITECTURES.get(machine, machine), "config": config}
    plain = [f"sha256:{hashlib.sha256(layer).hexdigest()}" for layer in layers]
    whole["rootfs"] = {"type": "layers", "diff_ids": plain}
    manifest = {"schemaVersion": 2, "mediaType": _MEDIA + "manifest.v1+json", "layers": found}
    manifest["config"] = stored(json.dumps(whole).encode(), "config.v1+json")
    entry = stored(json.dumps(manifest).encode(), "manifest.v1+json")
    entry["annotations"] = {"org.opencontainers.image.ref.name": name}
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [entry]}))
    return str(entry["digest"])


def main() -> None:
    """Write the layout that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("name")
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--add", action="append", default=[], metavar="SOURCE=TARGET")
    given = parser.parse_args()
    added = [(text.partition("=")[0], text.partition("=")[2]) for text in given.add]
    layer = layer_of([*PROGRAMS, *given.programs], added)
    digest = write_layout(given.folder, given.name, [layer], {"Env": ["PATH=/usr/bin:/bin"]})
    print(f"{given.name}: {digest}, {len(layer) / 1e6:,.1f} MB")


if __name__ == "__main__":
    main()
