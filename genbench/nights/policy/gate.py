"""The nightly gate: tonight's run and its track's history in one decision.

Tonight's run is compared with the base task by task, from the sums of their problems.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from genbench.analysis.records import Interval
from genbench.analysis.results.run_state import edit_words
from genbench.analysis.stopping import StoppingChange, stopping_changes, stopping_words
from genbench.engines.checkpoint import is_declared, no_gate_base
from genbench.errors import InputError, nearest
from genbench.json_record import Count, JsonRecord, Share
from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.history import Night, TaskSeries, TrackHistory, track_history
from genbench.nights.ledger.ingest import add
from genbench.nights.ledger.measures import CUT_OFF, MeasurePair, measure_pairs, share_pairs
from genbench.nights.ledger.run_facts import read_facts
from genbench.nights.policy.config import (
    BY_SUITE,
    Measure,
    MeasurePolicy,
    Policy,
    Rule,
    TaskPolicy,
    Tier,
)
from genbench.stats.comparison.differences import difference_interval, lower_bound
from genbench.stats.comparison.gate import pool
from genbench.stats.comparison.paired import Paired, paired
from genbench.stats.comparison.sign_flip_test import sign_flip
from genbench.stats.intervals import t_quantile
from genbench.stats.resample import Clusters, cluster
from genbench.stats.scores import Floats, Ints, Scores
from genbench.store.state import SealWord


class GatedTask(JsonRecord):
    """One task of tonight's run against the base. Differences are fractions of 1."""

    tier: Tier = Field(description="critical, supporting or advisory")
    rule: Rule = Field(description="not_worse or proven, see the policy")
    state: Literal["held", "failed", "missing", "no base"] = Field(
        description="missing: the run lacks the task; no base: the base was not drawn under these terms"
    )
    measure: Literal["score", "stopping", "bpb_gold"] = Field(
        default="score",
        description="what is compared. stopping: share of the samples that ended by themselves; bpb_gold: "
        "bits per byte of the right choice",
    )
    n: Count | None = Field(description="problems that both runs have scored")
    base: float | None = Field(description="score, or measure, of the base on them")
    tonight: float | None = Field(description="score, or measure, of tonight's run on them")
    difference: float | None = Field(
        description="tonight - base; of bpb_gold, of which less is better, base - tonight"
    )
    margin: float = Field(description="loss that is acceptable")
    level: Share | None = Field(description="chance of a false alarm of this task tonight; null if untested")
    lower: float | None = Field(
        description="one-sided 95% lower bound of the difference, with excluded samples against tonight"
    )
    p: Share | None = Field(
        description="one-sided p value of a loss above the margin, by sign flips: a loss is shown at `level`"
    )
    ci: Interval | None = Field(description="95% interval for new questions")
    gain: bool = Field(description="whether the 95% interval is above 0; never a reason")


class GatedChange(JsonRecord):
    """An open change of the track's history."""

    id: str = Field(description="name of the change")
    task: str | None = Field(description="the task; null for all gating tasks together")
    tier: Tier = Field(description="tier of the task, or of the pooled difference")
    since: str = Field(description="night or step at which it most likely began")
    found: str = Field(description="night or step at which it was found")
    size: float = Field(description="after minus before, a fraction of 1, after search")
    ci: Interval = Field(description="its 95% interval, after search")
    counts: bool = Field(description="whether tonight's run is after it")


class PooledTonight(JsonRecord):
    """The pooled difference of the critical tasks tonight."""

    tasks: tuple[str, ...] = Field(description="the tasks")
    difference: float | None = Field(description="inverse-variance mean of their differences")
    p_regression: Share = Field(description="one-sided p value of a drop")
    level: Share = Field(description="level of its test")
    failed: bool = Field(description="whether a drop is shown")


