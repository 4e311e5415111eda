"""The images of a machine: what is shared, what is removed, and what doctor says of boxes."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from genbench.agents.images.boxes import opened
from genbench.agents.images.layout import Layout
from genbench.agents.images.selftest import boxes_here
from genbench.agents.images.store import Store
from genbench.errors import DataError, InputError
from tests.agents.images.conftest import Act, add_image, entry, folder, tar

LOWER = tar(folder("data"), entry("data/big", bytes(2 << 20)))


@pytest.fixture
def shared(maker: ModuleType) -> Iterator[Path]:
    """A folder that every user can reach."""
    with tempfile.TemporaryDirectory(prefix="genbench-images-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_boxes_share_layers_and_use_no_disk_of_their_own(shared: Path, maker: ModuleType) -> None:
    image = add_image(maker, shared, [LOWER, tar(entry("top", b"1"))])
    store = Store(shared / "store")
    with ExitStack() as boxes:
        folders = [shared / f"box{number}" for number in range(8)]
        for place in folders:
            place.mkdir()
        with ThreadPoolExecutor(4) as pool:  # eight at once: each layer is unpacked by one of them
            managers = [opened(store, image, place) for place in folders]
            list(pool.map(boxes.enter_context, managers))
        assert len(store.layers()) == 2
        used = sum(path.lstat().st_blocks * 512 for path in store.kind.glob("u/**/*") if not path.is_socket())
        assert used < 8 * (128 << 10)
        assert store.trim(0) == []  # all are in use
    assert [path.name for path in store.kind.glob("u/*")] == []
    top, lower = (store.kind / name for name in store.unpacked(image))
    os.utime(lower.with_suffix(".lock"), (1, 1))
    assert store.trim(1 << 20) == [lower]
    assert store.trim(0) == [top]
    assert len(store.unpacked(image)) == 2


def test_an_image_goes_with_what_no_other_one_has(shared: Path, maker: ModuleType) -> None:
    store = Store(shared / "store")
    for name, own in (("a:1", b"a"), ("b:1", b"b")):
        maker.write_layout(shared / name, "x", [LOWER, tar(entry(name, own))], {"Env": [name]})
        store.add(Layout(shared / name), name)
        store.unpacked(store.find(name))
    assert len(store.layers()) == 3
    freed = store.remove("a:1")
    assert 0 < freed < 1 << 20
    assert list(store.names()) == ["b:1"]
    assert len(store.layers()) == 2
    assert store.layout.broken(store.find("b:1")) == []
    with pytest.raises(DataError, match=r"a:1 is not in the store .* did you mean 'b:1'"):
        store.find("a:1")
    with pytest.raises(InputError, match="has 2 images"):
        maker.write_layout(shared / "c", "c", [LOWER], {})
        index = json.loads((shared / "c" / "index.json").read_text())
        index["manifests"] *= 2
        index["manifests"][1] = {**index["manifests"][0], "annotations": {}}
        (shared / "c" / "index.json").write_text(json.dumps(index))
        store.add(Layout(shared / "c"), "one")


def test_a_broken_blob_is_named(shared: Path, maker: ModuleType) -> None:
    image = add_image(maker, shared, [LOWER])
    store = Store(shared / "store")
    path = store.layout.blob(image.layers[0].blob.digest)
    data = path.read_bytes()
    path.write_bytes(b"x" + data[1:])
    assert [blob.digest for blob in store.layout.broken(image)] == [image.layers[0].blob.digest]
    words = [sys.executable, "-m", "genbench", "images", "check", "--store", str(store.folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, "BROKEN" in done.stdout) == (1, True)
    path.write_bytes(data[:-1])
    with pytest.raises(DataError, match="1 of its blobs are not in"):
        store.find("test:1")


class OtherMachine:
    """What the example asks of `os`, on another machine."""

    @staticmethod
    def uname() -> SimpleNamespace:
        return SimpleNamespace(machine="s390x")


def test_an_image_of_another_platform_is_refused(
    shared: Path, maker: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    maker.write_layout(shared / "layout", "x", [LOWER], {})
    layout = Layout(shared / "layout")
    digest = layout.names()["x"]
    manifest = layout.document(digest)
    config = layout.document(manifest["config"]["digest"])
    other = json.dumps({**config, "architecture": "s390x"}).encode()
    layout.blob(manifest["config"]["digest"]).write_bytes(other)
    with pytest.raises(DataError, match="another digest"):
        layout.image(digest)
    monkeypatch.setattr(maker, "os", OtherMachine)
    maker.write_layout(shared / "other", "x", [LOWER], {})
    monkeypatch.undo()
    with pytest.raises(DataError, match=r"is for linux/s390x, and this machine is linux/"):
        Store(shared / "store").add(Layout(shared / "other"))


@pytest.mark.skipif(shutil.which("zstd") is None, reason="needs the program zstd")
def test_a_layer_of_zstd_is_unpacked(shared: Path, maker: ModuleType) -> None:
    image = add_image(maker, shared, [LOWER])
    store = Store(shared / "store")
    blob = image.layers[0].blob
    path = store.layout.blob(blob.digest)
    squeezed = subprocess.run(["zstd", "-qc", str(path)], capture_output=True, check=True).stdout
    path.write_bytes(squeezed)
    layer = type(image.layers[0])(type(blob)(blob.digest, len(squeezed), "zstd"), image.layers[0].diff_id)
    (shared / "to").mkdir()
    store.unpack_into(shared / "to", layer)
    assert (shared / "to" / "data" / "big").stat().st_size == 2 << 20


def test_doctor_says_which_boxes_there_can_be(place: Path, act: Act, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENBENCH_IMAGES", str(place / "store"))
    there, said = act(boxes_here)
    assert there
    assert "full ids (65,536)" in said or "one id" in said
    assert list(place.glob("store/*/.try-*")) == []
    monkeypatch.setenv("GENBENCH_IMAGES", "/proc/none")
    there, said = act(boxes_here)
    assert (there, said.startswith("none: ")) == (False, True)


def test_what_a_killed_keeper_left_goes_with_the_next_sweep(shared: Path, maker: ModuleType) -> None:
    add_image(maker, shared, [LOWER])
    store = Store(shared / "store")
    store.prepare()
    left = store.kind / "u" / "left"
    (left / "w" / "work").mkdir(parents=True)
    (left / "w" / "work").chmod(0)
    assert stat.S_IMODE((left / "w" / "work").stat().st_mode) == 0
    assert store.sweep() == 1
    assert not left.exists()
