"""A ranking of several models from the pairs of answers that a judge compared in their stored runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field
from scipy.special import expit

from genbench.analysis.comparison import comparability
from genbench.analysis.records import Interval
from genbench.analysis.sides.loading import open_side, require_finished
from genbench.analysis.sides.side import Side, SideTask
from genbench.errors import InputError, nearest
from genbench.json_record import Count, JsonRecord, Share
from genbench.stats.pairwise import Pair, Strength, bradley_terry
from genbench.store.manifest import TaskRecord


class RankedRun(JsonRecord):
    """A run that was ranked."""

    path: str = Field(description="the run folder")
    model_identity: str | None = Field(description="digest of the model")


class RankingJudge(JsonRecord):
    """The judge whose verdicts the ranking uses."""

    name: str = Field(description="the judge's name")
    digest: str = Field(description="digest of prompt, labels and settings")
    unpinned: bool = Field(description="whether the judge's verdicts cannot be reproduced")


class RankedModel(JsonRecord):
    """One model of a ranking. Strengths are log odds over the reference."""

    name: str = Field(description="the model's name")
    strength: float | None = Field(description="log odds over the reference; null if it cannot be given")
    se: float | None = Field(description="standard error, clustered by problem")
    ci: tuple[float, float] | None = Field(description="95% interval of the strength, in log odds")
    beats_reference: Share | None = Field(description="chance of winning a pair against the reference")
    beats_reference_ci: Interval | None = Field(description="95% interval of `beats_reference`")
    pairs: Count = Field(description="pairs of this model")
    wins: Count = Field(description="pairs that the model won")
    ties: Count = Field(description="pairs that the model tied")
    losses: Count = Field(description="pairs that the model lost")


class RankedTask(JsonRecord):
    """The ranking of one task."""

    judge: RankingJudge = Field(description="the judge of the pairs")
    pairs: Count = Field(description="pairs with a score")
    problems: Count = Field(description="problems, which are the clusters of the intervals")
    itself: Count = Field(
        description="number of runs left out because they were compared with their own answers"
    )
    reference: str | None = Field(description="the model at strength 0")
    models: tuple[RankedModel, ...] = Field(description="models, strongest first")
    missing: str | None = Field(description="why there are no strengths; null if they are given")


class Ranking(JsonRecord):
    """Several models ranked by the pairs that their stored runs were judged in."""

    format: Literal[1] = Field(description="version of this record")
    runs: tuple[RankedRun, ...] = Field(description="the ranked runs")
    tasks: dict[str, RankedTask] = Field(description="rankings by task")
    allowed: tuple[str, ...] = Field(description="differences that --allow let through")


@dataclass(frozen=True, slots=True)
class _Entrant:
    """One run's pairs in one task: the model's name and its opponent's."""

    side: Side
    task: SideTask
    name: str
    opponent: str


def rank(
    paths: Sequence[Path | str],
    *,
    tasks: Sequence[str] = (),
    reference: str | None = None,
    allow: Sequence[str] = (),
) -> Ranking:
    """Rank models by Bradley-Terry strengths over stored runs whose tasks were judged in pairs.

    Args:
        paths: run folders.
        tasks: the tasks to rank by. Empty: every task judged in pairs.
        reference: the model at strength 0. None: the opponent of most pairs.
        allow: names of differences (`verifier`, `data` …) to let through.

    Raises:
        InputError: a run is missing or unfinished, or there is no such task or model.
        NotComparableError: runs of one task have other judges, data or versions.
    """
    comparability.check_names(allow)
    sides = [open_side(Path(path), ()) for path in paths]
    for side in sides:
        require_finished(side)
    entrants = _entrants(sides, tasks)
    found = [item for of_task in entrants.values() for item in _differences(of_task)]
    allowed = comparability.settle(found, allow, "the runs were judged differently")
    return Ranking(
        format=1,
        runs=tuple(RankedRun(path=str(side.path), model_identity=side.identity) for side in sides),
        tasks={name: _ranked_task(name, of_task, reference) for name, of_task in entrants.items()},
        allowed=tuple(map(str, allowed)),
    )


def _entrants(sides: Sequence[Side], tasks: Sequence[str]) -> dict[str, list[_Entrant]]:
    """Return the entrants of each task.

    Raises:
        InputError: no run has the task judged in pairs.
    """
    names = _names(sides)
    paired = {name for side in sides for name, task in side.tasks.items() if _is_in_pairs(task)}
    for name in tasks:
        if name not in paired:
            raise InputError(f"--task {name}: no run here has it judged in pairs{nearest(name, paired)}")
    if not paired:
        raise InputError(
            "no run here has a task judged in pairs: give one verifier: {judge: pairwise, baseline: RUN_DIR}"
        )
    return {
        name: [
            _Entrant(side, side.tasks[name], names[_identity(side)], _opponent(side.tasks[name], names))
            for side in sides
            if name in side.tasks and _is_in_pairs(side.tasks[name])
        ]
        for name in (tasks or sorted(paired))
    }


def _is_in_pairs(task: SideTask) -> bool:
    """Return whether a judge compared the task's answers with an opponent's."""
    return bool(_judge(task).get("in_pairs"))


def _names(sides: Sequence[Side]) -> dict[str, str]:
    """Return the model's name by identity, with its folder if two models have one name."""
    found = {_identity(side): side.name for side in sides}
    if len(set(found.values())) == len(found):
        return found
    return {_identity(side): "/".join(side.path.resolve().parts[-2:]) for side in sides}


