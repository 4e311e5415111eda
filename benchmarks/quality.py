"""`genbench quality` on stored nights, budgets of a million replies, and what a random subset decides.

python benchmarks/quality.py [--nights 60] [--simulations 4000]
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from genbench.analysis.quality import quality
from genbench.stats.budgets import Replies, budget_curve, budget_difference, budgets_up_to, problem_means
from genbench.stats.comparison.differences import lower_bound
from genbench.stats.quality import decision_accuracy
from genbench.stats.resample import cluster

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.nights.ledger.synthetic import make_run


def nights(count: int) -> None:
    """Time `quality` on nights of 14 tasks x 300 problems x 4 samples, verdicts included."""
    rng = np.random.default_rng(1)
    skill = {f"task{number}": rng.beta(1, 1, 300) for number in range(14)}
    with tempfile.TemporaryDirectory() as place:
        folders = []
        for night in range(count):
            scores = {
                name: [[float(rng.random() < p) for _ in range(4)] for p in own]
                for name, own in skill.items()
            }
            folder = Path(place) / f"n{night}"
            make_run(folder, scores, position=20_000 + night, verdicts=night == count - 1)
            folders.append(folder)
            print(f"  {night + 1} of {count} nights", end="\r", flush=True)
        started = time.perf_counter()
        found = quality(folders, is_track=True)
        seconds = time.perf_counter() - started
    print(f"quality of {count} nights x {len(found.tasks)} tasks x 300 problems: {seconds:.1f} s")


def subsets(simulations: int) -> None:
    """Count NON_INFERIOR on 500 of 12,000 problems that lost exactly the margin of 3 points, or nothing.

    The problems are chosen at random, or as those that base failed.
    """
    rng = np.random.default_rng(2)
    n, size, margin = 12_000, 500, 0.03
    p = rng.beta(1.2, 0.8, n)
    for kind in ("random", "base failed"):
        for loss in (margin, 0.0):
            q = np.clip(p - loss * 2 * p * (1 - p) / float(np.mean(2 * p * (1 - p))), 0, 1)
            q -= (float(q.mean()) - float(p.mean())) + loss
            found = 0
            for _ in range(simulations):
                base, tuned = (rng.random(n) < p).astype(float), (rng.random(n) < q).astype(float)
                if kind == "random":
                    chosen = rng.choice(n, size, replace=False)
                else:
                    chosen = rng.choice(np.flatnonzero(base == 0), size, replace=False)
                found += lower_bound(cluster(tuned[chosen] - base[chosen])) > -margin
            print(
                f"{kind}: true loss {100 * loss:.0f}: NON_INFERIOR in {100 * found / simulations:.1f} %",
                flush=True,
            )


def orders(simulations: int) -> None:
    """Count what is said of models of equal skill."""
    rng = np.random.default_rng(3)
    for n, k, models in ((30, 64, 2), (100, 1, 2), (200, 4, 2), (200, 4, 6), (541, 1, 2)):
        skill = rng.beta(0.8, 0.8, (simulations, 1, n))
        means = rng.binomial(k, skill, (simulations, models, n)) / k
        found = [decision_accuracy(own) for own in means]
        kept, apart = (100 * np.mean([getattr(own, key) for own in found]) for key in ("accuracy", "apart"))
        print(
            f"{models} equal models, {n} x {k}: order kept {kept:.1f} %, told apart {apart:.1f} %", flush=True
        )


def million() -> None:
    """Time the budgets of a million stored replies, with intervals and the difference of two runs."""
    rng = np.random.default_rng(0)
    n = 1_000_000
    tokens = rng.integers(100, 32_000, n)
    replies = Replies(
        np.repeat(np.arange(n // 8), 8),
        tokens,
        (0.9 * tokens).astype(np.int64),
        (rng.random(n) < 0.5).astype(float),
    )
    chosen, started = budgets_up_to(32_768), time.perf_counter()
    budget_curve(replies, chosen, n // 8, seed=1)
    means = problem_means(replies, chosen, n // 8)
    budget_difference(means, means)
    seconds = time.perf_counter() - started
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"budgets of {n:,} replies at {len(chosen)} budgets: {seconds:.1f} s, {memory:.0f} MiB", flush=True)


def main() -> None:
    """Print each figure as it is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nights", type=int, default=60)
    parser.add_argument("--simulations", type=int, default=4000)
    given = parser.parse_args()
    orders(given.simulations // 4)
    million()
    nights(given.nights)
    subsets(given.simulations)


if __name__ == "__main__":
    main()
