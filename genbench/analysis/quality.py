"""Whether the tasks of stored runs can tell their models apart, and what to do about each that cannot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from genbench.analysis.records import Interval
from genbench.analysis.results.record import Results, TaskResults
from genbench.analysis.results.run_state import require_results
from genbench.errors import InputError, nearest
from genbench.json_record import Count, JsonRecord, Share
from genbench.stats.intervals import wilson
from genbench.stats.quality import (
    Abilities,
    abilities,
    decision_accuracy,
    key_wrong,
    reliability,
    signal_to_noise,
    undecided,
    useful,
)
from genbench.stats.scores import Floats
from genbench.stats.tracks.changepoints import night_variances
from genbench.stats.tracks.curves import monotonicity
from genbench.store.folder import RunFolder
from genbench.store.manifest import Manifest
from genbench.store.sums import TaskSums, read_sums

Advice = Literal["keep", "raise k", "audit", "drop"]
_HALF = _LIKELY = 0.5
_MODELS_FOR_HALVES = 8
_AGREEING = 3
_FAMILIES = 6
"""Most unrelated models whose answers are read."""


class SuspiciousKey(JsonRecord):
    """A problem on whose answer unrelated models agree against the reference."""

    problem_id: str = Field(description="the problem")
    answer: str = Field(description="what they say")
    runs: tuple[str, ...] = Field(description="runs most of whose samples say so")
    families: Count = Field(description="unrelated models among them: runs of one architecture count once")
    wrong: Share = Field(description="chance that the reference is wrong")


class TaskQuality(JsonRecord):
    """How well one task tells the models apart."""

    n: Count = Field(description="problems that all runs have")
    k: Count = Field(description="samples of a problem in the run with fewest")
    useful: float = Field(
        description="as how many problems at 50 % these tell the two runs apart that they tell apart best"
    )
    undecided: Share = Field(description="problems surely right, or surely wrong, in first and last run")
    sampling: float = Field(description="standard error of one run by its samples alone")
    nights: float | None = Field(
        description="what runs move beyond their samples (standard deviation); null without a track"
    )
    signal_to_noise: float | None = Field(
        description="spread of the runs over the noise of one; null without noise"
    )
    decision: Share | None = Field(
        description="pairs of runs that keep their order on other problems; 0.5 is a coin, as of equal models"
    )
    decision_ci: Interval | None = Field(description="95% interval of `decision`")
    apart: bool = Field(
        default=False, description="whether two of the runs differ: p at most 5 % over all pairs of runs"
    )
    reliability: float | None = Field(description="split-half reliability; null below eight runs")
    monotonic: float | None = Field(
        description="rank correlation of step and score; null if the runs are not steps of one training"
    )
    ceiling: Share = Field(
        description="what a perfect model would score if keys are wrong that are more likely so than not"
    )
    ceiling_ci: Interval = Field(description="95% interval of `ceiling`")
    suspicious: tuple[SuspiciousKey, ...] = Field(description="references that look wrong, the surest first")
    seconds: float | None = Field(description="seconds of drawing of one run; null if nothing was drawn")
    advice: Advice = Field(description="keep, raise k, audit or drop")
    why: str = Field(description="the reason of the advice")


class Quality(JsonRecord):
    """The tasks of several runs."""

    format: Literal[1] = Field(description="version of this record")
    runs: tuple[str, ...] = Field(description="the runs, in the order of their nights or steps")
    is_track: bool = Field(description="whether the runs are nights or steps of one track")
    tasks: dict[str, TaskQuality] = Field(description="by name")
    left_out: dict[str, Count] = Field(
        default_factory=dict,
        description="tasks of which the runs share fewer than two problems, with the number that they share",
    )


@dataclass(frozen=True, slots=True)
class _Run:
    path: Path
    manifest: Manifest
    results: Results
    sums: Mapping[str, TaskSums]

    @property
    def family(self) -> str:
        """What models of one architecture share. Unrelated models differ in it."""
        told = self.manifest.architecture.get("architectures")
        return str(told) if told else self.manifest.model_identity


def quality(
    runs: Sequence[str | Path], tasks: Sequence[str] = (), *, is_track: bool | None = None
) -> Quality:
    """Return how well each task tells the models of some runs apart.

    Args:
        runs: at least two run folders: models, checkpoints or nights of one suite.
        tasks: only these. Empty: all that every run has.
        is_track: whether the runs are a series, whose noise is estimated. None: if all name one track.

    Raises:
        InputError: fewer than two runs, or one that is not finished or has no sums, or a task of `tasks` of
            which they share fewer than two problems.
    """
    found = [_read(Path(path)) for path in runs]
    if len(found) < 2:
        raise InputError("wanted two runs or more: models, checkpoints or nights of one suite")
    tracks = {run.manifest.track.name if run.manifest.track else None for run in found}
    series = is_track if is_track is not None else len(tracks) == 1 and None not in tracks
    if series:
        found.sort(key=lambda run: run.manifest.track.position if run.manifest.track else 0)
    shared = [name for name in found[0].sums if all(name in run.sums for run in found)]
    for name in tasks:
        if name not in shared:
            raise InputError(f"no task '{name}' in all runs{nearest(name, shared)}")
    common = {name: _common(name, found) for name in shared if not tasks or name in tasks}
    few = {name: len(ids) for name, ids in common.items() if len(ids) < 2}
    if few and (tasks or len(few) == len(common)):
        name, n = next(iter(few.items()))
        raise InputError(f"task {name}: {n} problems are in all runs; wanted two or more")
    return Quality(
        format=1,
        runs=tuple(str(run.path) for run in found),
        is_track=series,
        tasks={name: _task(name, found, series, ids) for name, ids in common.items() if name not in few},
        left_out=few,
    )


def _read(path: Path) -> _Run:
    folder = RunFolder(path)
    manifest, results = folder.require_manifest(), require_results(folder)
    if results.sums is None:
        raise InputError(f"{path}: has no sums.json; write it with: genbench score {path}")
    return _Run(path, manifest, results, read_sums(path, results.sums).tasks)


def _rows(name: str, runs: Sequence[_Run]) -> list[dict[str, tuple[float, int]]]:
    """Return sum and number of the scores of each problem of a task, run by run."""
    return [dict(zip(run.sums[name].problem_ids, _pairs(run.sums[name]), strict=True)) for run in runs]


def _common(name: str, runs: Sequence[_Run]) -> list[str]:
    """Return the problems that have scores in all runs."""
    rows = _rows(name, runs)
    return [problem for problem in rows[0] if all(row.get(problem, (0, 0))[1] for row in rows)]


def _task(name: str, runs: Sequence[_Run], series: bool, ids: Sequence[str]) -> TaskQuality:
    rows = _rows(name, runs)
    sums = np.array([[row[problem][0] for problem in ids] for row in rows])
    counts = np.array([[row[problem][1] for problem in ids] for row in rows])
    means = sums / counts
    fits = [abilities(right, count) for right, count in zip(sums, counts, strict=True)]
    keys = tuple(_suspicious(name, runs))
    wrong = sum(key.wrong >= _LIKELY for key in keys) / len(ids)
    sampling = float(
        np.sqrt(np.mean([_sampling(fit, len(ids), count) for fit, count in zip(fits, counts, strict=True)]))
    )
    nights = _night_noise(means) if series and len(means) > 2 else None
    scores = means.mean(axis=1)
    noise = float(np.hypot(sampling, nights or 0.0))
    decisions = decision_accuracy(means, _groups(name, runs, ids))
    record = TaskQuality(
        n=len(ids),
        k=int(counts.min()),
        useful=useful(fits),
        undecided=undecided(fits[0], fits[-1]),
        sampling=sampling,
        nights=nights,
        signal_to_noise=_ratio(scores, noise, series),
        decision=decisions.accuracy,
        decision_ci=(decisions.low, decisions.high),
        apart=decisions.apart,
        reliability=reliability(means, seed=1) if len(runs) >= _MODELS_FOR_HALVES else None,
        monotonic=_monotonic(runs, scores),
        ceiling=1 - wrong,
        ceiling_ci=_flipped(wilson(wrong, len(ids))),
        suspicious=keys,
        seconds=_seconds(name, runs[-1]),
        advice="keep",
        why="",
    )
    advice, why = _advice(record, float(np.ptp(scores)))
    return record.model_copy(update={"advice": advice, "why": why})


def _groups(name: str, runs: Sequence[_Run], ids: Sequence[str]) -> list[str | None] | None:
    """Return the cluster of each problem as the first run that names any has it, or None."""
    for sums in (run.sums[name] for run in runs):
        if sums.groups is not None:
            own = dict(zip(sums.problem_ids, sums.groups, strict=True))
            return [own[problem] for problem in ids]
    return None


def _pairs(sums: TaskSums) -> list[tuple[float, int]]:
    return list(zip(sums.sums, sums.counts, strict=True))


def _sampling(fit: Abilities, n: int, counts: Floats) -> float:
    """Return the variance of a mean of n problems that comes from drawing their samples."""
    return float((fit.posterior * (1 - fit.posterior) / counts).sum()) / n**2


def _night_noise(means: Floats) -> float:
    """Return the standard deviation by which the runs of a series move beyond their samples."""
    steps = np.diff(means, axis=0)
    variances = steps.var(axis=1, ddof=1) / steps.shape[1]
    return float(np.sqrt(night_variances(steps.mean(axis=1), variances)[-1]))


def _ratio(scores: Floats, noise: float, series: bool) -> float | None:
    if scores.mean() <= 0:
        return None
    if series and len(scores) >= 8:
        half = len(scores) // 2
        return signal_to_noise(scores.tolist(), scores[half:].tolist()).ratio
    return float(np.ptp(scores) / noise) if noise > 0 else None


def _flipped(bounds: tuple[float, float]) -> Interval:
    return 1 - bounds[1], 1 - bounds[0]


def _monotonic(runs: Sequence[_Run], scores: Floats) -> float | None:
    steps = [
        run.manifest.track.position
        for run in runs
        if run.manifest.track and run.manifest.track.kind == "step"
    ]
    return monotonicity(steps, scores.tolist()) if len(steps) == len(runs) else None


def _seconds(name: str, run: _Run) -> float | None:
    """Return the seconds of drawing of a task: the run's, shared by tokens."""
    tokens = {task: _tokens(own) for task, own in run.results.tasks.items()}
    drawing = sum(attempt.generation_s for attempt in run.manifest.attempts)
    total = sum(tokens.values())
    return drawing * tokens[name] / total if total and drawing else None


