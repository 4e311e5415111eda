"""Coverage and width of judged scores that labels of people correct, on simulated judges of known errors.

python benchmarks/labels.py [--repetitions N] [--json FILE] [--agreement N]
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from pathlib import Path

import numpy as np

from genbench.stats.agreement import cohens_kappa, krippendorffs_alpha
from genbench.stats.labels import corrected_mean, fisher_exact

LABELS, TRUE, JUDGES = (50, 100, 200), (0.3, 0.5, 0.7, 0.95), ((0.97, 0.97), (0.9, 0.85), (0.7, 0.7))
PROBLEMS = 1000


def judged(rng: np.random.Generator, truth: np.ndarray, right: float, wrong: float) -> np.ndarray:
    """Return the verdicts of a judge of sensitivity `right` and specificity `wrong`."""
    return np.where(truth > 0, rng.random(truth.shape) < right, rng.random(truth.shape) >= wrong).astype(
        float
    )


def cell(
    rng: np.random.Generator, labels: int, true: float, judge: tuple[float, float], repetitions: int
) -> dict[str, float]:
    """Return the coverage in percent and the mean width in points of one model's corrected score."""
    inside, alone, widths, others = 0, 0, list[float](), list[float]()
    for _ in range(repetitions):
        truth = (rng.random(PROBLEMS) < true).astype(float)
        found = judged(rng, truth, *judge)
        one = corrected_mean(truth[:labels], found[:labels], found[labels:])
        inside += one.ci[0] <= true <= one.ci[1]
        alone += one.labels_ci[0] <= true <= one.labels_ci[1]
        widths.append(one.ci[1] - one.ci[0])
        others.append(one.labels_ci[1] - one.labels_ci[0])
    return {
        "coverage": 100 * inside / repetitions,
        "labels": 100 * alone / repetitions,
        "width": 100 * float(np.mean(widths)),
        "labels_width": 100 * float(np.mean(others)),
        "widest": float(np.max(np.array(widths) / np.maximum(others, 1e-9))),
    }


def paired(
    rng: np.random.Generator, labels: int, true: float, judge: tuple[float, float], repetitions: int
) -> dict[str, float]:
    """Return the same of tuned - base, where tuned is 3 points better and the judge is lenient to it."""
    lenient = 0.05 if judge[1] > 0.8 else 0.0
    gain, inside, widths, others, naive = 0.03, 0, list[float](), list[float](), 0
    for _ in range(repetitions):
        ability = rng.beta(4 * true, 4 * (1 - true), PROBLEMS)
        base = (rng.random(PROBLEMS) < ability).astype(float)
        tuned = (rng.random(PROBLEMS) < np.clip(ability + gain * (ability < 1 - gain), 0, 1)).astype(float)
        real = float(np.mean(np.clip(ability + gain * (ability < 1 - gain), 0, 1) - ability))
        left = judged(rng, base, *judge)
        right = judged(rng, tuned, min(judge[0] + lenient / 2, 1), judge[1] - lenient)
        truth, seen = tuned - base, right - left
        one = corrected_mean(truth[:labels], seen[:labels], seen[labels:], bounds=(-1, 1))
        half = 1.96 * float(seen.std(ddof=1)) / PROBLEMS**0.5
        inside += one.ci[0] <= real <= one.ci[1]
        naive += abs(float(seen.mean()) - real) <= half
        widths.append(one.ci[1] - one.ci[0])
        others.append(one.labels_ci[1] - one.labels_ci[0])
    return {
        "coverage": 100 * inside / repetitions,
        "judge_alone": 100 * naive / repetitions,
        "width": 100 * float(np.mean(widths)),
        "labels_width": 100 * float(np.mean(others)),
        "widest": float(np.max(np.array(widths) / np.maximum(others, 1e-9))),
    }


