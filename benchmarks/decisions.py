"""Simulated errors of the gate's verdicts on nights whose truth is known, before and now.

    python benchmarks/decisions.py [--nights 500] [--part tasks|suite|intervals|headline] [--only collapse]

One night draws a stored base and a tuned model, and decides. Problems' true rates are made here, in the
shapes of public benchmarks. AIME 2025 has the published rates of twelve models if the folder
$GENBENCH_GOLD/data/rates has them. A neighbouring checkpoint moves each rate a little towards that of another
model with the same mean. "Before" is the rule of version 0.2: a t bound, and every gating task non-inferior.
A night that lost exactly the margin must not be called NON_INFERIOR more often than in 5 % of cases.
`headline` counts the suites whose first line has the sign of the mean of their table. One thread. Prints
Markdown tables.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is imported

import numpy as np
from scipy.special import stdtrit

from genbench.analysis.comparison.compare import compare
from genbench.reports.explanations import headline
from genbench.reports.numbers import signed
from genbench.stats.comparison.differences import lower_bound, mover_lower
from genbench.stats.comparison.gate import MARGIN, MIN_PROBLEMS, Gate, gate
from genbench.stats.comparison.paired import Paired, paired
from genbench.stats.estimates import estimate
from genbench.stats.intervals import effective_n, expanded_tail, problem_interval, unseen_share, wilson
from genbench.stats.resample import Clusters, bootstrap_means, cluster
from genbench.stats.scores import Floats

RNG = np.random.Generator


@dataclass(frozen=True, slots=True)
class Task:
    """One gating task: its problems, samples of the stored base and of tuned, and its true rates.

    `shape` are the parameters of the beta law of the problems' rates. `margin` is a fraction of 1.
    """

    name: str
    n: int
    k_base: int
    k_tuned: int
    shape: tuple[float, float]
    margin: float = MARGIN

    @property
    def mean(self) -> float:
        return self.shape[0] / sum(self.shape)


SUITE = (
    Task("aime25", 30, 64, 64, (0.25, 0.50), 0.06),
    Task("gpqa_diamond", 198, 64, 8, (0.6, 0.8)),
    Task("livecodebench", 268, 64, 16, (0.25, 0.6)),
    Task("ifeval", 541, 16, 1, (1.0, 0.4)),
    Task("mixeval_hard", 1000, 8, 1, (0.4, 0.7)),
    Task("gsm_plus", 2400, 8, 1, (1.2, 0.25)),
)
"""The generative tasks of a public post-training suite, with its problems and samples."""


def published() -> Sequence[Floats]:
    """Return the published rates of AIME 2025 by model, best first, or nothing."""
    gold = os.environ.get("GENBENCH_GOLD")
    path = Path(gold or "") / "data" / "rates" / "aime2025_pass_counts.jsonl"
    if not gold or not path.exists():
        return ()
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rates = [np.array(row["passes"]) / row["samples_per_problem"] for row in rows]
    return sorted(rates, key=lambda rate: -rate.mean())


def rates(task: Task, weight: float, models: Sequence[Floats], rng: RNG) -> tuple[Floats, Floats]:
    """Return the true rates (n,) of base and of a neighbour: the same mean over the problems' population."""
    if task.name == "aime25" and models:
        first, second = (models[at] for at in rng.choice(len(models), 2, replace=False))
        rows = rng.integers(0, len(first), size=task.n)
        moved = first + weight * (second - first)
        excess = moved.mean() - first.mean()
        moved = (
            moved * (first.mean() / moved.mean())
            if excess > 0
            else 1 - (1 - moved) * ((1 - first.mean()) / (1 - moved.mean()))
        )
        return first[rows], moved[rows]
    base = rng.beta(*task.shape, size=task.n)
    # The other model agrees on two problems of three.
    other = np.where(rng.random(task.n) < 0.67, base, rng.beta(*task.shape, size=task.n))
    return base, base + weight * (other - base)


def lowered(p: Floats, loss: float, shape: str, rng: RNG) -> Floats:
    """Return rates whose expected mean is `loss` (a fraction of 1) lower, spread or by collapse."""
    if loss == 0:
        return p
    share = min(1.0, abs(loss) / max(float(p.mean()), 1e-9))
    if loss < 0:
        return np.asarray(p + (1 - p) * min(1.0, -loss / max(1 - float(p.mean()), 1e-9)))
    if shape == "spread":
        return np.asarray(p * (1 - share))
    return np.where(rng.random(len(p)) < share, 0.0, p)