def _tokens(task: TaskResults) -> float:
    return float(getattr(task.tokens, "completion", 0) or 0) if task.tokens else 0.0


def _suspicious(name: str, runs: Sequence[_Run]) -> Iterator[SuspiciousKey]:
    """Yield problems on which unrelated models agree against the reference, the surest first."""
    newest = {run.family: run for run in runs}
    read = list(newest.values())[:_FAMILIES]
    said: dict[str, dict[str, list[_Run]]] = {}
    for run in read:
        for problem, answer in _agreed(RunFolder(run.path), name):
            said.setdefault(problem, {}).setdefault(answer, []).append(run)
    found = list[SuspiciousKey]()
    for problem, answers in said.items():
        answer, own = max(answers.items(), key=lambda item: len(item[1]))
        if len(own) < min(len(read), 2):
            continue  # others of the models do not say so
        found.append(
            SuspiciousKey(
                problem_id=problem,
                answer=answer,
                runs=tuple(str(run.path) for run in own),
                families=len(own),
                wrong=key_wrong(len(own)),
            )
        )
    yield from sorted(found, key=lambda key: (-key.wrong, key.problem_id))


def _agreed(folder: RunFolder, task: str) -> Iterator[tuple[str, str]]:
    """Yield (problem, answer) where half or more of a problem's samples give one answer that is wrong.

    Tasks whose answers are a few classes have none: models that err agree there by chance.
    """
    answers: dict[str, Counter[str]] = {}
    right: set[tuple[str, str]] = set()
    scored: Counter[str] = Counter()
    for verdict in folder.verdicts(task):
        problem = verdict.sample.problem_id
        if verdict.score is None:
            continue
        scored[problem] += 1
        if verdict.extracted is not None:
            answer = " ".join(verdict.extracted.split())[:200]
            answers.setdefault(problem, Counter())[answer] += 1
            if verdict.score:
                right.add((problem, answer))
    if len({answer for own in answers.values() for answer in own}) < _LEAST_ANSWERS:
        return
    for problem, own in answers.items():
        answer, count = own.most_common(1)[0]
        if (
            (problem, answer) not in right
            and count >= min(_AGREEING, scored[problem])
            and count >= _HALF * scored[problem]
        ):
            yield problem, answer


