"""Simulated years of nightly runs: alarms of `genbench trend` a year, and its delay after a change.

    python benchmarks/nights.py [--part budget|law|epochs|delay|noise|best|sentences|anchors] [--years 200]

Problems' difficulty is probit-normal with an intraclass correlation of 0.48, and every night is drawn
problem by problem. Nothing here is a real model's output. Three kinds of nights have no change: the same
checkpoint drawn again ("redrawn"), a new equal checkpoint every night ("retrained"), and one line that drifts
over the problems ("drifting"). The part "noise" moves all problems of a retrained night together, in all
tasks or in each task by itself. That is noise which nights have beyond their samples. It is independent,
lasts (autocorrelated by 0.9) or comes in bursts. The part "best" draws equal checkpoints and counts how often
the newest is called worse than the best. The part "sentences" compares first lines with the intervals that
they are about (--series tracks). To measure an older version, put its folder first on PYTHONPATH. The
part "anchors" runs apache-otava and ruptures on the same series. They
are no dependencies of genbench. Install them elsewhere:

    uv venv /tmp/anchors && uv pip install --python /tmp/anchors/bin/python apache-otava ruptures
    PYTHONPATH=. /tmp/anchors/bin/python benchmarks/nights.py --part anchors

One thread. Prints Markdown tables, and progress to stderr.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is imported

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from genbench.nights.ledger.history import TrackHistory
from genbench.nights.trend.compose import FEWEST, compose
from genbench.stats.comparison.differences import difference_interval
from genbench.stats.resample import cluster
from genbench.stats.scores import Floats
from genbench.stats.tracks.changepoints import TaskNights, alarm_threshold, expected_alarms
from genbench.stats.tracks.sequential_detection import (
    DetectedChange,
    Direction,
    NightTests,
    join_epochs,
    walk_changes,
)
from genbench.stats.tracks.winners_curse import range_level
from tests.nights.trend import histories

RNG = np.random.Generator
NULLS = ("redrawn", "retrained", "drifting")
ICC = 0.48
KINSHIP = 0.98
"""Correlation of the problems' difficulty between two nights; if the line drifts, between neighbours."""
YEAR = 365
CHANGE = 120
"""The night at which a planted change begins."""
_GRID = ndtri((np.arange(4000) + 0.5) / 4000)


@dataclass(frozen=True, slots=True)
class Task:
    """A simulated task: problems, samples of each, and the expected mean as a fraction of 1."""

    name: str
    n: int
    k: int
    mean: float

    @property
    def spread(self) -> float:
        """The standard deviation of the problems' difficulty on the probit scale."""
        return float(brentq(lambda tau: self._icc(tau) - ICC, 0.05, 20))

    def _icc(self, tau: float) -> float:
        rates = ndtr(float(ndtri(self.mean)) * math.sqrt(1 + tau**2) + tau * _GRID)
        return float(rates.var() / (self.mean * (1 - self.mean)))


SUITE = (
    Task("aime25", 30, 64, 0.367),
    Task("gpqa_diamond", 198, 8, 0.417),
    Task("livecodebench", 268, 16, 0.30),
    Task("math500", 500, 4, 0.85),
    Task("ifeval", 541, 1, 0.712),
)


def wide_suite(count: int) -> tuple[Task, ...]:
    """Return many tasks of all sizes and levels, always the same."""
    rng = np.random.default_rng(50)
    sizes = np.exp(rng.uniform(math.log(30), math.log(600), size=count)).astype(int)
    return tuple(
        Task(f"task{at}", int(n), int(rng.choice([1, 2, 4, 8])), float(rng.uniform(0.05, 0.97)))
        for at, n in enumerate(sizes)
    )


def draw(task: Task, null: str, losses: Floats, rng: RNG) -> Floats:
    """Return problem means (nights, n). `losses` (nights,) lower the expected mean, as fractions of 1."""
    nights, tau = len(losses), task.spread
    own = rng.normal(size=(nights, task.n)) if null != "redrawn" else np.zeros((nights, task.n))
    first = rng.normal(size=task.n)
    if null == "retrained":
        own = math.sqrt(KINSHIP) * first + math.sqrt(1 - KINSHIP) * own
    elif null == "drifting":
        own[0] = first
        for night in range(1, nights):
            own[night] = KINSHIP * own[night - 1] + math.sqrt(1 - KINSHIP**2) * own[night]
    else:
        own += first
    middles = ndtri(task.mean - losses) * math.sqrt(1 + tau**2)
    return np.asarray(rng.binomial(task.k, ndtr(middles[:, None] + tau * own)) / task.k)


