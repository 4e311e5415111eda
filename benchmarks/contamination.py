"""Errors of the tests of `genbench contamination runs`: clean models suspected, leaks found.

    python benchmarks/contamination.py [--nights 4000]

Flips: AIME 2025 with the published rates of twelve models if $GENBENCH_GOLD/data/rates has them, and 198
made-up problems of beta(0.6, 0.8). A clean model moves each rate towards that of another model by w. In the
rows "third new" the tested model has new rates in a third of the made-up problems, an honest step that is
larger than the earlier ones. All models have the same base (64 samples); each draws 16. A leak makes some
problems always right. Order: 198 problems of four options; a model with memory is right more often in the
order of the dataset.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from genbench.stats.contamination import (
    LARGE_STEP,
    OrderedSamples,
    OrderEffect,
    closeness,
    effect_test,
    flip_test,
    miracle_flips,
    order_effect,
    step_size,
)
from genbench.stats.scores import Floats

RNG = np.random.Generator


def published() -> Sequence[Floats]:
    path = Path(os.environ.get("GENBENCH_GOLD", "")) / "data/rates/aime2025_pass_counts.jsonl"
    if not path.exists():
        return ()
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [np.array(row["passes"]) / row["samples_per_problem"] for row in rows]


def models(real: Sequence[Floats], earlier: int, weight: float, rng: RNG) -> list[Floats]:
    """Return the true rates of base, the earlier models and the tested one, all clean."""
    if real:
        chosen = [real[at] for at in rng.permutation(len(real))[: earlier + 2]]
        base = chosen[0]
        return [base, *(base + weight * (other - base) for other in chosen[1:])]
    base = rng.beta(0.6, 0.8, size=198)
    others = [np.where(rng.random(198) < 0.5, base, rng.beta(0.6, 0.8, size=198)) for _ in range(earlier + 1)]
    return [base, *(base + weight * (other - base) for other in others)]


def flips(nights: int) -> None:
    print(
        "| problems | w | earlier runs | clean model suspected % | leak of 5 % found | leak of 10 % found |"
    )
    print("|---|---|---|---|---|---|")
    for real in (published(), ()):
        for weight in (0.1, 0.3, 1.0):
            for earlier in (1, 3, 6):
                cells = [
                    f"{_suspected(nights, real, weight, earlier, leak):.1f}" for leak in (0.0, 0.05, 0.1)
                ]
                name = "AIME 2025, 30" if real else "made up, 198"
                print(f"| {name} | {weight} | {earlier} | {' | '.join(cells)} |", flush=True)
    for earlier in (3, 6):
        clean = _suspected(nights, (), 0.1, earlier, 0.0, new=1 / 3)
        print(f"| made up, 198 | 0.1, third new | {earlier} | {clean:.1f} | - | - |", flush=True)


def _suspected(
    nights: int, real: Sequence[Floats], weight: float, earlier: int, leak: float, *, new: float = 0.0
) -> float:
    found = 0
    for seed in range(nights):
        rng = np.random.default_rng([seed, 17])
        base, *past, tested = models(real, earlier, weight, rng)
        leaked = rng.permutation(len(base))[: round(leak * len(base))]
        tested = tested.copy()
        tested[leaked] = 1.0
        changed = rng.random(len(base)) < new
        tested[changed] = rng.beta(0.6, 0.8, size=int(changed.sum()))
        left, right = rng.binomial(64, base) / 64, rng.binomial(16, tested) / 16
        own = miracle_flips(left, right)
        drawn = [rng.binomial(16, rates) / 16 for rates in past]
        if step_size(left, right) > LARGE_STEP * max(step_size(left, other) for other in drawn):
            continue
        others = [miracle_flips(left, other) for other in drawn]
        count, chances = sum(item.count for item in others), sum(item.chances for item in others)
        p = flip_test(own.count, own.chances, count, chances)
        found += own.count >= 2 and p is not None and p <= 0.05
    return 100 * found / nights


def orders(nights: int) -> None:
    print("\n| k | rise by memory, points | suspected % |\n|---|---|---|")
    for k in (4, 8, 16):
        for memory in (0.0, 0.05, 0.1, 0.2):
            hits = 0
            for seed in range(nights):
                rng = np.random.default_rng([seed, 5])
                rates = rng.beta(0.6, 0.8, size=198)
                left, right = (_effect(rates, k, part, rng) for part in (0.0, memory))
                hits += effect_test(left, right) <= 0.05
            print(f"| {k} | {100 * memory:.0f} | {100 * hits / nights:.1f} |", flush=True)


def _effect(rates: Floats, k: int, memory: float, rng: RNG) -> OrderEffect:
    problems = []
    for rate in rates:
        orders = [rng.permutation(4) for _ in range(k)]
        close = np.array([closeness(order.tolist()) for order in orders])
        places = [int(np.flatnonzero(order == 1)[0]) for order in orders]
        chance = np.clip(rate + memory * (close - 0.5) + 0.05 * (np.array(places) == 0), 0, 1)
        problems.append(OrderedSamples((rng.random(k) < chance).astype(float), close, places))
    found = order_effect(problems)
    assert found is not None
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--nights", type=int, default=4000)
    options = parser.parse_args()
    flips(options.nights)
    orders(max(20, options.nights // 20))


if __name__ == "__main__":
    main()