class NightlyGate(JsonRecord):
    """Tonight's run and its track's history in one decision."""

    format: Literal[1] = Field(description="version of this record")
    track: str = Field(description="the track")
    run: str = Field(description="uid of tonight's run")
    path: str | None = Field(description="its folder")
    label: str = Field(description="its night or step")
    model: str = Field(description="name of the model")
    base: str | None = Field(description="uid of the base")
    policy: str = Field(description="name of the policy")
    alpha: Share = Field(description="chance of a false alarm tonight: yearly budget / runs in a year")
    tasks: dict[str, GatedTask] = Field(
        description="by name; a measure of a task is named `TASK stopping` or `TASK bpb_gold`"
    )
    stopping: dict[str, StoppingChange] = Field(
        default_factory=dict, description="how the replies of each task end in the base and tonight"
    )
    pooled: PooledTonight | None = Field(description="null with fewer than two critical tasks")
    changes: tuple[GatedChange, ...] = Field(description="open drops of the track")
    verdict: Literal["pass", "fail"] = Field(description="the decision")
    reasons: tuple[str, ...] = Field(description="why it fails, in words; empty if it passes")
    remarks: tuple[str, ...] = Field(description="what is shown and does not decide")
    seal: SealWord = Field(
        default="unsealed",
        description="whole: the run's files are as they were written; unsealed: nothing tells (an older run)",
    )
    exit_code: Literal[0, 1] = Field(description="0 pass, 1 fail; 2 (could not be asked) leaves no JSON")


@dataclass(frozen=True, slots=True)
class Tonight:
    """The tasks of tonight's run, and their pooled difference. `absent` are required tasks that it lacks."""

    tasks: Mapping[str, GatedTask]
    pooled: PooledTonight | None
    stopping: Mapping[str, StoppingChange] = field(default_factory=dict)


def tonight(
    history: TrackHistory,
    uid: str,
    policy: Policy,
    alpha: float,
    measured: Mapping[str, MeasurePair] | None = None,
) -> Tonight:
    """Compare a run with the base of its track.

    Critical and supporting tasks and the pooled difference share `alpha`: half goes to the tasks in equal
    parts, the other half to the pooled difference.

    Args:
        uid: a point of the track.
        alpha: chance of a false alarm on an unchanged model, over everything that can fail the gate. How
            replies end is told with the same chance once more.
        measured: the measures of the run next to those of the base, by task.
    """
    measured = measured or {}
    own = {name: series for name, series in history.series.items() if uid in series.uids}
    asked = {name: policy.of(name, series.gating) for name, series in own.items()}
    measures = _asked_measures(policy, measured)
    deciding = [name for name, task in asked.items() if task.tier != "advisory"]
    deciding += [name for name, (_, _, task) in measures.items() if task.tier != "advisory"]
    critical = [name for name, task in asked.items() if task.tier == "critical"]
    pools = len(critical) > 1 and policy.pooled != "advisory"
    share = (alpha / 2 if pools else alpha) / max(1, len(deciding))
    pairs = {name: _pair(series, uid) for name, series in own.items()}
    tasks = {
        name: gated_task(asked[name], pairs[name], share if name in deciding else None)
        for name in sorted(own)
    }
    for name, (task, measure, wanted) in measures.items():
        tasks[name] = _measured(wanted, measure, measured.get(task), share if name in deciding else None)
    absent = {name: task for name, task in policy.tasks.items() if task.is_required and name not in own}
    tasks |= {name: _undecided(task, "missing") for name, task in absent.items()}
    known = {name: pair for name in critical if (pair := pairs[name]) is not None}
    endings = stopping_changes(share_pairs(measured), alpha)
    return Tonight(tasks, _pooled(known, alpha / 2) if pools else None, endings)


def _asked_measures(
    policy: Policy, measured: Mapping[str, MeasurePair]
) -> dict[str, tuple[str, Measure, MeasurePolicy]]:
    """Return the measures that the policy asks of tasks, by the name that they have in the record."""
    return {
        f"{task} {measure}": (task, measure, wanted)
        for measure, wanted in policy.measures.items()
        for task in wanted.tasks
        or [name for name, pair in measured.items() if pair.columns(_COLUMNS[measure]) is not None]
    }


