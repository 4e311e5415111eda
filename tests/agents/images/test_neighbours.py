"""A box that uses up what it may use harms no other box, and is alone in having met a limit."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from genbench.agents.images.box import BoxLimits
from genbench.agents.images.boxes import opened
from genbench.agents.images.given.genbench_box import Box
from genbench.agents.images.store import Store
from tests.agents.images.conftest import Act, add_image
from tests.agents.images.test_box import FORKS

pytestmark = pytest.mark.slow
LIMITS = BoxLimits(memory_mb=150, pids=40, disk_mb=32)
GREEDY = {
    "memory": "import time\nx = []\ntry:\n    while True:\n        x.append(bytearray(1 << 20))\n"
    "except MemoryError:\n    time.sleep(1)\n",
    "pids": FORKS,
    "disk": "import time\ntry:\n    open('/full', 'wb').write(bytes(64 << 20))\n"
    "except OSError:\n    time.sleep(1)\n",
}
"""What uses up a limit, by its name, and stays there for longer than the keeper's look."""
MODEST = "import os, time\npid = os.fork()\nopen('/tmp/x', 'wb').write(bytes(1 << 16))\n" + (
    "os._exit(0) if pid == 0 else os.waitpid(pid, 0)\n"
)


def crowded(place: Path) -> dict[str, Any]:
    """Run four boxes at once, of which three are greedy. Return what happened in each."""
    store = Store(place / "store")

    def one(name: str) -> dict[str, Any]:
        folder = place / name
        folder.mkdir()
        with opened(store, store.find("test:1"), folder, limits=LIMITS) as box:
            return greedy(box, name) if name in GREEDY else modest(box)

    with ThreadPoolExecutor(4) as pool:
        return dict(zip((*GREEDY, "modest"), pool.map(one, (*GREEDY, "modest")), strict=True))


def greedy(box: Box, name: str) -> dict[str, Any]:
    for _ in range(3):
        box.exec(["python3", "-c", GREEDY[name]], timeout_s=60)
    alive = box.exec(["id", "-u"]).output
    return {"alive": alive, "hits": [*box.stats()["limits_hit"]], "gone": box.stats()["gone"]}


def modest(box: Box) -> dict[str, Any]:
    until, exits = time.monotonic() + 4, set()
    while time.monotonic() < until:
        exits.add(box.exec(["python3", "-c", MODEST], timeout_s=60).exit)
    return {"exits": exits, "hits": [*box.stats()["limits_hit"]], "gone": box.stats()["gone"]}


def test_a_greedy_box_harms_no_other_one(place: Path, act: Act, maker: ModuleType, programs: bytes) -> None:
    act(lambda: add_image(maker, place, [programs]) and None)
    found = act(lambda: crowded(place))
    assert found.pop("modest") == {"exits": {0}, "hits": [], "gone": False}
    assert found == {name: {"alive": b"0\n", "hits": [name], "gone": False} for name in GREEDY}