def drawn(p: Floats, k: int, rng: RNG) -> Floats:
    return (rng.random((len(p), k)) < p[:, None]).astype(np.float64)


def night(
    losses: Sequence[float], shape: str, weight: float, models: Sequence[Floats], seed: int
) -> dict[str, Paired]:
    rng = np.random.default_rng([seed, 11])
    found = {}
    for task, loss in zip(SUITE, losses, strict=True):
        base, tuned = rates(task, weight, models, rng)
        found[task.name] = paired(
            drawn(base, task.k_base, rng), drawn(lowered(tuned, loss, shape, rng), task.k_tuned, rng)
        )
    return found


def t_bound(clusters: Clusters) -> float:
    """Return the lower bound of version 0.2."""
    se = clusters.se or 0.0
    bound = clusters.mean - float(stdtrit(clusters.count - 1, 0.95)) * se
    return bound if (clusters.totals < 0).any() else min(bound, -unseen_share(clusters.count, 0.05))


def before(found: Mapping[str, Paired], now: Gate) -> str:
    """Return the suite's verdict by the rule of version 0.2."""
    verdicts = {task.verdict for task in now.tasks.values()}
    if now.verdict == "REGRESSED":
        return "REGRESSED"
    if "IMPROVED" in verdicts or now.pooled.p_improvement <= now.alpha_pooled:
        return "IMPROVED"
    small = any(task.n < MIN_PROBLEMS for task in found.values())
    shown = all(
        t_bound(task.clusters) > -now.tasks[name].margin for name, task in found.items() if task.clusters
    )
    return "NON_INFERIOR" if shown and not small else "INCONCLUSIVE"


Story = tuple[Sequence[float], str, float]
"""The loss of each task, its shape, and how far the neighbour moves at random."""