_COLUMNS: Mapping[Measure, str] = {"stopping": CUT_OFF, "bpb_gold": "bpb_gold"}
"""What is stored of each problem for a measure. Less is better."""


def _measured(
    asked: MeasurePolicy, measure: Measure, pair: MeasurePair | None, level: float | None
) -> GatedTask:
    """Return the decision on a measure of one task, by its intervals like that on a score."""
    columns = None if pair is None else pair.columns(_COLUMNS[measure])
    kept = None if columns is None else ~(np.isnan(columns[0]) | np.isnan(columns[1]))
    if pair is None or columns is None or kept is None or not kept.any():
        return _undecided(asked, "missing" if pair is not None else "no base", measure)
    groups = None if pair.groups is None else [pair.groups[place] for place in np.flatnonzero(kept)]
    base, own = (float(column[kept].mean()) for column in columns)
    clusters = cluster((columns[0] - columns[1])[kept], groups)
    margin = _margin(asked, base if measure == "bpb_gold" else 1 - base)
    p = sign_flip(clusters.totals + margin * clusters.sizes).p_regression
    low, (below, above) = _bounds(clusters, is_share=measure == "stopping")
    failed = low <= -margin if asked.rule == "proven" else level is not None and p <= level
    return GatedTask(
        tier=asked.tier,
        rule=asked.rule,
        state="failed" if failed else "held",
        measure=measure,
        n=int(kept.sum()),
        base=base if measure == "bpb_gold" else 1 - base,
        tonight=own if measure == "bpb_gold" else 1 - own,
        difference=clusters.mean,
        margin=margin,
        level=level,
        lower=low,
        p=p,
        ci=(below, above),
        gain=below > 0,
    )


def _bounds(clusters: Clusters, *, is_share: bool) -> tuple[float, tuple[float, float]]:
    """Return the one-sided 95 % lower bound and the 95 % interval of a mean difference."""
    if is_share:
        return lower_bound(clusters), difference_interval(clusters).bounds
    se = math.inf if clusters.se is None else clusters.se
    half = t_quantile(0.95, max(clusters.count, 2)) * se
    low = clusters.mean - t_quantile(0.9, max(clusters.count, 2)) * se
    return low, (clusters.mean - half, clusters.mean + half)


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


def gated_task(asked: TaskPolicy, found: Paired | None, level: float | None) -> GatedTask:
    """Return the decision on one task, by its intervals."""
    if found is None or found.clusters is None or found.base is None or found.difference is None:
        return _undecided(asked, "no base")
    margin = _margin(asked, found.base)
    # Flipping signs of what exceeds the margin inverts the test: -margin is then outside the interval. A loss
    # above the margin is a drop, so the test of exchange must show one too.
    p = sign_flip(found.clusters.totals + margin * found.clusters.sizes).p_regression
    p = max(p, found.p_regression or 0.0)
    if asked.rule == "proven":
        failed = found.lower is None or found.lower <= -margin
    else:
        failed = level is not None and p <= level
    return GatedTask.from_object(
        found,
        tier=asked.tier,
        rule=asked.rule,
        state="failed" if failed else "held",
        n=found.n - found.left_out,
        tonight=found.tuned,
        margin=margin,
        level=level,
        p=p,
        gain=found.ci is not None and found.ci[0] > 0,
    )


def _margin(asked: TaskPolicy, base: float) -> float:
    """Return the acceptable loss as a fraction of 1."""
    if asked.relative is not None:
        return asked.relative / 100 * base
    return (asked.margin or 0.0) / 100


