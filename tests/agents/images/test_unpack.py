"""Layers become folders, as the image says it. Hostile ones become nothing."""

from __future__ import annotations

import gzip
import os
import stat
import tarfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from genbench.agents.images.layout import Blob, Layer
from genbench.agents.images.store import Limits, Store
from genbench.errors import DataError
from tests.agents.images.conftest import Act, add_image, entry, folder, hard, link, tar

CAPABILITY = "\x01\x00\x00\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
LAYERS = [
    tar(
        folder("etc"),
        entry("etc/a", b"1", mode=0o640, uid=0, gid=33, mtime=1_700_000_000),
        folder("var/lib", uid=100, gid=101, mode=0o2775, mtime=1_600_000_000),
        entry("var/lib/b", b"22", mode=0o600, uid=100, gid=101),
        entry("usr/bin/su", b"x", mode=0o4755),
        hard("usr/bin/again", "usr/bin/su"),
        link("bin", "usr/bin"),
        entry("dev/kvm", type=tarfile.CHRTYPE, devmajor=10, devminor=232),
        entry("run/pipe", type=tarfile.FIFOTYPE, mode=0o622, uid=65_535, gid=65_535),
        folder("old"),
        entry("old/gone", b"3"),
        entry("old/kept", b"4"),
        entry("./dot", b"5"),
    ),
    tar(entry(".wh.dot"), entry("old/.wh.gone"), folder("etc"), entry("etc/a", b"new", mode=0o644)),
    tar(folder("old"), entry("old/.wh..wh..opq"), entry("old/only", b"6"), entry("/abs/olute", b"7")),
]


def listing(top: Path, first: int | None) -> dict[str, Any]:
    """What is in a layer: kind and mode, owner inside, content."""
    found = {}
    for path in sorted(top.rglob("*")):
        facts = path.lstat()
        owner = f"{facts.st_uid - first}:{facts.st_gid - first}" if first else "0:0"
        text: Any = None
        if stat.S_ISREG(facts.st_mode):
            text = path.read_bytes().decode()
        elif stat.S_ISLNK(facts.st_mode):
            text = str(path.readlink())
        elif stat.S_ISCHR(facts.st_mode):
            text = "whiteout" if facts.st_rdev == 0 else "device"
        elif stat.S_ISDIR(facts.st_mode) and "user.overlay.opaque" in os.listxattr(path):
            text = "opaque"
        found[str(path.relative_to(top))] = (stat.filemode(facts.st_mode), owner, text)
    return found


EXPECTED: list[dict[str, Any]] = [
    {
        "bin": ("lrwxrwxrwx", "0:0", "usr/bin"),
        "dev": ("drwxr-xr-x", "0:0", None),
        "dot": ("-rw-r--r--", "0:0", "5"),
        "etc": ("drwxr-xr-x", "0:0", None),
        "etc/a": ("-rw-r-----", "0:33", "1"),
        "old": ("drwxr-xr-x", "0:0", None),
        "old/gone": ("-rw-r--r--", "0:0", "3"),
        "old/kept": ("-rw-r--r--", "0:0", "4"),
        "run": ("drwxr-xr-x", "0:0", None),
        "run/pipe": ("prw--w--w-", "65535:65535", None),
        "usr": ("drwxr-xr-x", "0:0", None),
        "usr/bin": ("drwxr-xr-x", "0:0", None),
        "usr/bin/again": ("-rwsr-xr-x", "0:0", "x"),
        "usr/bin/su": ("-rwsr-xr-x", "0:0", "x"),
        "var": ("drwxr-xr-x", "0:0", None),
        "var/lib": ("drwxrwsr-x", "100:101", None),
        "var/lib/b": ("-rw-------", "100:101", "22"),
    },
    {
        "dot": ("c---------", "0:0", "whiteout"),
        "etc": ("drwxr-xr-x", "0:0", None),
        "etc/a": ("-rw-r--r--", "0:0", "new"),
        "old": ("drwxr-xr-x", "0:0", None),
        "old/gone": ("c---------", "0:0", "whiteout"),
    },
    {
        "abs": ("drwxr-xr-x", "0:0", None),
        "abs/olute": ("-rw-r--r--", "0:0", "7"),
        "old": ("drwxr-xr-x", "0:0", "opaque"),
        "old/only": ("-rw-r--r--", "0:0", "6"),
    },
]
OUT = "../outside"
HOSTILE = {
    "a file through a link": tar(link("a", OUT), entry("a/x", b"x")),
    "a name that leads out": tar(entry("../outside/x", b"x")),
    "a name that leads out later": tar(folder("d"), entry("d/../../outside/x", b"x")),
    "a hard link to a file of the machine": tar(hard("x", "/etc/passwd")),
    "a hard link that leads out": tar(hard("x", "../outside/secret")),
    "a hard link through a link": tar(link("a", OUT), hard("x", "a/secret")),
    "a whiteout through a link": tar(link("a", OUT), entry("a/.wh.secret")),
    "an opaque mark through a link": tar(link("a", OUT), entry("a/.wh..wh..opq")),
    "a whiteout of the folder above": tar(entry("d/.wh...")),
    "a folder that becomes a link": tar(folder("a"), link("a", OUT), entry("a/x", b"x")),
    "a file where a folder should be": tar(entry("a", b"1"), entry("a/x", b"x")),
    "a redirection of overlays": tar(
        folder("a", pax={"SCHILY.xattr.user.overlay.redirect": "/outside"}),
    ),
    "more bytes than allowed": gzip.compress(tar(entry("zeros", bytes(3 << 20)))),
    "more entries than allowed": tar(*(entry(f"f{number}") for number in range(200))),
    "a header of any length": tar(entry("x", pax={"comment": "y" * (3 << 20)})),
    "no tar": b"not a tar" * 100,
}


