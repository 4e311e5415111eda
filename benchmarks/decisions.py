"""Simulated errors of the gate's verdicts on nights whose truth is known, before and now.

    python benchmarks/decisions.py [--nights 500] [--part suite] [--only collapse]

One night draws a stored base and a tuned model, and decides. Problems' true rates are made here, in the
shapes of public benchmarks. AIME 2025 has the published rates of twelve models if the folder
$GENBENCH_GOLD/data/rates has them. A neighbouring checkpoint moves each rate a little towards that of another
model with the same mean. "Before" is the rule of version 0.2: a t bound, and every gating task non-inferior.
A night that lost exactly the margin must not be called NON_INFERIOR more often than in 5 % of cases.
`headline` counts the suites whose first line contradicts the interval of its mean. `unchanged` and `looks`
draw unchanged models with few samples against a stored base of 64, and `falls` losses of 5 points: "before"
are flips of signs without the test of exchange. Hard settings get five times as many nights. One thread.
Prints Markdown tables.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is imported

import numpy as np
from scipy.special import stdtrit
from scipy.stats import hypergeom

from genbench.analysis.comparison.compare import CompareOptions, Comparison, compare_sides
from genbench.analysis.sides.side import Side, SideTask
from genbench.analysis.stopping import SharePair, Shares, stopping_changes
from genbench.nights.policy.config import TaskPolicy
from genbench.nights.policy.gate import gated_task
from genbench.reports.explanations import headline
from genbench.reports.numbers import interval
from genbench.stats.adaptive.group_sequential import Night, plan_looks, sure_problems, task_rule
from genbench.stats.comparison.differences import lower_bound, mover_lower
from genbench.stats.comparison.gate import MARGIN, MIN_PROBLEMS, Gate, gate
from genbench.stats.comparison.paired import Paired, paired
from genbench.stats.comparison.sign_flip_test import sign_flip
from genbench.stats.estimates import estimate
from genbench.stats.intervals import effective_n, expanded_tail, problem_interval, unseen_share, wilson
from genbench.stats.resample import Clusters, bootstrap_means, cluster
from genbench.stats.scores import Floats, Ints, Scores

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


@dataclass(frozen=True, slots=True)
class Setting:
    """One task whose base has 64 samples: its problems, samples of tuned, mean and intraclass correlation."""

    n: int
    k: int
    mean: float
    icc: float

    def __str__(self) -> str:
        return f"{self.n} x 64/{self.k} at {self.mean:g}, ICC {self.icc:g}"

    def rates(self, rng: RNG) -> Floats:
        total = 1 / self.icc - 1
        return np.asarray(rng.beta(self.mean * total, (1 - self.mean) * total, size=self.n))


HARDEST = tuple(
    Setting(n, k, mean, 0.02)
    for n, k, mean in ((20, 1, 0.01), (20, 1, 0.03), (100, 1, 0.01), (100, 1, 0.03), (400, 1, 0.02),
                       (20, 4, 0.01), (100, 4, 0.02), (20, 1, 0.97), (100, 1, 0.98), (20, 16, 0.02))
)  # fmt: skip
"""Those in which flips of signs erred most, in 8 to 66 % of 200 nights."""
OTHERS = (
    *(
        Setting(n, k, mean, icc)
        for icc in (0.02, 0.5)
        for mean in (0.01, 0.05, 0.2, 0.5, 0.9, 0.99)
        for n, k in ((20, 16), (50, 1), (50, 4), (200, 1))
    ),
    Setting(1000, 1, 0.02, 0.5),
    Setting(1000, 4, 0.9, 0.5),
)


def samples(right: Ints, k: int) -> Scores:
    """Return scores (n, k) of which `right` (n,) of each problem are 1."""
    values = (np.arange(k) < right[:, None]).astype(np.float64)
    return Scores(values, np.full(len(right), k, dtype=np.int64))


def flipped(found: Paired) -> Paired:
    """Return a difference with the p values of flips of signs only."""
    assert found.clusters is not None
    flips = sign_flip(found.clusters.totals)
    tests = {"p_regression": flips.p_regression, "p_improvement": flips.p_improvement, "law": None}
    return found.model_copy(update=tests | {"p_improvement_worst": None})


def is_far_from_any(differences: Floats) -> bool:
    """Return whether no level of the gate is near, so that the exact tests need not be made."""
    return abs(float(differences.sum())) <= 1.2 * math.sqrt(float((differences**2).sum()))


NIGHTLY = TaskPolicy(tier="critical", margin=0.0)
BUDGET = 1 / 365


def unchanged(nights: int) -> None:
    """Print how often unchanged models are REGRESSED, IMPROVED, and failed by the nightly gate."""
    print("| setting | nights | REGRESSED % | IMPROVED % | gate of one alarm a year, of 1,000 nights |")
    print("|---|---|---|---|---|")
    for setting in (*HARDEST, *OTHERS):
        count, verdicts, failed = nights * (5 if setting in HARDEST else 1), Counter[str](), [0, 0]
        for seed in range(count):
            rng = np.random.default_rng([seed, 31])
            rate = setting.rates(rng)
            base, tuned = (samples(rng.binomial(k, rate), k) for k in (64, setting.k))
            if is_far_from_any(tuned.means - base.means):
                continue
            found = paired(base, tuned)
            for at, one in enumerate((flipped(found), found)):
                verdicts[f"{gate({'t': one}).verdict} {at}"] += 1
                failed[at] += gated_task(NIGHTLY, one, BUDGET).state == "failed"
        cells = [
            " -> ".join(f"{100 * verdicts[f'{verdict} {at}'] / count:.1f}" for at in (0, 1))
            for verdict in ("REGRESSED", "IMPROVED")
        ] + [" -> ".join(f"{1000 * item / count:.1f}" for item in failed)]
        print(f"| {setting} | {count:,} | " + " | ".join(cells) + " |", flush=True)


def looks(nights: int) -> None:
    """Print how often adaptive runs of unchanged models are REGRESSED in the hardest settings."""
    print("| setting | runs | REGRESSED % |\n|---|---|---|")
    for setting in (replace(item, k=max(4, item.k)) if item.n == 20 else item for item in HARDEST):
        rule, regressed = task_rule(plan_looks(setting.n, setting.k)), [0, 0]
        for seed in range(nights):
            rng = np.random.default_rng([seed, 37])
            rate = setting.rates(rng)
            base = samples(rng.binomial(64, rate), 64)
            tuned = rng.random((setting.n, setting.k)) < rate[:, None]
            sure = sure_problems(base)
            for at in (0, 1):
                state = Night({"t": rule})
                while not state.is_over:
                    drawn = rule.looks.samples(state.reached["t"], sure)
                    rows = np.flatnonzero(drawn).tolist()
                    own = [tuned[row, : drawn[row]].tolist() for row in rows]
                    found = paired(base.take(rows), own)
                    state.look({"t": found if at else flipped(found)})
                regressed[at] += state.decisions["t"] == "REGRESSED"
        cells = " -> ".join(f"{100 * count / nights:.1f}" for count in regressed)
        print(f"| {setting} | {nights:,} | {cells} |", flush=True)


FALLS = tuple(
    Setting(n, k, mean, icc)
    for icc, mean in (
        (0.02, 0.06),
        (0.02, 0.1),
        (0.02, 0.3),
        (0.5, 0.06),
        (0.5, 0.1),
        (0.5, 0.6),
        (0.5, 0.95),
    )
    for n, k in ((100, 1), (400, 1), (198, 8), (50, 16))
)


def most_powerful(base: Scores, tuned: Scores) -> float:
    """Return how often the most powerful test of 5 % of equal odds finds a drop with these samples.

    It is the conditional test of the number of tuned's right samples. What is missing to 5 % is drawn.
    """
    m, k, right = base.k, tuned.k, int(tuned.values.sum())
    both = (base.values.sum(axis=1) + tuned.values.sum(axis=1)).astype(int)
    laws, size = right_samples(m, k), 2 ** (base.n * k).bit_length()
    spectrum = np.ones(size // 2 + 1, dtype=np.complex128)
    for total, count in zip(*np.unique(both, return_counts=True), strict=True):
        spectrum *= np.fft.rfft(laws[total], size) ** count
    law = np.maximum(np.fft.irfft(spectrum, size), 0.0)
    return float(np.clip((0.05 - law[:right].sum()) / max(float(law[right]), 1e-300), 0, 1))


@cache
def right_samples(m: int, k: int) -> Floats:
    """Return the chances (m + k + 1, k + 1) of tuned's right samples, by the right ones of both runs."""
    return np.array([hypergeom.pmf(np.arange(k + 1), m + k, total, k) for total in range(m + k + 1)])