def _undecided(asked: TaskPolicy, state: str, measure: str = "score") -> GatedTask:
    """Return the record of a task without a difference."""
    empty = dict.fromkeys(("n", "base", "tonight", "difference", "level", "lower", "p", "ci"))
    return GatedTask.from_object(
        asked, state=state, margin=(asked.margin or 0.0) / 100, measure=measure, gain=False, **empty
    )


def _pooled(tasks: Mapping[str, Paired], level: float) -> PooledTonight:
    """Return the pooled difference of the critical tasks."""
    found = pool(tasks)
    return PooledTonight.from_object(
        found, tasks=tuple(found.tasks), level=level, failed=found.p_regression <= level
    )


Detect = Callable[[Ledger, str], object]
"""Searches a track for changes and writes them to the ledger, see genbench.nights.trend.detect."""


def nightly_gate(
    ledger: Ledger,
    run: Path,
    track: str | None = None,
    *,
    policy: Policy | None = None,
    detect: Detect,
) -> NightlyGate:
    """Decide on tonight's run. A run that the ledger does not know yet is added first.

    The gate fails if a task is shown to be worse than the base beyond its margin, if a drop of the track is
    open and the run is after it, or if the run itself failed. Tonight's tests share a chance of a false alarm
    of the yearly budget over the runs of a year.

    Args:
        track: the run's track. None means that of its manifest.
        policy: tiers and margins. None means that the suite's gating tasks are critical.

    Raises:
        InputError: the run is unfinished or in another track, the track has no base, or the run is the base.
    """
    facts = read_facts(run, lines=True)
    outcome = add(ledger, [run])[0]
    if outcome.outcome == "refused":
        raise InputError(outcome.detail)
    if facts.state not in ("finished", "failed"):
        raise InputError(f"{run}: the run is {facts.state}; the command that started it continues it")
    name = _track_of(run, facts.uid, ledger, track, None if facts.track is None else facts.track.name)
    detect(ledger, name)
    history = track_history(ledger, name, tasks=())
    night = _night(history, facts.uid, run)
    history = replace(history, series=_series_since(ledger, history, night))
    chosen = policy or BY_SUITE
    alarms = chosen.alarms_per_year or history.track.alarms_per_year
    alpha = min(0.05, alarms / history.track.nights_per_year)
    if night.state == "failed":
        return _record(history, night, chosen, alpha, Tonight({}, None), changes=())
    if history.base is None:
        raise InputError(
            f"track {name}: its base {history.track.base_uid or ''} is not in the ledger; add its folder, or "
            f'name another one with: genbench ledger base {name} UID --reason "…"'
        )
    if history.base.uid == night.uid:
        raise InputError(
            f"{run}: is the base of track {name}, so nothing can be compared with it; the gate decides "
            f"from the next night on. Name another base with: genbench ledger base {name} UID --reason TEXT"
        )
    if is_declared(history.base.identity):
        raise InputError(no_gate_base(f"track {name}, base {history.base.uid}"))
    base_words = edit_words(Path(history.base.path), lines=False) if history.base.path else ()
    if base_words:
        raise InputError(
            f"track {name}: its base was edited: {base_words[0]}; restore the folder from a copy, or name "
            f'another base with: genbench ledger base {name} UID --reason "…"'
        )
    found = tonight(history, night.uid, chosen, alpha, measure_pairs(ledger, name, night.uid))
    record = _record(history, night, chosen, alpha, found, changes=tuple(_changes(history, night, chosen)))
    remarks = (*record.remarks, *facts.remarks)
    return record.model_copy(update={"seal": facts.seal, "remarks": remarks})


def _series_since(ledger: Ledger, history: TrackHistory, night: Night) -> Mapping[str, TaskSeries]:
    """Return the series from a night on, with the sums of problems. Those of earlier nights are not read."""
    later = {point.position for point in history.points if point.position >= night.position}
    return track_history(ledger, history.track.name, last=max(1, len(later))).series