def test_an_image_is_unpacked_as_it_says(place: Path, act: Act, maker: ModuleType) -> None:
    image = act(lambda: add_image(maker, place, LAYERS, compressed=True))
    names = act(lambda: Store(place / "store").unpacked(image))
    ids = act(lambda: Store(place / "store").ids)
    top = place / "store" / ids.kind
    full = ids.kind == "full"
    found = [listing(top / name, ids.first[0] if full else None) for name in reversed(names)]
    expected = EXPECTED
    if not full:
        expected = [
            {path: (mode, "0:0", text) for path, (mode, _, text) in each.items()} for each in EXPECTED
        ]
    assert found == expected
    lower = top / names[-1]
    assert (lower / "usr/bin/su").samefile(lower / "usr/bin/again")
    assert (lower / "etc/a").stat().st_mtime == 1_700_000_000
    assert (lower / "var/lib").stat().st_mtime == 1_600_000_000


def test_hostile_layers_are_refused_and_change_nothing(place: Path, act: Act) -> None:
    def unpack() -> list[str]:
        (place / "outside").mkdir()
        (place / "outside" / "secret").write_text("untouched")
        store = Store(place / "store")
        digest = "sha256:" + "0" * 64
        blob = store.layout.blob(digest)
        blob.parent.mkdir(parents=True)
        taken = []
        for number, (name, layer) in enumerate(HOSTILE.items()):
            blob.write_bytes(layer)
            (place / str(number)).mkdir()
            try:
                store.unpack_into(place / str(number), Layer(Blob(digest, 0), digest), Limits(2 << 20, 100))
                taken.append(name)
            except DataError as error:
                if "cannot be unpacked" not in str(error):
                    taken.append(f"{name}: {error}")
        return taken

    assert act(unpack) == []
    outside = place / "outside"
    assert [path.name for path in outside.iterdir()] == ["secret"]
    assert (outside / "secret").read_text() == "untouched"
    assert (outside / "secret").stat().st_nlink == 1
    assert os.listxattr(outside) == []


def test_a_layer_of_another_content_is_refused(place: Path, act: Act, maker: ModuleType) -> None:
    def unpack() -> None:
        image = add_image(maker, place, [LAYERS[0]])
        store = Store(place / "store")
        store.layout.blob(image.layers[0].blob.digest).write_bytes(LAYERS[1] + bytes(10_240))
        store.unpacked(image)

    with pytest.raises(DataError, match="has another digest"):
        act(unpack)
    assert not [path for path in place.glob("store/*/l/*") if path.is_dir()]