def falls(nights: int) -> None:
    """Print how often a fall of 5 points is found, by the rarer samples expected of an unchanged model."""
    print(
        "| setting | expected | spread: found % (most powerful test of 5 %) | collapse |\n|---|---|---|---|"
    )
    for setting in FALLS:
        cells = []
        for how in ("spread", "collapse"):
            hits = np.zeros(3)
            for seed in range(nights):
                rng = np.random.default_rng([seed, 41])
                rate = setting.rates(rng)
                moved = lowered(rate, 0.05, how, rng)
                base, tuned = (samples(rng.binomial(k, p), k) for k, p in ((64, rate), (setting.k, moved)))
                found = paired(base, tuned)
                verdicts = [gate({"t": one}).verdict == "REGRESSED" for one in (flipped(found), found)]
                hits += (*verdicts, most_powerful(base, tuned))
            before, now, most = 100 * hits / nights
            cells.append(f"{before:.1f} -> {now:.1f} ({most:.1f})")
        events = setting.n * setting.k * min(setting.mean, 1 - setting.mean)
        print(f"| {setting} | {events:.0f} | " + " | ".join(cells) + " |", flush=True)


def side(path: str, tasks: Mapping[str, Ints]) -> Side:
    """Return a score file with one sample (n,) of each problem of each task."""
    found = {
        name: SideTask(name, tuple(map(str, range(len(scores)))), tuple((float(s),) for s in scores))
        for name, scores in tasks.items()
    }
    return Side(Path(path), path, path, found)


