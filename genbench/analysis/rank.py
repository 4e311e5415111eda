"""Several models in one order, from the pairs that their stored runs were judged in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy.special import expit

from genbench.analysis import comparable
from genbench.analysis.sides import Side, SideTask
from genbench.analysis.storedrun import open_side, require_finished
from genbench.errors import InputError, nearest
from genbench.stats.pairwise import Pair, Strength, bradley_terry

FORMAT = 1


@dataclass(frozen=True, slots=True)
class _Entrant:
    """One run's pairs in one task: who it is, and who its opponent was."""

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
) -> dict[str, Any]:
    """Bradley-Terry strengths over stored runs whose tasks were judged in pairs; see docs/json.md.

    Args:
        paths: run folders. tasks: these alone; empty: every task judged in pairs.
        reference: the model at strength 0; None: the opponent that most pairs have.
        allow: names of differences (`verifier`, `data` …) that are let through.

    Raises:
        InputError: no run, no such task or model, an unfinished run.
        NotComparableError: runs of one task with other judges, data or versions.
    """
    comparable.check_names(allow)
    sides = [open_side(Path(path), ()) for path in paths]
    for side in sides:
        require_finished(side)
    entrants = _entrants(sides, tasks)
    found = {name: list(_differences(of_task)) for name, of_task in entrants.items()}
    lines = [line for of_task in found.values() for line in of_task]
    let_through = comparable.settle(lines, allow, "judged otherwise")
    return {
        "format": FORMAT,
        "runs": [{"path": str(side.path), "model_identity": side.identity} for side in sides],
        "tasks": {name: _task_record(name, of_task, reference) for name, of_task in entrants.items()},
        "allowed": [str(item) for item in let_through],
    }


def _entrants(sides: Sequence[Side], tasks: Sequence[str]) -> dict[str, list[_Entrant]]:
    names = _names(sides)
    paired = {name for side in sides for name, task in side.tasks.items() if _in_pairs(task)}
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
            if name in side.tasks and _in_pairs(side.tasks[name])
        ]
        for name in (tasks or sorted(paired))
    }


def _in_pairs(task: SideTask) -> bool:
    return bool(_judge(task).get("in_pairs"))


def _names(sides: Sequence[Side]) -> dict[str, str]:
    """Identity -> the model's name; where two models have one name, with the folder before it."""
    found = {_identity(side): side.name for side in sides}
    if len(set(found.values())) == len(found):
        return found
    return {_identity(side): "/".join(side.path.resolve().parts[-2:]) for side in sides}


def _identity(side: Side) -> str:
    return side.identity or str(side.path)


def _judge(task: SideTask) -> Mapping[str, Any]:
    judge: Mapping[str, Any] = task.described.get("judge") or {}
    return judge


def _opponent(task: SideTask, names: Mapping[str, str]) -> str:
    """The name of who the task's answers were held against; a column is known by the task's data."""
    baseline = _judge(task).get("baseline")
    if baseline is None:
        return f"reference of {task.name}"
    return names.get(baseline["identity"]) or str(baseline["name"])


def _differences(entrants: Sequence[_Entrant]) -> Iterator[comparable.Difference]:
    """Judge, data and version of each further run against the first one's."""
    first = entrants[0]
    for other in entrants[1:]:
        for name, left, right in (
            ("verifier", _judge(first.task)["digest"], _judge(other.task)["digest"]),
            ("data", first.task.described["data_digest"], other.task.described["data_digest"]),
            ("version", first.task.described["version"], other.task.described["version"]),
        ):
            if left != right:
                detail = f"{left} -> {right} ({first.side.path} -> {other.side.path})"
                yield comparable.Difference(f"{name}.{first.task.name}", detail)


def _task_record(name: str, entrants: Sequence[_Entrant], wanted: str | None) -> dict[str, Any]:
    pairs = [pair for entrant in entrants for pair in _pairs(entrant)]
    models = list(dict.fromkeys(side for pair in pairs for side in (pair.first, pair.second)))
    record: dict[str, Any] = {
        "judge": {key: _judge(entrants[0].task)[key] for key in ("name", "digest", "unpinned")},
        "pairs": len(pairs),
        "problems": len({pair.problem for pair in pairs}),
        "itself": sum(entrant.name == entrant.opponent for entrant in entrants),
    }
    if not pairs:
        return record | {"reference": None, "models": [], "missing": "no pair of two models has a score"}
    reference = wanted or max(models, key=[pair.second for pair in pairs].count)
    if reference not in models:
        raise InputError(f"--reference {reference}: no such model in {name}{nearest(reference, models)}")
    record["reference"] = reference
    found: Mapping[str, Strength] = {}
    missing: str | None = None
    try:
        found = bradley_terry(pairs, reference)
        models.sort(key=lambda model: -found[model].value)
    except InputError as error:
        missing = f"{error}{_one_sided(models, pairs)}"
    return record | {
        "models": [_model_record(model, pairs, found.get(model)) for model in models],
        "missing": missing,
    }


def _one_sided(models: Sequence[str], pairs: Sequence[Pair]) -> str:
    """Names those that won or lost all, which no finite strength describes."""
    shares = {model: _scores(model, pairs) for model in models}
    found = [model for model, scores in shares.items() if sum(scores) in (0, len(scores))]
    return f" ({', '.join(found)}: leave it out, or judge more problems)" if found else ""


def _pairs(entrant: _Entrant) -> Iterator[Pair]:
    if entrant.name == entrant.opponent:  # a run against its own answers says nothing of anyone
        return
    for problem, scores in zip(entrant.task.problem_ids, entrant.task.scores, strict=True):
        for score in scores:
            if score is not None:
                yield Pair(entrant.name, entrant.opponent, score, problem)


def _model_record(model: str, pairs: Sequence[Pair], strength: Strength | None) -> dict[str, Any]:
    own = _scores(model, pairs)
    low, high = strength.ci if strength else (None, None)
    return {
        "name": model,
        "strength": strength.value if strength else None,
        "se": strength.se if strength else None,
        "ci": [low, high] if strength else None,
        "beats_reference": float(expit(strength.value)) if strength else None,
        "beats_reference_ci": [float(expit(low)), float(expit(high))] if strength else None,
        "pairs": len(own),
        "wins": sum(score == 1 for score in own),
        "ties": sum(score == 0.5 for score in own),
        "losses": sum(score == 0 for score in own),
    }


def _scores(model: str, pairs: Sequence[Pair]) -> list[float]:
    """The model's scores, whichever side of a pair it was on."""
    return [
        pair.score if pair.first == model else 1 - pair.score
        for pair in pairs
        if model in (pair.first, pair.second)
    ]