def stories() -> dict[str, Story]:
    """Return what may really have happened to the tasks of the suite."""
    many, m = len(SUITE), MARGIN
    found: dict[str, Story] = {
        f"unchanged, w {weight}": ((0.0,) * many, "spread", weight) for weight in (0.0, 0.1, 0.3)
    }
    for shape in ("spread", "collapse"):
        found[f"all -3, {shape}"] = ((m,) * many, shape, 0.1)
        found[f"every second task -6, {shape}"] = ((0, 2 * m) * (many // 2), shape, 0.1)
        found[f"all -1, {shape}"] = ((0.01,) * many, shape, 0.1)
        for at in (0, 1, 3):
            one = [0.0] * many
            one[at] = 2 * SUITE[at].margin
            found[f"{SUITE[at].name} {-100 * one[at]:.0f}, {shape}"] = (one, shape, 0.1)
    found["aime25 -6, spread"] = ((2 * m, *(0.0,) * (many - 1)), "spread", 0.1)
    found["gpqa_diamond -6, the others +3"] = ((-m, 2 * m, *(-m,) * (many - 2)), "spread", 0.1)
    return found


def suite(nights: int, only: str = "") -> None:
    """Verdicts of the suite by what really happened, for the nights whose label contains `only`."""
    models = published()
    margins = {task.name: task.margin for task in SUITE}
    print(f"AIME rates: {'published' if models else 'made'}\n")
    print("| night | REGRESSED | IMPROVED | NON_INFERIOR | INCONCLUSIVE | before: NI | before: --strict |")
    print("|---|---|---|---|---|---|---|")
    chosen = {label: story for label, story in stories().items() if only in label}
    for label, (losses, shape, weight) in chosen.items():
        now, old, old_strict = Counter[str](), Counter[str](), 0
        for seed in range(nights):
            found = night(losses, shape, weight, models, seed)
            decision = gate(found, margins=margins)
            now[decision.verdict] += 1
            verdict = before(found, decision)
            old[verdict] += 1
            single = {task.verdict for task in decision.tasks.values()}
            old_strict += verdict not in ("REGRESSED", "INCONCLUSIVE") and not single & {
                "REGRESSED",
                "INCONCLUSIVE",
            }
        order = ("REGRESSED", "IMPROVED", "NON_INFERIOR", "INCONCLUSIVE")
        cells = [f"{100 * now[name] / nights:.1f}" for name in order]
        cells += [f"{100 * old['NON_INFERIOR'] / nights:.1f}", f"{100 * old_strict / nights:.1f}"]
        print(f"| {label} | " + " | ".join(cells) + " |", flush=True)


def tasks(nights: int) -> None:
    """NON_INFERIOR of one task whose true loss is exactly the margin, and of an unchanged one.

    A cell has three rules: the t bound, the bound that fits two moments of the losses, and the one of today.
    """
    shapes = ((100, 64, 4), (130, 64, 8), (198, 64, 8), (500, 16, 4), (1319, 8, 1))
    kinds = {
        "3 % collapse, rest always right": ((1.0, 0.0), "collapse", MARGIN),
        "3 points collapse at mean .94": ((3.0, 0.19), "collapse", MARGIN),
        "3 points collapse at mean .98": ((4.0, 0.08), "collapse", MARGIN),
        "3 points collapse at mean .82": ((1.0, 0.22), "collapse", MARGIN),
        "3 points collapse at mean .6": ((0.6, 0.4), "collapse", MARGIN),
        "3 points collapse at mean .3": ((0.3, 0.7), "collapse", MARGIN),
        "3 points spread at mean .6": ((0.6, 0.4), "spread", MARGIN),
        "unchanged, mean .94": ((3.0, 0.19), "spread", 0.0),
        "unchanged, mean .6": ((0.6, 0.4), "spread", 0.0),
    }
    print("| true loss | " + " | ".join(f"{n}x{kb}/{kt}" for n, kb, kt in shapes) + " |")
    print("|---" * (len(shapes) + 1) + "|")
    for label, (beta, how, loss) in kinds.items():
        cells = []
        for n, k_base, k_tuned in shapes:
            old = matched = new = 0
            for seed in range(nights):
                rng = np.random.default_rng([seed, n])
                p = np.ones(n) if beta[1] == 0 else rng.beta(*beta, size=n)
                mean = 1.0 if beta[1] == 0 else beta[0] / sum(beta)
                share = loss / mean
                q = np.where(rng.random(n) < share, 0.0, p) if how == "collapse" else p * (1 - share)
                clusters = cluster(rng.binomial(k_tuned, q) / k_tuned - rng.binomial(k_base, p) / k_base)
                old += t_bound(clusters) > -MARGIN
                matched += mover_lower(clusters, 0.05) > -MARGIN
                new += lower_bound(clusters, 0.05) > -MARGIN
            cells.append(" -> ".join(f"{100 * granted / nights:.1f}" for granted in (old, matched, new)))
        print(f"| {label} | " + " | ".join(cells) + " |", flush=True)


def thirds(n: int, k: int, mean: float, parts: int, rng: RNG) -> Floats:
    p = rng.beta(mean * 1.08, (1 - mean) * 1.08, size=n)
    return np.asarray((rng.binomial(parts, np.repeat(p[:, None], k, axis=1)) / parts).mean(axis=1))


def intervals(nights: int) -> None:
    """Coverage and width of intervals that were too short."""
    print("| scores | before: coverage % / width | now |")
    print("|---|---|---|")
    for n, k, mean, parts in ((100, 4, 0.98, 3), (198, 8, 0.995, 3), (100, 4, 0.995, 3), (541, 1, 0.98, 3),
                              (541, 1, 0.995, 3), (198, 8, 0.995, 2)):  # fmt: skip

        def draw(rng: RNG, shape: tuple[int, int, float, int] = (n, k, mean, parts)) -> tuple[Floats, float]:
            return thirds(*shape, rng), shape[2]

        _coverage(f"fractions of {parts}, {n}x{k} at {mean}", draw, k, nights, _bootstrap)
    for n, k, mean in ((30, 64, 0.92),):

        def poles(rng: RNG, n: int = n, mean: float = mean) -> tuple[Floats, float]:
            return (rng.random(n) < mean).astype(np.float64), mean

        _coverage(f"always or never right, {n}x{k} at {mean}", poles, k, nights, _half_floor)
    total = 1 / 0.48 - 1
    rng = np.random.default_rng(1)
    many = rng.beta(0.98 * total, 0.02 * total, size=400_000)
    truth = float((1 - (1 - many) ** 8).mean())
    old, new, widths = 0, 0, np.zeros(2)
    for seed in range(nights):
        rng = np.random.default_rng([seed, 3])
        scores = drawn(rng.beta(0.98 * total, 0.02 * total, size=198), 8, rng)
        found = estimate("pass@8", scores, seed=seed, resamples=500)
        assert found.ci is not None
        clusters = cluster((scores.sum(axis=1) > 0).astype(np.float64))
        plain = wilson(clusters.mean, effective_n(clusters.mean, clusters, 1.0))
        old += plain[0] <= truth <= plain[1]
        new += found.ci[0] <= truth <= found.ci[1]
        widths += (plain[1] - plain[0], found.ci[1] - found.ci[0])
    widths *= 100 / nights
    print(
        f"| pass@8, 198x8 at 0.98 | {100 * old / nights:.1f} / {widths[0]:.2f} | "
        f"{100 * new / nights:.1f} / {widths[1]:.2f} |"
    )


Bounds = tuple[float, float]


def _bootstrap(values: Floats, draws: float, seed: int) -> Bounds:
    """Return the interval that fractional scores had: the expanded percentile bootstrap."""
    clusters = cluster(values)
    tail = expanded_tail(clusters.count)
    low, high = np.quantile(bootstrap_means(clusters, seed=seed, resamples=1000), [tail, 1 - tail])
    return float(low), float(high)


def _half_floor(values: Floats, draws: float, seed: int) -> Bounds:
    """Return Wilson with the correlation of 0.5 that few problems had as their floor."""
    clusters = cluster(values)
    p, shrink = clusters.mean, effective_n(1.0, cluster(np.ones(clusters.count)), 1.0) / clusters.count
    n = clusters.count * draws / (1 + (draws - 1) * 0.5)
    if clusters.se:
        n = min(n, p * (1 - p) / clusters.se**2)
    return wilson(p, n * shrink)


def _coverage(
    label: str,
    draw: Callable[[RNG], tuple[Floats, float]],
    draws: float,
    nights: int,
    old: Callable[[Floats, float, int], Bounds],
) -> None:
    hits, widths = np.zeros(2), np.zeros(2)
    for seed in range(nights):
        values, truth = draw(np.random.default_rng([seed, 5]))
        now = problem_interval(values, seed=seed, draws=draws, resamples=1000).bounds
        for at, (low, high) in enumerate((old(values, draws, seed), now)):
            hits[at] += low - 1e-12 <= truth <= high + 1e-12
            widths[at] += high - low
    cells = [f"{100 * hits[at] / nights:.1f} / {100 * widths[at] / nights:.1f}" for at in (0, 1)]
    print(f"| {label} | " + " | ".join(cells) + " |", flush=True)


def headlines(nights: int) -> None:
    """Print how many first lines show the mean of the table, and how often the pool has another sign."""
    rng, counts = np.random.default_rng(7), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(nights):
            lines: list[list[str]] = [[], []]
            for task in range(rng.integers(1, 5)):
                n, level, by = rng.choice([10, 30, 120]), rng.random(), rng.normal(0, 0.15)
                drawn = rng.random((2, n)) < np.array([[level], [level + by]])
                for side in (0, 1):
                    lines[side] += [
                        json.dumps({"task": f"t{task}", "problem_id": str(i), "sample_index": 0, "score": s})
                        for i, s in enumerate(drawn[side].astype(int).tolist())
                    ]
            paths = [Path(folder) / name for name in ("base", "tuned")]
            for path, rows in zip(paths, lines, strict=True):
                path.write_text("\n".join(rows) + "\n")
            record = compare(*paths)
            differences = [item.difference for item in record.tasks.values() if item.difference is not None]
            mean, pooled = fmean(differences), record.suite.pooled_difference
            shown = re.search(r": (?:mean )?([+-]?\d+\.\d) points", headline(record))
            counts["shows the mean" if shown and shown[1] == signed(mean) else "shows another number"] += 1
            counts["the pool has another sign"] += pooled is not None and pooled * mean < 0
    print("| first lines | suites |\n|---|---|")
    for name, count in counts.items():
        print(f"| {name} | {count:,} |")


PARTS = {"tasks": tasks, "suite": suite, "intervals": intervals, "headline": headlines}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--nights", type=int, default=500)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--only", default="", help="only suite nights whose label contains this")
    options = parser.parse_args()
    for part in options.part or PARTS:
        start = time.perf_counter()
        print(f"\n### {part}, {options.nights} nights\n")
        if part == "suite":
            suite(options.nights, options.only)
        else:
            PARTS[part](options.nights)
        print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