def opened(
    nights: Sequence[Floats], threshold: float, direction: str = "drop"
) -> dict[str, list[DetectedChange]]:
    """Return the changes of each series: every task, and all together if there are several."""
    series = {str(at): [task] for at, task in enumerate(nights)}
    if len(nights) > 1:
        series["pooled"] = list(nights)
    kind: Direction = "rise" if direction == "rise" else "drop"
    return {name: walk_changes(parts, threshold=threshold, direction=kind) for name, parts in series.items()}


def joined_events(changes: dict[str, list[DetectedChange]]) -> int:
    """Return the number of events, if changes found within 14 nights of each other are one."""
    found = sorted(change.found for series in changes.values() for change in series)
    return sum(1 for at, night in enumerate(found) if at == 0 or night - found[at - 1] > 14)


def watched(rows: Iterable[int], label: str) -> Iterator[int]:
    """Yield the rows, with progress on stderr."""
    rows = list(rows)
    began = time.monotonic()
    for at, row in enumerate(rows):
        yield row
        spent = time.monotonic() - began
        left = spent / (at + 1) * (len(rows) - at - 1)
        print(f"\r{label}: {at + 1} of {len(rows)}, {left:.0f} s left   ", end="", file=sys.stderr)
    print(file=sys.stderr)


def rate(counts: Sequence[int], years: float) -> str:
    """Return events a year with the standard error of a Poisson count."""
    total = sum(counts)
    return f"{total / years:.2f} ± {math.sqrt(max(1, total)) / years:.2f}"


def budget(years: int, line_years: int = 2) -> None:
    """Print alarms a year at a budget of one, for suites of 1, 5 and 50 tasks under each null."""
    print("| tasks | series | h | nights | changes a year, drops | events a year | changes a year, rises |")
    print("|---|---|---|---|---|---|---|")
    for suite, share in (((SUITE[1],), 1.0), (SUITE, 1.0), (wide_suite(50), 0.2)):
        series = len(suite) + (len(suite) > 1)
        threshold = alarm_threshold(series)
        lines = max(1, round(years * share / line_years))
        for null in NULLS:
            drops, events, rises = [], [], []
            for line in watched(range(lines), f"{len(suite)} tasks {null}"):
                rng = np.random.default_rng([line, NULLS.index(null), len(suite)])
                nights = [draw(task, null, np.zeros(YEAR * line_years), rng) for task in suite]
                found = opened(nights, threshold)
                drops.append(sum(map(len, found.values())))
                events.append(joined_events(found))
                if len(suite) < 50 and line % 3 == 0:
                    rises.append(sum(map(len, opened(nights, threshold, "rise").values())))
            all_years = lines * line_years
            print(
                f"| {len(suite)} | {series} | {threshold:.2f} | {null} | {rate(drops, all_years)} | "
                f"{rate(events, all_years)} | {rate(rises, line_years * len(rises)) if rises else '-'} |",
                flush=True,
            )


LASTING = 0.9
"""The correlation of the shifts of neighbouring nights, if they last."""
BURST, BETWEEN = 10, 40
"""Nights of a burst, and mean number of nights between two of them."""
SHIFTS = (
    ("none", 0.0),
    ("each task", 0.3),
    ("common", 0.3),
    ("common", 0.5),
    ("common", 1.0),
    ("common, lasting", 0.5),
    ("common, in bursts", 1.0),
    ("common, first 60 nights", 1.0),
)
"""What moves all problems of a night together, a value for all tasks or for each, and its size in points."""


def night_shifts(kind: str, size: float, nights: int, rng: RNG) -> Floats:
    """Return the shift of each task in each night, (tasks, nights), as fractions of 1.

    `size` is the standard deviation in points, of a shift that comes in bursts that of the nights of a burst.
    """
    shifts = size / 100 * rng.normal(size=(len(SUITE), nights))
    if kind.startswith("common"):
        shifts[:] = shifts[0]
    if kind.endswith("lasting"):
        for night in range(1, nights):
            own = math.sqrt(1 - LASTING**2) * shifts[:, night]
            shifts[:, night] = LASTING * shifts[:, night - 1] + own
    elif kind.endswith("bursts"):
        calm = np.ones(nights, dtype=bool)
        night = int(rng.exponential(BETWEEN))
        while night < nights:
            calm[night : night + BURST] = False
            night += BURST + int(rng.exponential(BETWEEN))
        shifts[:, calm] = 0.0
    elif kind.endswith("60 nights"):
        shifts[:, 60:] = 0.0
    return shifts


