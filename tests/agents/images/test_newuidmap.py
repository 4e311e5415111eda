"""Boxes of an ordinary user with newuidmap (Debian: uidmap), with a range in /etc/subuid and without one."""

from __future__ import annotations

import os
import pwd
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import psutil
import pytest

from genbench.agents.images.boxes import opened
from genbench.agents.images.selftest import boxes_here
from genbench.agents.images.store import Store
from genbench.sandbox.inside import namespace
from genbench.sandbox.inside.confine import check
from genbench.sandbox.inside.namespace import LIBC, MS_BIND, MS_PRIVATE, MS_REC, NEWNS, mount
from tests.agents.images.conftest import add_image, as_user, entry, folder, tar

NOBODY = pwd.getpwnam("nobody").pw_uid
"""A user with a name. Root gives it a range in a mount namespace of the test."""
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("newuidmap") is None, reason="needs newuidmap: apt install uidmap"),
    pytest.mark.skipif(
        not namespace.is_root_of_the_machine(), reason="only root gives a user a range for a test"
    ),
]


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="genbench-images-") as name:
        Path(name).chmod(0o755)
        inner = Path(name) / "inner"
        inner.mkdir()
        os.chown(inner, NOBODY, NOBODY)
        monkeypatch.setenv("GENBENCH_IMAGES", str(inner / "store"))
        yield inner


def ranges(place: Path, text: str) -> Callable[[], None]:
    """What gives users ranges, for one process and its children."""

    def give() -> None:
        check(LIBC.unshare(NEWNS), "mount namespace")
        mount("none", "/", None, MS_REC | MS_PRIVATE)
        for name in ("subuid", "subgid"):
            own = place.parent / name
            own.write_text(text)
            mount(str(own), f"/etc/{name}", None, MS_BIND)

    return give


def used(place: Path, maker: ModuleType, programs: bytes) -> dict[str, Any]:
    """What works in a box, and what is left of it."""
    upper = tar(
        folder("opt"),
        entry("opt/own", b"x", uid=33, gid=33),
        entry("etc/passwd", b"root:x:0:0::/root:\nwww:x:33:33::/:\n"),
    )
    add_image(maker, place, [programs, upper])
    store = Store(place / "store")
    text = "touch /tmp/x; chown 33:33 /tmp/x; stat -c %u:%g /tmp/x /opt/own"
    with opened(store, store.find("test:1"), place) as box:
        found: dict[str, Any] = {
            "owners": box.exec(["bash", "-c", text]).output.split(),
            "user": box.exec(["id", "-u"], user="www").output,
        }
    found["uppers"] = len([*store.kind.glob("u/*")])
    with opened(store, store.find("test:1"), place) as box:
        box.exec(["bash", "-c", "mkdir /home; chown 33 /home; chmod 700 /home"])
        (keeper,) = psutil.Process().children()
        keeper.kill()
    found["swept"] = store.sweep()
    found["dropped"] = len(store.trim(0))
    found["left"] = [str(path) for path in store.kind.rglob("*") if not path.name.endswith(".lock")]
    found["said"] = boxes_here()
    return found


@pytest.mark.parametrize("count", [65_536, 1_000, 0])
def test_doctor_says_what_then_works(home: Path, maker: ModuleType, programs: bytes, count: int) -> None:
    text = f"nobody:500000:{count}\n" if count else "somebody:500000:65536\n"
    found = as_user(NOBODY, lambda: used(home, maker, programs), ranges(home, text))
    there, said = found["said"]
    assert there
    if count == 65_536:
        assert said.startswith("full ids (65,536)")
        assert found["owners"] == [b"33:33", b"33:33"]
        assert found["user"] == b"33\n"
    else:
        assert said.startswith("one id: owners in images are faked")
        assert found["owners"] == [b"0:0", b"0:0"]
        assert found["user"] == b"0\n"
    assert (found["uppers"], found["swept"], found["dropped"]) == (0, 1, 2)
    assert [Path(path).name for path in found["left"]] == ["l", "u"]


def test_a_user_needs_ids_of_both_kinds(home: Path) -> None:
    def give() -> None:
        ranges(home, "nobody:500000:65536\n")()
        (home.parent / "none").touch()
        mount(str(home.parent / "none"), "/etc/subgid", None, MS_BIND)

    assert as_user(NOBODY, boxes_here, give)[1].startswith("one id")