def lenience_found(
    rng: np.random.Generator, labels: int, repetitions: int, tuned: tuple[float, float] = (0.94, 0.65)
) -> float:
    """Return in percent how often a test of equal errors finds a judge that errs otherwise on tuned.

    On base its sensitivity and specificity are 0.9 and 0.85. Six answers of ten are right.
    """
    found = 0
    for _ in range(repetitions):
        truth = (rng.random((2, labels)) < 0.6).astype(float)
        seen = judged(rng, truth[0], 0.9, 0.85), judged(rng, truth[1], *tuned)
        tests = []
        for right in (1, 0):
            own = [
                (int(np.sum((said > 0) & (true == right))), int(np.sum(true == right)))
                for said, true in zip(seen, truth, strict=True)
            ]
            tests.append(fisher_exact(own[0], own[1]))
        found += min(tests) <= 0.05
    return 100 * found / repetitions


SHARES = ((0.5, 0.5), (0.9, 0.1), (0.95, 0.05), (0.6, 0.3, 0.1), (0.2,) * 5)
"""How often each label is right."""


def agreement(items: int, raters: int, shares: tuple[float, ...], same: float, repetitions: int) -> float:
    """Return the coverage in percent of kappa's interval (alpha's of three raters and more).

    Each rater gives an item's label with the chance `same`, or else one by chance: kappa is same².
    """
    rng, inside, given = np.random.default_rng([items, raters, int(100 * same)]), 0, 0
    for seed in range(repetitions):
        truth = rng.choice(len(shares), (items, 1), p=shares)
        by_chance = rng.choice(len(shares), (items, raters), p=shares)
        said = np.where(rng.random((items, raters)) < same, truth, by_chance).astype(str)
        found = (
            cohens_kappa(*said.T.tolist(), seed=seed)
            if raters == 2
            else krippendorffs_alpha(said.tolist(), seed=seed)
        )
        if found.ci is not None:
            given += 1
            inside += found.ci[0] <= same**2 <= found.ci[1]
    return 100 * inside / max(given, 1)


def agreements(repetitions: int) -> float:
    """Print the coverage of kappa and alpha, and return the least."""
    found = dict[tuple[int, int], list[float]]()
    for items, raters in itertools.product((50, 100, 200), (2, 3, 4, 5)):
        own = [
            agreement(items, raters, shares, same, repetitions)
            for shares, same in itertools.product(SHARES, (0.4, 0.7, 0.97))
        ]
        found[items, raters] = own
        print(f"{items:3} items, {raters} raters: {min(own):.1f} to {max(own):.1f} % covered", flush=True)
    return min(min(own) for own in found.values())


def main() -> None:
    """Print a line for each cell, and write all as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--agreement", type=int, metavar="N", help="coverage of kappa, N repetitions a cell")
    given = parser.parse_args()
    if given.agreement:
        sys.exit(agreements(given.agreement) < 92.0 - 3 * 100 * (0.92 * 0.08 / given.agreement) ** 0.5)
    rows = list[dict[str, object]]()
    rng = np.random.default_rng(20261126)
    for labels, true, judge in itertools.product(LABELS, TRUE, JUDGES):
        for kind in ("score", "difference"):
            simulate = cell if kind == "score" else paired
            own = simulate(rng, labels, true, judge, given.repetitions)
            rows.append({"kind": kind, "n": labels, "true": true, "judge": judge, **own})
            said = "  ".join(
                f"{key} {value:.1f}" if key != "widest" else f"{key} {value:.2f}"
                for key, value in own.items()
            )
            print(
                f"{kind:10} n {labels:3} true {true:.2f} judge {judge[0]:.2f}/{judge[1]:.2f}  {said}",
                flush=True,
            )
    least = min(float(str(row["coverage"])) for row in rows)
    print(f"{len(rows)} cells: coverage {least:.1f} % or more")
    power: dict[str, float] = {}
    for labels, tuned in ((200, (0.94, 0.65)), (200, (0.94, 0.80)), (1000, (0.94, 0.80))):
        found = lenience_found(rng, labels, given.repetitions // 4, tuned)
        power[f"{labels} labels, {tuned}"] = found
        print(
            f"{labels} labels of each side find a judge of 0.9/0.85 that is {tuned} on tuned in {found:.0f} %"
        )
    if given.json:
        given.json.write_text(json.dumps({"rows": rows, "equal_errors_found": power}, indent=1))
    sys.exit(least < 92.0)


if __name__ == "__main__":
    main()
