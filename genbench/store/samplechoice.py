"""The choice of a few samples of a task, which is the same in every run of the task."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Sequence

from genbench.store.sampleindex import SampleKey


def chosen_samples(task: str, problem_ids: Sequence[str], k: int, count: int) -> frozenset[SampleKey]:
    """Return `count` samples of a task, or all of them if it has fewer.

    The samples with the smallest digests of their names are chosen. So two runs of one task choose the same
    samples, and a larger count keeps those of a smaller one.
    """
    if count == 0:
        return frozenset()
    keys = ((name, index) for name in problem_ids for index in range(k))
    return frozenset(heapq.nsmallest(count, keys, key=lambda key: _place(task, key)))


def _place(task: str, key: SampleKey) -> bytes:
    name = f"{task}\0{key[0]}\0{key[1]}"
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