def first_line(seed: int, *, is_changed: bool) -> Comparison:
    """Return the comparison of one suite of 1 to 10 tasks, of which about a half gate."""
    rng = np.random.default_rng([seed, 43])
    names = [f"t{number}" for number in range(rng.integers(1, 11))]
    by = rng.normal(0, 0.1) if is_changed else 0.0
    drawn: list[dict[str, Ints]] = [{}, {}]
    for name in names:
        n, level = rng.choice([10, 20, 60, 120, 300]), rng.random()
        rate = rng.beta(level + 0.1, 1.1 - level, size=n)
        move = by + rng.normal(0, 0.1) if is_changed else 0.0
        for at, rates in enumerate((rate, np.clip(rate + move, 0, 1))):
            drawn[at][name] = (rng.random(n) < rates).astype(np.int64)
    gating = names[: 1 + len(names) // 2]
    base, tuned = map(side, ("base", "tuned"), drawn)
    return compare_sides(base, tuned, CompareOptions(gating=gating))


def headlines(nights: int) -> None:
    """Print the first lines that contradict the interval of their mean, and clauses on unchanged suites."""
    print("| first lines | suites | against the interval | without it | a task that does not gate, named % |")
    print("|---|---|---|---|---|")
    for is_changed in (False, True):
        against, without, clauses, verdicts = 0, 0, 0, Counter[str]()
        for seed in range(nights // 2):
            record = first_line(seed, is_changed=is_changed)
            text, ci = headline(record), record.suite.plain_ci or (-1.0, 1.0)
            sides = {"is better": ci[0] > 0, "is worse": ci[1] < 0, "No clear": ci[0] <= 0 <= ci[1]}
            against += any(words in text and not holds for words, holds in sides.items())
            against += "cannot be told" in text or "held" in text
            without += interval(ci) not in text
            clauses += "Not gating" in text
            verdicts[record.suite.verdict] += 1
        label = "changed" if is_changed else "unchanged"
        count = sum(verdicts.values())
        print(f"| {label} | {count:,} | {against} | {without} | {100 * clauses / count:.1f} |", flush=True)
        print(
            f"{label}: " + ", ".join(f"{name} {many:,}" for name, many in verdicts.items()), file=sys.stderr
        )


def endings(nights: int) -> None:
    """Print how often an unchanged suite of five tasks is said to end its replies otherwise."""
    print("| samples | suites | before % | now % |\n|---|---|---|---|")
    for n, k in ((20, 1), (60, 4), (200, 1)):
        told = [0, 0]
        for seed in range(nights):
            rng, pairs = np.random.default_rng([seed, 47]), list[SharePair]()
            for mean in (0.01, 0.05, 0.3, 0.9, 0.97):
                rate = Setting(n, k, mean, 0.1).rates(rng)
                cut = [(rng.binomial(many, rate) / many).tolist() for many in (64, k)]
                none = [0.0] * n
                sides: list[Shares] = [{"cut_off": one, "loops": none, "empty": none} for one in cut]
                pairs.append(SharePair(sides[0], sides[1], None, n * k, (64, k)))
            for at, known in enumerate(([replace(pair, ks=None) for pair in pairs], pairs)):
                found = stopping_changes({str(place): pair for place, pair in enumerate(known)})
                told[at] += any(change.cut_off.is_shown for change in found.values())
        cells = " | ".join(f"{100 * count / nights:.1f}" for count in told)
        print(f"| five tasks of {n} x 64/{k} | {nights:,} | {cells} |", flush=True)


PARTS = {
    "tasks": tasks,
    "suite": suite,
    "intervals": intervals,
    "headline": headlines,
    "unchanged": unchanged,
    "looks": looks,
    "falls": falls,
    "endings": endings,
}


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
