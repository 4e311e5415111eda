"""Tonight's run against the base, task by task, from the sums of their problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from genbench.ledger.records import TaskSeries, TrackHistory
from genbench.policy.config import Policy, TaskPolicy
from genbench.policy.record import GatedTask, PooledTonight
from genbench.stats.paired import Paired, paired
from genbench.stats.pool import pool
from genbench.stats.scores import Floats, Ints, Scores
from genbench.stats.signflip import sign_flip


@dataclass(frozen=True, slots=True)
class Tonight:
    """The tasks of tonight's run, and their pooled difference. `absent` are required tasks that it lacks."""

    tasks: Mapping[str, GatedTask]
    pooled: PooledTonight | None


def tonight(history: TrackHistory, uid: str, policy: Policy, alpha: float) -> Tonight:
    """Compare a run with the base of its track.

    Critical and supporting tasks and the pooled difference share `alpha`: half goes to the tasks in equal
    parts, the other half to the pooled difference.

    Args:
        uid: a point of the track.
        alpha: chance of a false alarm on an unchanged model, over everything that can fail the gate.
    """
    own = {name: series for name, series in history.series.items() if uid in series.uids}
    asked = {name: policy.of(name, series.gating) for name, series in own.items()}
    deciding = [name for name, task in asked.items() if task.tier != "advisory"]
    critical = [name for name, task in asked.items() if task.tier == "critical"]
    pools = len(critical) > 1 and policy.pooled != "advisory"
    share = (alpha / 2 if pools else alpha) / max(1, len(deciding))
    pairs = {name: _pair(series, uid) for name, series in own.items()}
    tasks = {
        name: _gated(asked[name], pairs[name], share if name in deciding else None) for name in sorted(own)
    }
    tasks |= {
        name: _absent(task) for name, task in policy.tasks.items() if task.is_required and name not in own
    }
    known = {name: pair for name in critical if (pair := pairs[name]) is not None}
    return Tonight(tasks, _pooled(known, alpha / 2) if pools else None)


def _pair(series: TaskSeries, uid: str) -> Paired | None:
    """Return the paired difference of a run to its base, or None if the base has no equal draw."""
    epoch = next(epoch for epoch in series.epochs if uid in epoch.uids)
    if epoch.base_sums is None or epoch.base_counts is None:
        return None
    row = epoch.uids.index(uid)
    k = int(series.ks[series.uids.index(uid)])
    base = scores_of(epoch.base_sums, epoch.base_counts, int(epoch.base_counts.max(initial=1)))
    return paired(base, scores_of(epoch.sums[row], epoch.counts[row], k), groups=epoch.groups)


def scores_of(sums: Floats, counts: Ints, k: int) -> Scores:
    """Return scores with given sums and counts for each problem, k samples each.

    A sum of whole numbers becomes ones and zeros. Another sum becomes equal parts, which keeps the mean.
    Samples above the count are excluded.
    """
    k = max(k, int(counts.max(initial=0)), 1)
    column = np.arange(k)[None, :]
    whole = np.isclose(sums, np.rint(sums))[:, None]
    means = np.divide(sums, counts, out=np.zeros(len(sums)), where=counts > 0)[:, None]
    values = np.where(whole, (column < np.rint(sums)[:, None]).astype(np.float64), means)
    values = np.where(column < counts[:, None], values, np.nan)
    return Scores(np.clip(values, 0.0, 1.0), np.full(len(sums), k, dtype=np.int64))


def _gated(asked: TaskPolicy, found: Paired | None, level: float | None) -> GatedTask:
    """Return the decision on one task, by its intervals."""
    if found is None or found.clusters is None or found.base is None or found.difference is None:
        return _undecided(asked, "no base")
    margin = _margin(asked, found.base)
    # Flipping signs of what exceeds the margin inverts the test: -margin is then outside the interval.
    p = sign_flip(found.clusters.totals + margin * found.clusters.sizes).p_regression
    if asked.rule == "proven":
        failed = found.lower is None or found.lower <= -margin
    else:
        failed = level is not None and p <= level
    return GatedTask(
        tier=asked.tier,
        rule=asked.rule,
        state="failed" if failed else "held",
        n=found.n - found.left_out,
        base=found.base,
        tonight=found.tuned,
        difference=found.difference,
        margin=margin,
        level=level,
        lower=found.lower,
        p=p,
        ci=found.ci,
        gain=found.ci is not None and found.ci[0] > 0,
    )


def _margin(asked: TaskPolicy, base: float) -> float:
    """Return the acceptable loss as a fraction of 1."""
    if asked.relative is not None:
        return asked.relative / 100 * base
    return (asked.margin or 0.0) / 100


def _absent(asked: TaskPolicy) -> GatedTask:
    return _undecided(asked, "missing")


def _undecided(asked: TaskPolicy, state: str) -> GatedTask:
    """Return the record of a task without a difference."""
    empty = dict.fromkeys(("n", "base", "tonight", "difference", "level", "lower", "p", "ci"))
    return GatedTask.model_validate(
        {
            "tier": asked.tier,
            "rule": asked.rule,
            "state": state,
            "margin": (asked.margin or 0.0) / 100,
            "gain": False,
            **empty,
        }
    )


def _pooled(tasks: Mapping[str, Paired], level: float) -> PooledTonight:
    """Return the pooled difference of the critical tasks."""
    found = pool(tasks)
    return PooledTonight(
        tasks=tuple(found.tasks),
        difference=found.difference,
        p_regression=found.p_regression,
        level=level,
        failed=found.p_regression <= level,
    )
