"""Simulated coverage of the intervals, and error and power of the paired tests and the gate.

    python benchmarks/coverage.py [--reps 1000] [--part intervals|others|groups|rerun|paired|gate|recovery]

Problems' true means are drawn from a beta law with the given mean and ICC (share of a score's
variance that is between problems). Base and tuned are coupled by a Gaussian copula. Prints
Markdown tables. One thread; about nine minutes for all parts on a quiet machine.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is imported

import numpy as np
from scipy.special import betaincinv, ndtr

from genbench.stats.comparison.gate import gate
from genbench.stats.comparison.paired import Paired, paired
from genbench.stats.comparison.recovery import recoveries, recovery, suite_verdict, task_verdict
from genbench.stats.estimates import estimate
from genbench.stats.intervals import problem_interval, rerun_interval, t_quantile
from genbench.stats.resample import cluster
from genbench.stats.scores import Floats, as_scores

RESAMPLES = 2_000
SIZES = ((30, 1), (30, 8), (30, 64), (198, 8), (268, 16), (541, 1))
MEANS = (0.01, 0.03, 0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.998)
ICCS = (0.48, 0.65, 0.20)
FEW_MEANS = (0.5, 0.9, 0.98)
SUITE = ((30, 64, 16), (198, 64, 8), (268, 64, 8), (541, 8, 1), (500, 16, 4))
"""Problems, k of the stored base, k of tuned."""

Interval = tuple[float, float]
Draw = Callable[[np.random.Generator], tuple[Interval | None, float]]
"""One simulated experiment: the interval and the truth that it should hold."""


@dataclass(frozen=True, slots=True)
class Setting:
    """n problems by k samples with 0/1 scores of a given mean."""

    n: int
    k: int
    mean: float
    icc: float = 0.48

    def true_means(self, normal: Floats) -> Floats:
        """True means of problems (n,) from standard normal draws."""
        total = 1 / self.icc - 1
        means = betaincinv(self.mean * total, (1 - self.mean) * total, ndtr(normal))
        return np.asarray(means, dtype=np.float64)

    def scores(self, rng: np.random.Generator) -> Floats:
        return sampled(self.true_means(rng.standard_normal(self.n)), self.k, rng)


def sampled(p: Floats, k: int, rng: np.random.Generator) -> Floats:
    return (rng.random((len(p), k)) < p[:, None]).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Cell:
    """Share of intervals that hold the truth, and their mean width, as a table's cell in percent."""

    coverage: float
    width: float

    def __str__(self) -> str:
        return f"{self.coverage * 100:.1f} / {self.width * 100:.1f}"


def covered(draw: Draw, reps: int) -> Cell:
    hits, widths = 0, []
    for rep in range(reps):
        ci, truth = draw(np.random.default_rng(rep))
        assert ci is not None
        hits += ci[0] <= truth <= ci[1]
        widths.append(ci[1] - ci[0])
    return Cell(hits / reps, float(np.mean(widths)))


def row(head: str, cells: Iterable[object]) -> None:
    print("| " + " | ".join([head, *map(str, cells)]) + " |", flush=True)


def header(head: str, columns: Sequence[object]) -> None:
    print()
    row(head, columns)
    print("|---" * (len(columns) + 1) + "|")


def draw_mean(setting: Setting, rng: np.random.Generator) -> tuple[Interval | None, float]:
    scores = setting.scores(rng)
    return estimate("avg@k", scores, seed=int(rng.integers(2**62)), resamples=RESAMPLES).ci, setting.mean


def intervals(reps: int) -> None:
    """Question-population interval of avg@k over sizes, means and ICCs."""
    cells: list[Cell] = []
    for icc in ICCS:
        header(f"ICC {icc}: coverage % / width", MEANS)
        for n, k in SIZES:
            line = [covered(partial(draw_mean, Setting(n, k, mean, icc)), reps) for mean in MEANS]
            row(f"{n} x {k}", line)
            cells += line
    found = np.array([cell.coverage for cell in cells]) * 100
    low = int((found < 93).sum())
    print(f"\n{len(cells)} settings: min {found.min():.1f} %, mean {found.mean():.1f} %, {low} under 93 %")


def draw_pass(
    setting: Setting, draws: int, truth: float, rng: np.random.Generator
) -> tuple[Interval | None, float]:
    seed = int(rng.integers(2**62))
    return estimate(f"pass@{draws}", setting.scores(rng), seed=seed, resamples=RESAMPLES).ci, truth


