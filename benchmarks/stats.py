"""Seconds and memory of a suite's statistics, compared with scipy.stats.bootstrap in the same run.

    python benchmarks/stats.py

Five tasks, 10,000 resamples: interval of base and of tuned, and the paired comparison with its
sign-flip test. One thread; best of five; memory is what the suite adds at its peak (tracemalloc,
which numpy reports to).
"""

from __future__ import annotations

import os
import platform
import time
import tracemalloc
from collections.abc import Callable
from functools import partial

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is imported

import numpy as np
import scipy
import scipy.stats

from genbench.stats.comparison.gate import gate
from genbench.stats.comparison.paired import paired
from genbench.stats.estimates import estimate
from genbench.stats.resample import RESAMPLES
from genbench.stats.scores import Floats

SHAPES = ((30, 64), (198, 8), (268, 16), (541, 1), (500, 4))
REPEATS = 5


def drawn(n: int, k: int, drop: float, rng: np.random.Generator) -> Floats:
    """Right and wrong answers (n, k) to problems of beta-shaped difficulty."""
    difficulty = np.random.default_rng(n).beta(0.54, 0.54, size=(n, 1))
    return (rng.random((n, k)) < difficulty - drop).astype(np.float64)


def best_seconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def peak_megabytes(work: Callable[[], object]) -> float:
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def main() -> None:
    rng = np.random.default_rng(0)
    suite = {f"{n}x{k}": (drawn(n, k, 0.0, rng), drawn(n, k, 0.01, rng)) for n, k in SHAPES}

    def ours_interval(name: str, side: int = 0) -> None:
        estimate("avg@k", suite[name][side], seed=1)

    def ours_paired(name: str) -> None:
        paired(*suite[name])

    def scipy_interval(name: str, side: int = 0) -> None:
        scipy.stats.bootstrap(
            (suite[name][side].mean(axis=1),), np.mean, n_resamples=RESAMPLES, method="percentile", rng=1
        )

    def scipy_flips(name: str) -> None:
        difference = (suite[name][1] - suite[name][0]).mean(axis=1)
        scipy.stats.permutation_test(
            (difference,), np.sum, permutation_type="samples", n_resamples=RESAMPLES, vectorized=True, rng=1
        )

    def whole(interval: Callable[[str, int], None], comparison: Callable[[str], None]) -> None:
        for name in suite:
            interval(name, 0)
            interval(name, 1)
            comparison(name)

    print(f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}")
    print(f"{'task':10}{'interval':>12}{'scipy':>12}{'paired':>12}{'scipy':>12}   (ms)")
    for name in suite:
        works = (ours_interval, scipy_interval, ours_paired, scipy_flips)
        times = [best_seconds(partial(work, name)) * 1e3 for work in works]
        print(f"{name:10}" + "".join(f"{ms:12.1f}" for ms in times))
    for label, suite_work in (
        ("genbench", partial(whole, ours_interval, ours_paired)),
        ("scipy", partial(whole, scipy_interval, scipy_flips)),
    ):
        print(f"suite, {label:9} {best_seconds(suite_work):.3f} s, peak {peak_megabytes(suite_work):.1f} MB")
    compared = {name: paired(*pair) for name, pair in suite.items()}
    print(f"gate over the five tasks   {best_seconds(partial(gate, compared)):.3f} s")


if __name__ == "__main__":
    main()