def _identity(side: Side) -> str:
    """Return the model's identity."""
    return side.identity or str(side.path)


def _judge(task: SideTask) -> Mapping[str, Any]:
    """Return the manifest's entry on the task's judge, empty if there is none."""
    judge: Mapping[str, Any] = (
        task.described.judge.to_json() if task.described and task.described.judge else {}
    )
    return judge


def _described(entrant: _Entrant) -> TaskRecord:
    """Return the manifest's entry of an entrant's task. Only runs are ranked."""
    assert entrant.task.described is not None
    return entrant.task.described


def _opponent(task: SideTask, names: Mapping[str, str]) -> str:
    """Return the name of the opponent. A reference column is named after its task."""
    baseline = _judge(task).get("baseline")
    if baseline is None:
        return f"reference of {task.name}"
    return names.get(baseline["identity"]) or str(baseline["name"])


def _differences(entrants: Sequence[_Entrant]) -> Iterator[comparability.Difference]:
    """Yield the differences in judge, data and version of each further run from the first."""
    first = entrants[0]
    for other in entrants[1:]:
        for name, left, right in (
            ("verifier", _judge(first.task)["digest"], _judge(other.task)["digest"]),
            ("data", _described(first).data_digest, _described(other).data_digest),
            ("version", _described(first).version, _described(other).version),
        ):
            if left != right:
                detail = f"{left} -> {right} ({first.side.path} -> {other.side.path})"
                yield comparability.Difference(f"{name}.{first.task.name}", detail)


def _ranked_task(name: str, entrants: Sequence[_Entrant], wanted: str | None) -> RankedTask:
    """Return the ranking of one task.

    Raises:
        InputError: the wanted reference is in no pair.
    """
    pairs = [pair for entrant in entrants for pair in _pairs(entrant)]
    reference, missing = None, "no pair of two models has a score" if not pairs else None
    models: list[RankedModel] = []
    if pairs:
        reference = _reference(name, pairs, wanted)
        models, missing = ranked_models(pairs, reference)
    judge = _judge(entrants[0].task)
    return RankedTask(
        judge=RankingJudge(name=judge["name"], digest=judge["digest"], unpinned=judge["unpinned"]),
        pairs=len(pairs),
        problems=len({pair.problem for pair in pairs}),
        itself=sum(entrant.name == entrant.opponent for entrant in entrants),
        reference=reference,
        models=tuple(models),
        missing=missing,
    )


def _reference(task: str, pairs: Sequence[Pair], wanted: str | None) -> str:
    """Return the wanted reference, or else the opponent of most pairs."""
    models = _models(pairs)
    reference = wanted or max(models, key=[pair.second for pair in pairs].count)
    if reference not in models:
        raise InputError(f"--reference {reference}: no such model in {task}{nearest(reference, models)}")
    return reference


def _models(pairs: Sequence[Pair]) -> list[str]:
    """Return the models of the pairs in the order of their first pair."""
    return list(dict.fromkeys(side for pair in pairs for side in (pair.first, pair.second)))


def ranked_models(pairs: Sequence[Pair], reference: str) -> tuple[list[RankedModel], str | None]:
    """Return the models, strongest first, and why there are no strengths (None if there are)."""
    models = _models(pairs)
    try:
        found = bradley_terry(pairs, reference)
    except InputError as error:
        return [_ranked_model(model, pairs, None) for model in models], f"{error}{_one_sided(models, pairs)}"
    models.sort(key=lambda model: -found[model].value)
    return [_ranked_model(model, pairs, found[model]) for model in models], None


def _one_sided(models: Sequence[str], pairs: Sequence[Pair]) -> str:
    """Return the models that won or lost every pair. No finite strength describes them."""
    shares = {model: _scores(model, pairs) for model in models}
    found = [model for model, scores in shares.items() if sum(scores) in (0, len(scores))]
    return f" ({', '.join(found)}: leave it out, or judge more problems)" if found else ""


def _pairs(entrant: _Entrant) -> Iterator[Pair]:
    """Yield the scored pairs of a run. A run compared with its own answers has none."""
    if entrant.name == entrant.opponent:
        return
    for problem, scores in zip(entrant.task.problem_ids, entrant.task.scores, strict=True):
        for score in scores:
            if score is not None:
                yield Pair(entrant.name, entrant.opponent, score, problem)


def _ranked_model(model: str, pairs: Sequence[Pair], strength: Strength | None) -> RankedModel:
    """Return the record of one model."""
    own = _scores(model, pairs)
    return RankedModel(
        name=model,
        strength=strength.value if strength else None,
        se=strength.se if strength else None,
        ci=strength.ci if strength else None,
        beats_reference=float(expit(strength.value)) if strength else None,
        beats_reference_ci=tuple(float(expit(bound)) for bound in strength.ci) if strength else None,
        pairs=len(own),
        wins=sum(score == 1 for score in own),
        ties=sum(score == 0.5 for score in own),
        losses=sum(score == 0 for score in own),
    )


def _scores(model: str, pairs: Sequence[Pair]) -> list[float]:
    """Return the model's scores, whichever side of a pair it was on."""
    return [
        pair.score if pair.first == model else 1 - pair.score
        for pair in pairs
        if model in (pair.first, pair.second)
    ]