def draw_groups(setting: Setting, size: int, rng: np.random.Generator) -> tuple[Interval | None, float]:
    """Groups of `size` problems whose difficulties correlate with .5 (before the beta law)."""
    shared = np.repeat(rng.standard_normal(setting.n // size), size)
    p = setting.true_means(np.sqrt(0.5) * (shared + rng.standard_normal(setting.n)))
    groups = [str(i // size) for i in range(setting.n)]
    scores = sampled(p, setting.k, rng)
    seed = int(rng.integers(2**62))
    return estimate("avg@k", scores, seed=seed, groups=groups, resamples=RESAMPLES).ci, setting.mean


def draw_thirds(setting: Setting, rng: np.random.Generator) -> tuple[Interval | None, float]:
    """Fractional scores: the share of three instructions that was followed."""
    p = setting.true_means(rng.standard_normal(setting.n))
    scores = rng.binomial(3, np.repeat(p[:, None], setting.k, axis=1)) / 3
    return estimate("avg@k", scores, seed=int(rng.integers(2**62)), resamples=RESAMPLES).ci, setting.mean


def others(reps: int) -> None:
    """pass@k, problems in groups, fractional scores."""
    header("coverage % / width", FEW_MEANS)
    for n, k, draws in ((30, 64, 8), (30, 8, 8), (198, 8, 4), (198, 8, 8)):
        line = []
        for mean in FEW_MEANS:
            setting = Setting(n, k, mean)
            many = setting.true_means(np.random.default_rng(1).standard_normal(200_000))
            truth = float((1 - (1 - many) ** draws).mean())
            line.append(covered(partial(draw_pass, setting, draws, truth), reps))
        row(f"pass@{draws}, {n} x {k}", line)
    for size in (3, 6):
        line = [covered(partial(draw_groups, Setting(180, 4, mean), size), reps) for mean in FEW_MEANS]
        row(f"avg@4, {180 // size} groups of {size}", line)
    for n, k in ((541, 1), (100, 4)):
        line = [covered(partial(draw_thirds, Setting(n, k, mean)), reps) for mean in FEW_MEANS]
        row(f"thirds, {n} x {k}", line)


def draw_unequal(count: int, icc: float, mean: float, rng: np.random.Generator) -> tuple[Floats, list[str]]:
    """Return problems' scores of 0 and 1, and their groups: 7 to 52 problems with one rate each."""
    rates = Setting(count, 1, mean, icc).true_means(rng.standard_normal(count))
    codes = np.repeat(np.arange(count), rng.integers(7, 53, count))
    return rng.binomial(1, rates[codes]).astype(np.float64), [str(code) for code in codes]


def groups(reps: int) -> None:
    """Few groups of many problems, next to the t interval of their cluster-robust error."""
    means = (0.3, 0.6, 0.9)
    header("groups, ICC: coverage % / width; t", [f"{mean}" for mean in means])
    for count in (8, 13, 20, 30):
        for icc in (0.02, 0.1, 0.4):
            line = []
            for mean in means:
                ours = covered(partial(draw_of_groups, count, icc, mean), reps)
                theirs = covered(partial(draw_of_t, count, icc, mean), reps)
                line.append(f"{ours}; {theirs}")
            row(f"{count}, {icc}", line)


def draw_of_groups(
    count: int, icc: float, mean: float, rng: np.random.Generator
) -> tuple[Interval | None, float]:
    values, codes = draw_unequal(count, icc, mean, rng)
    return problem_interval(
        values, seed=int(rng.integers(2**62)), groups=codes, resamples=RESAMPLES
    ).bounds, mean


def draw_of_t(count: int, icc: float, mean: float, rng: np.random.Generator) -> tuple[Interval | None, float]:
    found = cluster(*draw_unequal(count, icc, mean, rng))
    half = t_quantile(0.95, count) * (found.se or 0.0)
    return (max(0.0, found.mean - half), min(1.0, found.mean + half)), mean


def draw_rerun(setting: Setting, rng: np.random.Generator) -> tuple[Interval | None, float]:
    p = setting.true_means(rng.standard_normal(setting.n))
    interval = rerun_interval(as_scores(sampled(p, setting.k, rng)))
    return (interval.bounds if interval else None), float(p.mean())


def rerun(reps: int) -> None:
    """Re-run interval: the truth is the mean of the true means of these very problems."""
    means = (0.03, 0.5, 0.9, 0.98, 0.998)
    header("re-run: coverage % / width", means)
    for n, k in ((30, 8), (30, 64), (198, 8), (268, 16), (500, 4)):
        row(f"{n} x {k}", [covered(partial(draw_rerun, Setting(n, k, mean)), reps) for mean in means])


def coupled(
    setting: Setting, k_base: int, by: float, rho: float, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Scores of base and tuned on problems drawn anew; tuned's mean is moved `by`."""
    first = rng.standard_normal(setting.n)
    second = rho * first + np.sqrt(1 - rho**2) * rng.standard_normal(setting.n)
    moved = replace(setting, mean=setting.mean + by)
    base = sampled(setting.true_means(first), k_base, rng)
    return base, sampled(moved.true_means(second), setting.k, rng)


def pairs(reps: int) -> None:
    """Error and power of the one-sided sign-flip test at 5 %, coverage of the paired interval."""
    header("n x k, mean, rho", ("CI coverage %", "type I % (drop)", "type I % (two-sided)", "power % at -3"))
    for n, k, mean in ((30, 8, 0.9), (30, 64, 0.9), (198, 8, 0.5), (268, 16, 0.5), (541, 1, 0.9)):
        for rho in (0.98, 0.9):
            setting = Setting(n, k, mean)
            null = [comparison(setting, k, 0.0, rho, rep) for rep in range(reps)]
            drop = [comparison(setting, k, -0.03, rho, rep) for rep in range(reps)]
            shares = (
                [found.ci is not None and found.ci[0] <= 0 <= found.ci[1] for found in null],
                [rejects(found.p_regression) for found in null],
                [rejects(found.p_two_sided) for found in null],
                [rejects(found.p_regression) for found in drop],
            )
            row(f"{n} x {k}, {mean}, {rho}", [f"{np.mean(share) * 100:.1f}" for share in shares])


def comparison(setting: Setting, k_base: int, by: float, rho: float, rep: int) -> Paired:
    base, tuned = coupled(setting, k_base, by, rho, np.random.default_rng(rep))
    return paired(base, tuned)


def rejects(p: float | None) -> bool:
    return p is not None and p <= 0.05


def gates(reps: int) -> None:
    """Alarms of the gate over five tasks with stored bases, by what really happened."""
    header(
        "five tasks, means .5",
        ("REGRESSED %", "IMPROVED %", "last four NON_INFERIOR %", "suite NON_INFERIOR %"),
    )
    for label, moves in (
        ("no change", (0.0, 0.0, 0.0, 0.0, 0.0)),
        ("second task -3", (0.0, -0.03, 0.0, 0.0, 0.0)),
        ("fifth task -3", (0.0, 0.0, 0.0, 0.0, -0.03)),
        ("second task -5", (0.0, -0.05, 0.0, 0.0, 0.0)),
        ("first task -5", (-0.05, 0.0, 0.0, 0.0, 0.0)),
        ("all -1", (-0.01,) * 5),
        ("all +1", (0.01,) * 5),
    ):
        counts = np.zeros(4)
        for rep in range(reps):
            tasks = {
                f"task {i}": comparison(Setting(n, k, 0.5), k_base, by, 0.98, 5 * rep + i)
                for i, ((n, k_base, k), by) in enumerate(zip(SUITE, moves, strict=True))
            }
            found = gate(tasks)
            # The first task has too few problems for it.
            last = [task.verdict for task in found.tasks.values()][1:]
            everywhere = set(last) <= {"NON_INFERIOR", "IMPROVED"}
            whole = found.verdict == "NON_INFERIOR"
            counts += (found.verdict == "REGRESSED", found.verdict == "IMPROVED", everywhere, whole)
        row(label, [f"{count / reps * 100:.1f}" for count in counts])


KINDS = tuple(
    (n, k, mean, harm)
    for n, k, means in (
        (100, 4, (0.3, 0.6, 0.9)),
        (198, 8, (0.1, 0.6, 0.9)),
        (500, 4, (0.1, 0.6, 0.97)),
        (541, 1, (0.3, 0.6, 0.9)),
        (1319, 1, (0.3, 0.9, 0.97)),
    )
    for mean in means
    for harm in ("spread", "collapse")
) + tuple(
    (n, k, mean, "none")
    for n, k, mean in (
        *((100, 4, mean) for mean in (0.3, 0.9)),
        *((198, 8, mean) for mean in (0.3, 0.97)),
        *((500, 4, mean) for mean in (0.3, 0.9)),
        *((541, 1, mean) for mean in (0.1, 0.97)),
        *((1319, 1, mean) for mean in (0.1, 0.6)),
    )
)
"""40 kinds of tasks: problems, samples, the score of base, and how the variant loses.

It loses nothing, a little everywhere, or a share of the problems as a whole."""
LOST = (0.02, 0.05)
"""What the variant loses of base's score, which is the margin."""


def variant_pair(kind: tuple[int, int, float, str], lost: float, rng: np.random.Generator) -> Paired:
    n, k, mean, harm = kind
    setting, first = Setting(n, k, mean), rng.standard_normal(n)
    p = setting.true_means(first)
    if harm == "collapse":
        q = np.where(rng.random(n) < lost, 0.0, p)
    else:
        second = 0.98 * first + np.sqrt(1 - 0.98**2) * rng.standard_normal(n)
        q = replace(setting, mean=mean * (1 - (lost if harm == "spread" else 0.0))).true_means(second)
    return paired(sampled(p, k, rng), sampled(q, k, rng))


def ratios(reps: int) -> None:
    """Interval of recovery, and false NON_INFERIOR at the margin: 40 kinds of tasks, then suites."""
    header("n x k, mean, harm", [f"-{lost:.0%}: CI coverage %; NON_INFERIOR %; not given" for lost in LOST])
    hits, wrong, given, asked = 0, 0, 0, 0
    least = 1.0
    for number, kind in enumerate(KINDS):
        n, k, mean, harm = kind
        cells = []
        for lost in LOST:
            truth = 1.0 if harm == "none" else 1 - lost
            found = [
                (pair, recovery(pair))
                for rep in range(reps)
                for pair in [variant_pair(kind, lost, np.random.default_rng((number, rep)))]
            ]
            known = [(pair, ratio) for pair, ratio in found if ratio is not None]
            inside = sum(ratio.ci[0] <= truth <= ratio.ci[1] for _, ratio in known)
            passed = sum(
                task_verdict(gate({"t": pair}, margins={"t": lost}).tasks["t"], ratio, n) == "NON_INFERIOR"
                for pair, ratio in known
            )
            hits, given, least = hits + inside, given + len(known), min(least, inside / max(1, len(known)))
            if harm != "none":
                wrong, asked = wrong + passed, asked + len(known)
            share = 100 / max(1, len(known))
            cells.append(f"{inside * share:.1f}; {passed * share:.1f}; {reps - len(known)}")
        row(f"{n} x {k}, {mean}, {harm}", cells)
    pairs_of = f"{len(KINDS)} kinds, {given:,} pairs"
    print(f"\n{pairs_of}: coverage {100 * hits / given:.1f} %, least {100 * least:.1f} %")
    print(f"NON_INFERIOR at a loss of the margin {100 * wrong / asked:.1f} %")
    suites(reps)


def suites(reps: int) -> None:
    """Five tasks that lose the same share: the mean of their ratios and the verdict on the suite."""
    header("five tasks, margin 2 %", ("CI coverage %", "NON_INFERIOR %", "REGRESSED %"))
    kinds = [KINDS[place] for place in (2, 8, 14, 20, 26)]
    for harm in ("none", "spread", "collapse"):
        counts = np.zeros(3)
        for rep in range(reps):
            tasks = {
                str(i): variant_pair((n, k, mean, harm), 0.02, np.random.default_rng((i, rep)))
                for i, (n, k, mean, _) in enumerate(kinds)
            }
            decided, found = gate(tasks), recoveries(tasks, list(tasks))
            assert found.mean is not None
            truth = 1.0 if harm == "none" else 0.98
            each = [task_verdict(decided.tasks[name], found.tasks[name], tasks[name].n) for name in tasks]
            verdict = suite_verdict(decided, each, found.mean, 0.02)
            counts += (
                found.mean.ci[0] <= truth <= found.mean.ci[1],
                verdict == "NON_INFERIOR",
                verdict == "REGRESSED",
            )
        row({"none": "no loss"}.get(harm, f"-2 %, {harm}"), [f"{count / reps * 100:.1f}" for count in counts])


PARTS = {
    "intervals": intervals,
    "others": others,
    "groups": groups,
    "rerun": rerun,
    "paired": pairs,
    "gate": gates,
    "recovery": ratios,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--reps", type=int, default=1_000)
    parser.add_argument("--part", choices=PARTS, action="append")
    options = parser.parse_args()
    for part in options.part or PARTS:
        start = time.perf_counter()
        PARTS[part](options.reps)
        print(f"\n{part}: {options.reps} repetitions, {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