_LEAST_ANSWERS = 4
_LEAST_USEFUL = 20.0
_WRONG_KEYS = 0.02
_BARELY = 0.7
_SPREAD = 0.1
"""Runs whose scores are this far apart are told apart, or could be with more problems like these."""
_ENOUGH_SAMPLES = 16


def _advice(task: TaskQuality, spread: float) -> tuple[Advice, str]:
    """Return what to do with a task, and why, from what is most wrong with it.

    Args:
        spread: the largest difference of the scores of two runs.
    """
    suspicious, decision = len(task.suspicious), task.decision or 0.0
    if 1 - task.ceiling >= _WRONG_KEYS and suspicious >= 2:
        return "audit", f"{suspicious} keys look wrong: a perfect model would score {100 * task.ceiling:.1f}"
    if task.apart:
        return "keep", "tells these models apart"
    if task.useful < min(_LEAST_USEFUL, 0.1 * task.n) and spread < _SPREAD:
        return "drop", f"worth {task.useful:.0f} problems: these models solve all the others, or none"
    if task.nights is not None and task.nights > task.sampling:
        return "keep", "runs move more than their samples: average checkpoints, more samples do not help"
    if task.k < _ENOUGH_SAMPLES and decision < _BARELY:
        return "raise k", f"{100 * decision:.0f} % of the pairs keep their order, and samples are noise"
    return "keep", "does not tell these models apart"
