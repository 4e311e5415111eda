"""The memory of a long run is given back before its report, in a process of its own."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import weakref
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from genbench.runs.command import MANY_SAMPLES, release_memory_after

FRAGMENTED = """
import psutil
from genbench.runs.command import release_memory
own = psutil.Process()
blocks = [bytes(2000) for _ in range(100_000)]
kept = blocks[::100]
del blocks
before = own.memory_info().rss
release_memory()
print(before - own.memory_info().rss)
"""


class Knot:
    """An object that refers to itself, so that only a collection frees it."""

    def __init__(self) -> None:
        self.itself = self


def is_knot_freed_after(samples: int) -> bool:
    knot = weakref.ref(Knot())
    results = SimpleNamespace(tasks={"t": SimpleNamespace(samples=samples)})
    release_memory_after([results])  # type: ignore[list-item]
    return knot() is None


@pytest.fixture(autouse=True)
def no_collection_by_itself() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.slow
def test_cycles_are_collected_after_many_samples_only() -> None:
    assert is_knot_freed_after(MANY_SAMPLES)
    assert not is_knot_freed_after(MANY_SAMPLES - 1)


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library is not glibc")
@pytest.mark.slow
def test_free_pages_between_used_ones_go_back_to_the_system() -> None:
    done = subprocess.run([sys.executable, "-c", FRAGMENTED], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 100 << 20
