"""The figures of benchmarks/throughput.py: the clock of one round, and what pairs of rounds say together."""

from __future__ import annotations

import json
import math
import statistics
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np

from genbench.types import SampleId

PAIRS = 16
RESAMPLES = 10_000


@dataclass(slots=True)
class Clock:
    """When things happened in one round; seconds of time.monotonic()."""

    first_request: float = math.inf
    first_token: float = math.inf
    last_token: float = 0.0
    last_verdict: float = 0.0
    starved: float = 0.0
    verdicts: int = 0
    verify_cpu: float = 0.0
    host_cpu: float = 0.0
    """CPU seconds of the host process from the command to the last token."""
    drawing_cpu: float = 0.0
    """Those from the first request to the last token, or to the last verdict."""
    engine_cpu: float = 0.0
    engine_waited: float = 0.0
    tokens: dict[SampleId, int] = field(default_factory=dict)

    @property
    def wall(self) -> float:
        return max(self.last_token, self.last_verdict) - self.first_request

    @property
    def generation(self) -> float:
        return self.last_token - self.first_request

    @property
    def before(self) -> float:
        return self.first_token - self.first_request

    @property
    def after(self) -> float:
        return max(0.0, self.last_verdict - self.last_token)

    @property
    def edges(self) -> float:
        """Seconds before the first and after the last token."""
        return self.before + self.after


def bootstrap(ratios: list[float]) -> tuple[float, float]:
    """Percentile interval (95 %) of the median, pairs resampled."""
    rng = np.random.default_rng(0)
    drawn = rng.choice(np.array(ratios), (RESAMPLES, len(ratios)))
    low, high = np.percentile(np.median(drawn, axis=1), [2.5, 97.5])
    return float(low), float(high)


@dataclass(slots=True)
class Rounds:
    """Rounds of genbench, of the bare engine, and of genbench with a verifier that sleeps."""

    ours: list[Clock]
    raw: list[Clock]
    sleeping: list[Clock]

    def added_to(self, file: Path) -> Rounds:
        """Return these rounds after those that a file has, and write all of them into it."""
        arms = {"ours": self.ours, "raw": self.raw, "sleeping": self.sleeping}
        before = json.loads(file.read_text()) if file.exists() else {name: [] for name in arms}
        found = {name: [Clock(**record) for record in before[name]] + clocks for name, clocks in arms.items()}
        records = {name: [asdict(replace(clock, tokens={})) for clock in arm] for name, arm in found.items()}
        file.write_text(json.dumps(records))
        return Rounds(**found)


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure with the most that it may be, in the unit of its name."""

    name: str
    measured: float
    most: float
    is_resolved: bool = True

    @property
    def is_missed(self) -> bool:
        return self.measured > self.most

    @property
    def row(self) -> str:
        verdict = "met" if not self.is_missed else "MISSED" if self.is_resolved else "not resolved"
        return f"| {self.name} | {self.measured:.3f} | {self.most:g} | {verdict} |"


def bars(samples: int, ours: list[Clock], raw: list[Clock]) -> list[Bar]:
    """Return the figures that have a bar. Fewer than 16 pairs do not resolve a ratio."""
    ratios = [mine.wall / bare.wall for mine, bare in zip(ours, raw, strict=True)]
    enough = len(ratios) >= PAIRS
    verification = statistics.median(clock.verify_cpu for clock in ours)
    host = [statistics.median(clock.host_cpu for clock in arm) for arm in (ours, raw)]
    return [
        Bar("wall, genbench / bare engine, median", statistics.median(ratios), 1.02, enough),
        Bar("its upper end (bootstrap 95 %)", bootstrap(ratios)[1], 1.04, enough),
        Bar("a free slot, % of the wall, worst round", 100 * max(c.starved / c.wall for c in ours), 1.0),
        Bar("verification, ms of CPU a sample, loading included", 1000 * verification / samples, 2.2),
        Bar("host beyond bare, ms of CPU a sample", 1000 * (host[0] - host[1]) / samples, 0.4),
        Bar("after the last token, s, worst round", max(clock.after for clock in ours), 1.0),
    ]


def report(samples: int, rounds: Rounds) -> bool:
    """Print the figures, and return whether no bar was missed."""
    ours, raw, sleeping = rounds.ours, rounds.raw, rounds.sleeping
    found = bars(samples, ours, raw)
    walls = ", ".join(f"{m.wall:.1f}/{r.wall:.1f}" for m, r in zip(ours, raw, strict=True))
    print(f"wall of each of {len(ours)} pairs, s: {walls}")
    print("| figure | measured | at most | verdict |\n|---|---|---|---|")
    print("\n".join(bar.row for bar in found))
    low, high = bootstrap([mine.wall / bare.wall for mine, bare in zip(ours, raw, strict=True)])
    print(f"ratio, bootstrap 95 %: [{low:.3f}, {high:.3f}]")
    generation = statistics.median(m.generation / r.generation for m, r in zip(ours, raw, strict=True))
    print(f"first request to last token: median {generation:.3f}")
    before = [statistics.median(clock.before for clock in arm) for arm in (ours, raw)]
    print(f"before the first token: {before[0]:.2f} s, bare {before[1]:.2f} s")
    host = [statistics.median(clock.host_cpu for clock in arm) for arm in (ours, raw)]
    drawing = [statistics.median(clock.drawing_cpu for clock in arm) for arm in (ours, raw)]
    print(f"the engine's host process until the last token: {host[0]:.1f} CPU s, bare {host[1]:.1f}")
    print(f"from its first request to its last verdict: {drawing[0]:.1f} CPU s, bare {drawing[1]:.1f}")
    ran = [statistics.median(clock.engine_cpu for clock in arm) for arm in (ours, raw)]
    waited = [statistics.median(clock.engine_waited for clock in arm) for arm in (ours, raw)]
    print(
        f"the engine's process ran {ran[0]:.2f} s and waited {waited[0]:.2f} s for a core; "
        f"bare {ran[1]:.2f} s and {waited[1]:.2f} s"
    )
    if sleeping:
        report_sleeping(samples, ours, sleeping)
    return not any(bar.is_missed for bar in found)


def instructions() -> str:
    """Return the vector instructions of this machine that vLLM's CPU build uses."""
    known = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")
    flags = set(Path("/proc/cpuinfo").read_text(encoding="utf-8").split())
    return ", ".join(name for name in known if name in flags) or "none of " + ", ".join(known)


def report_sleeping(samples: int, ours: list[Clock], sleeping: list[Clock]) -> None:
    """Prints how much longer generation takes if every verdict takes half a second."""
    slow = statistics.median(clock.generation for clock in sleeping) / statistics.median(
        clock.generation for clock in ours
    )
    verified = statistics.median(clock.verdicts for clock in sleeping)
    print(
        f"with a verifier that sleeps 0.5 s a sample: generation takes {slow:.3f} times as long "
        f"({verified:.0f} of {samples} verdicts by then)"
    )
