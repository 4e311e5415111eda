"""What a box costs: seconds, memory and disk. It needs no model, registry or daemon.

    python benchmarks/agents/box_costs.py --folder costs              # the folder must not exist

The image has two layers of this machine's programs. The exit status is 1 if a median or a size is above its
bar. The bars are for a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.agents.boxes import example  # noqa: E402  found through the line above
from genbench.agents.images.boxes import opened  # noqa: E402
from genbench.agents.images.given.genbench_box import Box  # noqa: E402
from genbench.agents.images.layout import Image, Layout  # noqa: E402
from genbench.agents.images.store import Store  # noqa: E402

START_MS, EXEC_MS, BOX_MB, DISK_MB = 50.0, 15.0, 6.0, 2.0


def add(folder: Path) -> tuple[Store, Image, int]:
    """Return a store with an image, and the bytes of its layers."""
    make = example("make_image")
    library = next(Path("/usr/lib").glob("python3.[0-9]*"))
    layers = [
        make.layer_of([*make.PROGRAMS, "git", "/usr/bin/python3"], [(str(library), str(library))]),
        make.layer_of([], [("/usr/share/common-licenses", "/opt/texts")]),
    ]
    make.write_layout(folder / "layout", "own/box:1", layers, {"Env": ["PATH=/usr/bin:/bin"]})
    store = Store(folder / "store")
    ((_, image, _),) = store.add(Layout(folder / "layout"))
    return store, image, sum(map(len, layers))


def timed(act: Callable[[], Any]) -> tuple[Any, float]:
    """Return what an act returns, and its milliseconds."""
    began = time.perf_counter()
    found = act()
    return found, (time.perf_counter() - began) * 1000


def shown(name: str, values: list[float], bar: float | None = None) -> bool:
    """Print the figures of some milliseconds. Return whether their median is above its bar."""
    values = sorted(values)
    median = statistics.median(values)
    most = "" if bar is None else f", bar {bar:g}"
    print(
        f"{name}: median {median:.1f} ms, 95 % {values[int(len(values) * 0.95)]:.1f}, least {values[0]:.1f}, "
        f"most {values[-1]:.1f} of {len(values)}{most}",
        flush=True,
    )
    return bar is not None and median > bar


def megabytes(processes: set[int]) -> tuple[float, float]:
    """Return the memory of processes, with shared pages by their share and without them."""
    found = [psutil.Process(pid).memory_full_info() for pid in processes]
    return sum(float(one.pss) for one in found) / 1e6, sum(float(one.uss) for one in found) / 1e6


def cpu_ms() -> float:
    """Return the CPU time of this process, and of its keepers with the commands that have ended."""
    own = sum(sum(one.cpu_times()[:4]) for one in psutil.Process().children())
    return (time.process_time() + float(own)) * 1000


def below() -> set[int]:
    """Return all processes that this one has started."""
    return {child.pid for child in psutil.Process().children(recursive=True)}


def measure(store: Store, image: Image, folder: Path, rounds: int) -> bool:
    """Measure boxes, print the figures and return whether one is above its bar."""
    starts, ends, commands, firsts, spent = [], [], [], [], []
    for number in range(rounds):
        place = folder / f"one{number}"
        place.mkdir()
        manager = opened(store, image, place)
        box, start = timed(manager.__enter__)
        before = cpu_ms()
        first, *more = [timed(partial(box.exec, ["id"]))[1] for _ in range(21)]
        spent.append((cpu_ms() - before) / 21)
        firsts.append(first)
        commands += more
        starts.append(start)
        ends.append(timed(partial(manager.__exit__, None, None, None))[1])
    bad = shown("start of a box", starts, START_MS)
    shown("first command in it", firsts)
    bad |= shown("a command", commands, EXEC_MS)
    shown("CPU of a command with its client", spent)
    shown("end of a box", ends)
    return bad


def measure_many(store: Store, image: Image, folder: Path, count: int) -> bool:
    """Measure boxes that are open at once, print the figures and return whether one is above its bar."""
    before = below()
    bad = False
    with ExitStack() as boxes:
        places = [folder / f"many{number}" for number in range(count)]
        for place in places:
            place.mkdir()
        managers = [opened(store, image, place) for place in places]
        with ThreadPoolExecutor(16) as pool:
            many: list[Box]
            many, start = timed(lambda: list(pool.map(boxes.enter_context, managers)))
            print(
                f"{count} boxes of one image, 16 at once: {start / 1000:.2f} s, {len(store.layers())} layers"
            )
            time.sleep(1)
            shared, own = (found / count for found in megabytes(below() - before))
            disk = sum(path.lstat().st_blocks * 512 for path in store.kind.glob("u/**/*")) / 1e6
            print(
                f"memory of a box with its keeper: {own:.1f} MB of its own, bar {BOX_MB:g}; {shared:.1f} MB "
                "with its part of what is shared"
            )
            print(f"disk of {count} idle boxes: {disk:.2f} MB")
            bad |= own > BOX_MB or (count == 16 and disk > DISK_MB)
            spent = list(pool.map(lambda box: timed(partial(box.exec, ["id"]))[1], many * 5))
            shown("a command, 16 at once", spent)
        _, end = timed(boxes.close)
    print(f"end of {count} boxes: {end / 1000:.2f} s, {len(list(store.kind.glob('u/*')))} uppers left")
    return bad


def main() -> int:
    """Measure, print the figures and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=40)
    given = parser.parse_args()
    folder: Path = given.folder.absolute()
    folder.mkdir(parents=True)
    store, image, size = add(folder)
    _, unpack = timed(lambda: store.unpacked(image))
    print(
        f"load {os.getloadavg()[0]:.1f}, ids {store.ids.kind}; {size / 1e6:.0f} MB unpacked in "
        f"{unpack:.0f} ms",
        flush=True,
    )
    bad = measure(store, image, folder, given.rounds)
    store.trim(0)
    bad |= measure_many(store, image, folder, 16)
    store.trim(0)
    (folder / "more").mkdir()
    bad |= measure_many(store, image, folder / "more", 100)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