def _track_of(run: Path, uid: str, ledger: Ledger, asked: str | None, own: str | None) -> str:
    """Return the track of a run.

    Raises:
        InputError: it has none, or not the one that was asked for.
    """
    name = asked or own
    if name is None:
        raise InputError(
            f"{run}: belongs to no track; draw it with `genbench run --night`, or say where it belongs: "
            f"genbench ledger add {run} --track NAME --night DATE"
        )
    history = track_history(ledger, name, tasks=())
    if not any(night.uid == uid for night in (*history.points, *history.anchors, *history.others)):
        raise InputError(f"{run}: is not in track {name}" + (f", its manifest says {own}" if own else ""))
    return name


def _night(history: TrackHistory, uid: str, run: Path) -> Night:
    nights = (*history.points, *history.anchors, *history.others)
    night = next(night for night in nights if night.uid == uid)
    if night.role == "anchor":
        raise InputError(
            f"{run}: is an anchor, the base's model drawn again; ask for the watched model of the night"
        )
    return night


def _changes(history: TrackHistory, night: Night, policy: Policy) -> Iterator[GatedChange]:
    """Yield the open drops of a track."""
    nights = {item.uid: item for item in (*history.points, *history.anchors)}
    for change in history.changes:
        first = nights.get(change.first_uid)
        if change.state != "open" or change.direction != "drop":
            continue
        tier = policy.pooled if change.task is None else policy.of(change.task, change.gating).tier
        found = nights.get(change.found_uid)
        since = first.position if first else change.found_position
        yield GatedChange.from_object(
            change,
            tier=tier,
            since=first.label if first else "?",
            found=found.label if found else "?",
            counts=night.position >= since,
        )


def _record(
    history: TrackHistory,
    night: Night,
    policy: Policy,
    alpha: float,
    found: Tonight,
    *,
    changes: tuple[GatedChange, ...],
) -> NightlyGate:
    reasons = [*_run_reasons(night), *_reasons(found, changes, policy)]
    if night.state == "finished" and all(task.tier == "advisory" for task in found.tasks.values()):
        reasons.append(f"no task of the run decides by the policy {policy.name}: all are advisory")
    return NightlyGate.from_object(
        night,
        format=1,
        track=history.track.name,
        run=night.uid,
        base=history.base.uid if history.base else None,
        policy=policy.name,
        alpha=alpha,
        tasks=dict(found.tasks),
        pooled=found.pooled,
        changes=changes,
        verdict="fail" if reasons else "pass",
        reasons=tuple(reasons),
        stopping=dict(found.stopping),
        remarks=(
            *(
                f"{name}: {line}"
                for name, own in found.stopping.items()
                if own.is_worse
                for line in stopping_words(own, night.model)
            ),
            *_remarks(found.tasks, found.pooled, changes, policy),
            *_unknown(policy, history.series),
        ),
        exit_code=1 if reasons else 0,
    )


def _run_reasons(night: Night) -> list[str]:
    if night.state != "failed":
        return []
    return [f"the run failed: {line}" for line in night.failed] or ["the run failed"]


def _reasons(found: Tonight, changes: tuple[GatedChange, ...], policy: Policy) -> Iterator[str]:
    """Yield why the gate fails."""
    supporting: list[str] = []
    for name, task in found.tasks.items():
        words = _task_words(name, task)
        if words is None or task.tier == "advisory":
            continue
        if task.tier == "critical" or task.state == "missing":
            yield words
        else:
            supporting.append(words)
    if found.pooled is not None and found.pooled.failed and policy.pooled == "critical":
        yield _pooled_words(found.pooled)
    for change in changes:
        if change.counts and change.tier == "critical":
            yield _change_words(change)
        elif change.counts and change.tier == "supporting":
            supporting.append(_change_words(change))
    if len(supporting) > policy.supporting_failures:
        yield from (f"{words} (supporting)" for words in supporting)


