"""What a row may ask for beyond a plain box: `nested` and `entrypoint`."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from genbench.agents.images.boxes import Rights, opened
from genbench.agents.images.given.genbench_box import Box
from genbench.agents.images.layout import Layout
from genbench.agents.images.store import Store
from genbench.errors import DataError, UnavailableError
from tests.agents.images.conftest import Act
from tests.agents.images.test_box import ESCAPES, uppers

pytestmark = pytest.mark.slow
SERVICE = "mkdir -p /opt && echo $COLOUR > /opt/$0 && exec sleep 500"
NESTED = {
    *("a mount of a tmpfs", "a bind", "the parts of /proc taken off", "the new mount calls"),
    *("namespaces of its own", "a clone with a user namespace"),
    "a /proc/sys that can be written",  # the mount is, and the files in it are not: see the test below
}
"""What a box with `nested` may do and another may not. All of it stays in its user namespace."""


@pytest.fixture
def in_box(place: Path, act: Act, maker: ModuleType, programs: bytes) -> Callable[..., Any]:
    """Does something with a box that has rights, as root or as an ordinary user."""
    own = {"Entrypoint": ["bash", "-c", SERVICE], "Cmd": ["began"]}
    plain = {"Env": ["PATH=/usr/bin:/bin", "COLOUR=blue"], "WorkingDir": "/tmp"}

    def use(what: Callable[[Box], Any], rights: Rights, config: dict[str, Any]) -> Any:
        maker.write_layout(place / "layout", "test:1", [programs], {**plain, **config})
        store = Store(place / "store")
        ((_, image, _),) = store.add(Layout(place / "layout"))
        with opened(store, image, place, rights=rights) as box:
            return what(box)

    def do(what: Callable[[Box], Any], rights: Rights, config: dict[str, Any] = own) -> Any:
        try:
            return act(lambda: use(what, rights, config))
        finally:
            assert uppers(place) == []

    return do


def test_nested_boxes_mount_and_reach_no_more_than_others(in_box: Callable[..., Any]) -> None:
    words = ["python3", "-", "1", "none", "/none", "/none", "/none"]
    text = "umount /proc/sys && (exec 9>>/proc/sys/kernel/core_pattern)"

    def use(box: Box) -> tuple[str, int, int]:
        found = box.exec(words, input=ESCAPES.read_bytes(), timeout_s=60).output.decode()
        own = box.exec(["unshare", "-Urm", "mount", "-t", "tmpfs", "none", "/tmp"]).exit
        return found, own, box.exec(["bash", "-c", text]).exit

    found, own, writes = in_box(use, Rights(nested=True))
    reached = set(ast.literal_eval(found.split(" ", 1)[1]))
    assert reached <= NESTED
    assert {"a mount of a tmpfs", "namespaces of its own"} <= reached
    assert own == 0
    assert writes != 0


def test_an_entrypoint_runs_if_the_row_asks_for_it(in_box: Callable[..., Any]) -> None:
    text = "cat /opt/began 2>/dev/null; grep -c sleep /proc/[0-9]*/comm | grep -c :1"

    def use(box: Box) -> list[str]:
        until = time.monotonic() + 30
        while len(found := box.exec(["bash", "-c", text]).output.split()) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        box.fresh()
        return [word.decode() for word in found]

    assert in_box(use, Rights(entrypoint=True)) == ["blue", "1"]
    assert in_box(lambda box: box.exec(["bash", "-c", text]).output, Rights()) == b"0\n"


def test_an_entrypoint_that_ends_ends_no_box(in_box: Callable[..., Any]) -> None:
    def use(box: Box) -> tuple[bytes, bool]:
        time.sleep(0.5)
        return box.exec(["id", "-u"]).output, bool(box.stats()["gone"])

    assert in_box(use, Rights(entrypoint=True), {"Cmd": ["id"]}) == (b"0\n", False)
    with pytest.raises(UnavailableError, match="no ENTRYPOINT and no CMD"):
        in_box(use, Rights(entrypoint=True), {})


def test_rights_that_no_box_has_are_refused() -> None:
    assert Rights.of({"nested": True, "agent": "terminus-2"}) == Rights(nested=True)
    with pytest.raises(DataError, match="'nested' is 'yes', wanted true or false"):
        Rights.of({"nested": "yes"})
    with pytest.raises(DataError, match="'agent' is 'inside': no agent runs in a box"):
        Rights.of({"agent": "inside"})