def noise(years: int, planted: str) -> None:
    """Print drops a year at a budget of one if nights move by themselves, and the noise that is estimated.

    Args:
        planted: only kinds with this text in their name.
    """
    threshold = alarm_threshold(len(SUITE) + 1)
    print(
        "| nights move | points | changes a year, drops | events a year | noise of the pooled line, points |"
    )
    print("|---|---|---|---|---|")
    for kind, size in (shift for shift in SHIFTS if planted in shift[0]):
        drops, events, own = [], [], []
        for line in watched(range(max(1, years // 2)), f"noise {kind} {size}"):
            rng = np.random.default_rng([line, 2, len(SUITE)])
            shifts = night_shifts(kind, size, 2 * YEAR, rng)
            nights = [
                draw(task, "retrained", own_shifts, rng)
                for task, own_shifts in zip(SUITE, shifts, strict=True)
            ]
            found = opened(nights, threshold)
            drops.append(sum(map(len, found.values())))
            events.append(joined_events(found))
            own.append(NightTests(nights).night_variance ** 0.5 * 100)
        all_years = 2 * len(drops)
        cells = (kind, size, rate(drops, all_years), rate(events, all_years), f"{np.mean(own):.2f}")
        print(f"| {' | '.join(map(str, cells))} |", flush=True)


def best(lines: int) -> None:
    """Print how often the newest of equal checkpoints is called worse than the best, on any of the tasks.

    The wider interval is that of `genbench trend`. The other one is the paired 95 % interval of two runs that
    were not chosen.
    """
    print("| checkpoints | named at the end | named at any checkpoint | at the end by 95 % intervals |")
    print("|---|---|---|---|")
    for count in (5, 20):
        found: dict[str, list[bool]] = {"end": [], "any": [], "plain": []}
        for line in watched(range(lines), f"best of {count}"):
            rng = np.random.default_rng([line, count])
            tasks = [draw(task, "redrawn", np.zeros(count), rng) for task in SUITE]
            looks = [any(_is_below(own[:n], 0.05 / len(SUITE)) for own in tasks) for n in range(2, count + 1)]
            found["end"].append(looks[-1])
            found["any"].append(any(looks))
            found["plain"].append(any(_is_below(own, None) for own in tasks))
        print(f"| {count} | {' | '.join(share(hits) for hits in found.values())} |", flush=True)


def sentences(tracks: int) -> None:
    """Print how many first lines of tracks name a direction against an interval, or a held task that moved.

    A half of the models equals the base. The others move in each task.
    """
    counts, said = (
        dict.fromkeys(("mean", "task", "held"), 0),
        dict.fromkeys(("better", "worse", "not told"), 0),
    )
    for seed in watched(range(tracks), "tracks"):
        record = compose(random_history(seed))
        mean, text = record.mean, record.sentence
        assert mean is not None
        sides = {"better": mean.ci[0] > 0, "worse": mean.ci[1] < 0, "not told": mean.ci[0] <= 0 <= mean.ci[1]}
        words = [word for word in sides if f"{word} than the base" in text or f"{word} from the base" in text]
        interval = f"[{100 * mean.ci[0]:.1f}, {100 * mean.ci[1]:.1f}]"
        counts["mean"] += len(words) != 1 or not sides[words[0]] or interval not in text
        said[words[0]] += 1
        off = {
            task.task: low > 0 or high < 0
            for task in record.tasks
            for low, high in [(task.points.difference_low[-1], task.points.difference_high[-1])]
            if low is not None and high is not None
        }
        named = re.findall(r"(t\d) is [\d.]+ points (below|above) the base", text)
        ends = {task.task: task.points.difference[-1] or 0.0 for task in record.tasks}
        counts["task"] += any(not off[name] or (ends[name] < 0) != (word == "below") for name, word in named)
        held = re.search(r"(both|\d+)(?: of \d+)? tasks? held", text) or re.search(
            r"all (\d+) tasks held", text
        )
        if held is not None:
            claimed = 2 if held[1] == "both" else int(held[1])
            quiet = sum(task.searched and not off.get(task.task, False) for task in record.tasks)
            counts["held"] += claimed > quiet
    print("| tracks | better, worse, not told | against the mean's interval | a task's | held, but off |")
    print("|---|---|---|---|---|")
    print(f"| {tracks:,} | {', '.join(map(str, said.values()))} | {' | '.join(map(str, counts.values()))} |")


def random_history(seed: int) -> TrackHistory:
    """Return a track of 1 to 6 tasks and 2 to 20 nights with the intervals of drawn problems."""
    rng = np.random.default_rng([seed, 53])
    nights, kept = int(rng.integers(2, 21)), dict[str, Floats]()
    moves = rng.normal(0, 0.08, size=6) + rng.normal(0, 0.05) if seed % 2 else np.zeros(6)
    for number in range(rng.integers(1, 7)):
        rate = rng.beta(0.8, 0.8, size=int(rng.choice([10, 20, 60, 120, 300])))
        moved = np.clip(rate + np.linspace(0, 2 * moves[number], nights)[:, None], 0, 1)
        kept[f"t{number}"] = rng.binomial(histories.K, np.vstack([rate[None], moved])).astype(np.float64)
    found = histories.history({name: sums[1:] for name, sums in kept.items()})
    series = dict(found.series)
    for name, sums in kept.items():
        means = sums / histories.K
        bounds = [difference_interval(cluster(row - means[0])).bounds for row in means[1:]]
        low, high = np.array(bounds).T
        series[name] = replace(
            series[name],
            gating=name == "t0" or bool(rng.random() < 0.5),
            difference=(means[1:] - means[0]).mean(axis=1),
            difference_low=low,
            difference_high=high,
        )
    return replace(found, series=series)


def _is_below(values: Floats, error: float | None) -> bool:
    """Return whether the last of some checkpoints is shown to be worse than the one with the best score."""
    top = int(np.argmax(values.mean(axis=1)))
    if top == len(values) - 1:
        return False
    level = 0.95 if error is None else range_level(max(FEWEST, len(values)), error)
    first, second, third = (np.array([place]) for place in range(3))
    return TaskNights(values[[top, -1]]).tests(first, second, third).interval(0, level)[1] < 0


def law(years: int) -> None:
    """Print the alarms of one series against the law 0.346 N exp(-h^2/2)."""
    print("| h | " + " | ".join(f"{null}, measured / law" for null in NULLS) + " |")
    print("|---|" + "---|" * len(NULLS))
    levels = (2.5, 3.0, 3.5, 4.0)
    counts = {(h, null): 0 for h in levels for null in NULLS}
    for null in NULLS:
        for line in watched(range(years // 2), f"law {null}"):
            rng = np.random.default_rng([line, NULLS.index(null), 7])
            nights = [draw(SUITE[1 + line % 4], null, np.zeros(2 * YEAR), rng)]
            for h in levels:
                counts[h, null] += len(walk_changes(nights, threshold=h))
    for h in levels:
        cells = (f"{rate([counts[h, null]], years)} / {expected_alarms(h):.2f}" for null in NULLS)
        print(f"| {h} | " + " | ".join(cells) + " |", flush=True)


def epochs(years: int) -> None:
    """Print alarms a year if terms change every 60 nights, with the base drawn again under each terms."""
    threshold = alarm_threshold(len(SUITE) + 1)
    counts = []
    for line in watched(range(years // 2), "epochs"):
        rng = np.random.default_rng([line, 60])
        nights = []
        for task in SUITE:
            values = draw(task, "retrained", np.zeros(2 * YEAR), rng)
            stretches = [values[at : at + 60] for at in range(0, len(values), 60)]
            # Terms shift every night and the base alike. The base is one checkpoint, drawn k times.
            rates = values.mean(axis=0)
            bases = [rng.binomial(task.k, np.clip(rates, 0, 1)) / task.k for _ in stretches]
            nights.append(join_epochs(stretches, bases)[0])
        counts.append(sum(map(len, opened(nights, threshold).values())))
    print(f"Terms that change every 60 nights: {rate(counts, 2 * len(counts))} changes a year.", flush=True)


def step(points: float) -> Callable[[int], Floats]:
    """Return the losses of a drop that begins at night CHANGE."""
    return lambda nights: np.where(np.arange(nights) >= CHANGE, points / 100, 0.0)


def bleed(points: float) -> Callable[[int], Floats]:
    """Return the losses of a level that falls a little every night from CHANGE on."""
    return lambda nights: np.maximum(0, np.arange(nights) - CHANGE + 1) * points / 100


def rising(slope: float, points: float) -> Callable[[int], Floats]:
    """Return the losses of a level that rises by `slope` points every night and falls once at CHANGE."""
    return lambda nights: (CHANGE - np.arange(nights)) * slope / 100 + step(points)(nights)


STORIES: tuple[tuple[str, str, Callable[[int], Floats]], ...] = (
    ("GPQA -1", "gpqa_diamond", step(1)),
    ("GPQA -2", "gpqa_diamond", step(2)),
    ("GPQA -3", "gpqa_diamond", step(3)),
    ("IFEval -3", "ifeval", step(3)),
    ("AIME -5", "aime25", step(5)),
    ("all -1", "", step(1)),
    ("all -2", "", step(2)),
    ("bleed 0.02 a night, all", "", bleed(0.02)),
    ("rises 0.2 a night, then all -4", "", rising(0.2, 4)),
    ("rises 0.05 a night, then all -4", "", rising(0.05, 4)),
    ("rises 0.05 a night, then all -2", "", rising(0.05, 2)),
)
"""What is planted: a name, the task ("" for all), and the losses."""


def story_nights(line: int, only: str, losses: Callable[[int], Floats], nights: int) -> list[Floats]:
    """Return one line of retrained nights with a planted change. A line has the same draws every time."""
    rng = np.random.default_rng([line, 99])
    return [
        draw(task, "retrained", losses(nights) if only in ("", task.name) else np.zeros(nights), rng)
        for task in SUITE
    ]


def share(hits: Sequence[bool]) -> str:
    """Return a share in percent with its standard error."""
    if not hits:
        return "-"
    p, n = float(np.mean(hits)), len(hits)
    return f"{100 * p:.0f} % ± {100 * math.sqrt(max(p * (1 - p), 1 / n * (1 - 1 / n)) / n):.0f}"


def delay(lines: int, planted: str) -> None:
    """Print how soon planted changes are found at one false alarm a year.

    Args:
        planted: only changes with this text in their name.
    """
    threshold = alarm_threshold(len(SUITE) + 1)
    print(
        "| planted | same night | 7 nights | 30 nights | median | first night right | among suspects | size |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name, only, losses in (story for story in STORIES if planted in story[0]):
        waits, firsts, suspected, sizes = [], [], [], []
        for line in watched(range(lines), name):
            nights = story_nights(line, only, losses, CHANGE + 40)
            found = opened(nights, threshold)
            wanted = ["pooled"] + [str(at) for at, task in enumerate(SUITE) if only in ("", task.name)]
            true = [change for key in wanted for change in found[key] if change.found >= CHANGE]
            first = min(true, key=lambda change: change.found, default=None)
            waits.append(math.inf if first is None else first.found - CHANGE)
            if first is not None:
                firsts.append(first.first == CHANGE)
                suspected.append(CHANGE in first.suspects)
                sizes.append(100 * first.size)
        wait = np.array(waits)
        print(
            f"| {name} | {share(list(wait < 1))} | {share(list(wait < 7))} | {share(list(wait < 30))} | "
            f"{np.median(wait) + 1:.0f} | {share(firsts)} | {share(suspected)} | "
            f"{f'{np.mean(sizes):+.1f}' if sizes else '-'} |",
            flush=True,
        )


def otava_finds(series: Floats) -> list[int]:
    """Return the new downward change points of Otava (window 50, p 0.001) on the series so far."""
    from otava.analysis import compute_change_points  # type: ignore[import-not-found]  # noqa: PLC0415

    points, _ = compute_change_points(series.tolist(), window_len=50, max_pvalue=0.001, min_magnitude=0.0)
    return [point.index for point in points if point.stats.mean_2 < point.stats.mean_1]


def ruptures_finds(penalty: float) -> Callable[[Floats], list[int]]:
    """Return a search for downward changes by exact least squares at `penalty` log n noise variances."""

    def finds(series: Floats) -> list[int]:
        import ruptures  # type: ignore[import-not-found]  # noqa: PLC0415

        noise = float(np.median(np.abs(np.diff(series)))) / 0.6745 / math.sqrt(2)
        model = ruptures.KernelCPD(kernel="linear", min_size=2).fit(series[:, None])
        bounds = [0, *model.predict(pen=penalty * math.log(len(series)) * max(noise, 1e-9) ** 2)]
        levels = [series[low:high].mean() for low, high in pairwise(bounds)]
        return [bounds[at] for at in range(1, len(levels)) if levels[at] < levels[at - 1]]

    return finds


def first_finds(finds: Callable[[Floats], list[int]], series: Floats, start: int, stop: int) -> list[int]:
    """Return the nights on which a change is reported that is not within 10 nights of one reported before."""
    known: list[int] = []
    nights = []
    for night in range(start, stop):
        new = [at for at in finds(series[: night + 1]) if all(abs(at - old) > 10 for old in known)]
        known += new
        if new:
            nights.append(night)
    return nights


def anchors(lines: int, only_tool: str) -> None:
    """Print alarms a year and delays of Otava and ruptures on the series of means, called every night.

    Args:
        only_tool: only tools with this text in their name.
    """
    tools = (
        ("apache-otava, p 0.001", otava_finds),
        ("ruptures, 3 log n", ruptures_finds(3)),
        ("ruptures, 5 log n", ruptures_finds(5)),
    )
    print(
        "| tool | " + " | ".join(f"a year, {null}" for null in NULLS[1:]) + " | GPQA -1: 30 nights | ", end=""
    )
    print("GPQA -2: 7 nights | GPQA -3: 7 nights | bleed 0.02: 30 nights |")
    print("|---|" + "---|" * 6)
    for name, finds in (tool for tool in tools if only_tool in tool[0]):
        cells = []
        for null in NULLS[1:]:
            count, years = 0, max(2, lines // 15)
            for line in watched(range(years), f"{name} {null}"):
                rng = np.random.default_rng([line, NULLS.index(null), 31])
                for task in SUITE:
                    means = draw(task, null, np.zeros(YEAR), rng).mean(axis=1)
                    count += len(first_finds(finds, means, 8, YEAR))
            cells.append(rate([count], years))
        for story, nights in ((0, 30), (1, 7), (2, 7), (7, 30)):
            _, only, losses = STORIES[story]
            hits = []
            for line in watched(range(lines), f"{name} {STORIES[story][0]}"):
                series = [values.mean(axis=1) for values in story_nights(line, only, losses, CHANGE + 40)]
                rows = [means for task, means in zip(SUITE, series, strict=True) if only in ("", task.name)]
                # What is reported on the night before the change is not counted.
                hits.append(any(_finds_after(finds, means, nights) for means in rows))
            cells.append(share(hits))
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def _finds_after(finds: Callable[[Floats], list[int]], means: Floats, nights: int) -> bool:
    """Return whether a change near night CHANGE or later is reported within `nights` nights."""
    before = finds(means[:CHANGE])
    for night in range(CHANGE, CHANGE + nights):
        new = [at for at in finds(means[: night + 1]) if all(abs(at - old) > 10 for old in before)]
        if any(at >= CHANGE - 10 for at in new):
            return True
    return False


def main() -> None:
    """Run the parts that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parts = ["budget", "law", "epochs", "delay", "noise", "best", "sentences", "anchors"]
    parser.add_argument("--part", choices=parts, action="append")
    parser.add_argument("--years", type=int, default=200, help="simulated years of each kind of nights")
    parser.add_argument("--series", type=int, default=200, help="simulated tracks of each planted change")
    parser.add_argument(
        "--planted", default="", help="only planted changes or noise with this text in the name"
    )
    parser.add_argument("--tool", default="", help="only anchors with this text in their name")
    args = parser.parse_args()
    for part in args.part or ["budget", "law", "epochs", "delay", "noise", "best"]:
        began = time.monotonic()
        print(f"\n### {part}\n")
        if part == "budget":
            budget(args.years)
        elif part == "law":
            law(args.years)
        elif part == "epochs":
            epochs(args.years)
        elif part == "delay":
            delay(args.series, args.planted)
        elif part == "noise":
            noise(args.years, args.planted)
        elif part == "best":
            best(args.series)
        elif part == "sentences":
            sentences(args.series)
        else:
            anchors(args.series, args.tool)
        print(f"\n{part}: {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