def _task_words(name: str, task: GatedTask) -> str | None:
    """Return why a task fails, or None if it passes."""
    if task.measure != "score":
        return _measure_words(name, task)
    if task.state == "missing":
        return f"{name}: required, and the run lacks it"
    if task.state == "no base":
        return (
            f"{name}: the base was not drawn under tonight's terms; draw it in this track, so that the gate "
            "has something to compare with"
        )
    if task.state == "held" or task.difference is None:
        return None
    margin = f" beyond the margin of {100 * task.margin:.2g}" if task.margin else ""
    if task.rule == "proven":
        lower = "unknown" if task.lower is None else f"{100 * task.lower:+.1f}"
        return (
            f"{name}: a loss of {100 * task.margin:.2g} points is not excluded (difference "
            f"{100 * task.difference:+.1f}, lower bound {lower})"
        )
    return f"{name}: {100 * task.difference:+.1f} points against the base{margin}, p = {task.p:.2g}"


def _measure_words(name: str, task: GatedTask) -> str | None:
    """Return why a measure fails: `gsm8k stopping: 98.0 -> 41.0 % of the samples end by themselves`."""
    if task.state == "held":
        return None
    if task.base is None or task.tonight is None or task.p is None:
        return (
            f"{name}: is not known of this run and of a base under its terms; runs of older versions have it "
            "after: genbench score RUN, and genbench ledger add RUN"
        )
    why = f"p = {task.p:.2g}" if task.rule == "not_worse" else "such a loss is not excluded"
    if task.measure == "stopping":
        margin = f", margin {100 * task.margin:.2g} points" if task.margin else ""
        shares = f"{100 * task.base:.1f} -> {100 * task.tonight:.1f} %"
        return f"{name}: {shares} of the samples end by themselves{margin}, {why}"
    margin = f", margin {task.margin:.3g}" if task.margin else ""
    return (
        f"{name}: {task.base:.4g} -> {task.tonight:.4g} bits per byte of the right choice, of which less is "
        f"better{margin}, {why}"
    )


def _pooled_words(pooled: PooledTonight) -> str:
    moved = "" if pooled.difference is None else f" {100 * pooled.difference:+.2f} points,"
    return f"pooled over {len(pooled.tasks)} tasks:{moved} p = {pooled.p_regression:.2g}"


def _change_words(change: GatedChange) -> str:
    what = change.task or "pooled over the gating tasks"
    low, high = (-100 * bound for bound in reversed(change.ci))
    return (
        f"{what}: fell {-100 * change.size:.1f} points [{low:.1f}, {high:.1f}] with {change.since} and "
        f"has not recovered ({change.id}, after search)"
    )


def _unknown(policy: Policy, known: Collection[str]) -> Iterator[str]:
    """Yield the tasks of a policy that no run of the track has: they may be misspelt."""
    for name in policy.tasks:
        if name not in known:
            yield f"policy {policy.name} names the task '{name}', which no run here has{nearest(name, known)}"


def _remarks(
    tasks: Mapping[str, GatedTask],
    pooled: PooledTonight | None,
    changes: tuple[GatedChange, ...],
    policy: Policy,
) -> Iterator[str]:
    """Yield what is shown and does not decide."""
    for name, task in tasks.items():
        words = _task_words(name, task)
        if words is not None and task.tier == "advisory":
            yield f"{words} (advisory)"
        if task.gain and task.difference is not None and task.measure == "score":
            yield f"{name}: {100 * task.difference:+.1f} points better than the base"
    failing = [name for name, task in tasks.items() if task.tier == "supporting" and task.state == "failed"]
    if failing and len(failing) <= policy.supporting_failures:
        yield f"{', '.join(failing)}: failed; the policy accepts {policy.supporting_failures} of them"
    if pooled is not None and pooled.failed and policy.pooled != "critical":
        yield f"{_pooled_words(pooled)} ({policy.pooled})"
    for change in changes:
        if not change.counts:
            yield f"{_change_words(change)}; this run is before it"
        elif change.tier == "advisory":
            yield f"{_change_words(change)} (advisory)"
