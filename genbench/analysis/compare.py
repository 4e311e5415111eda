"""Base against tuned: paired differences, why they moved, verdicts, and the gate, as one JSON record."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from genbench.analysis import comparable
from genbench.analysis import noise as noiseband
from genbench.analysis.pairs import bounds, task_record
from genbench.analysis.sides import Side, SideTask
from genbench.analysis.storedrun import open_side, require_finished
from genbench.errors import InputError, NotComparableError, nearest
from genbench.stats.gate import MARGIN, Gate
from genbench.stats.gate import gate as decide
from genbench.stats.paired import Paired, paired
from genbench.stats.resample import derive_seed

FORMAT = 1


def compare(
    base: Path | str,
    tuned: Path | str,
    *,
    tasks: Sequence[str] = (),
    gate: bool = False,
    strict: bool = False,
    gating: Sequence[str] = (),
    margins: Mapping[str, float] | None = None,
    allow: Sequence[str] = (),
    strict_contract: bool = False,
) -> dict[str, Any]:
    """Compares two run folders or score files, paired by problem; the record that docs/json.md describes.

    Args:
        tasks: compare these alone. gating: the tasks of the gate's family; empty: those that the suite
            declares, every task where it declares none.
        gate, strict: what `exit_code` in the record says. margins: task -> fraction of 1.
        allow: names of differences that are let through.
        strict_contract: other circumstances are refused too.

    Raises:
        InputError: a side cannot be used. NotComparableError: they differ in what must be equal.
    """
    if strict and not gate:
        raise InputError("--strict goes with --gate")
    comparable.check_names(allow)
    sides = open_side(Path(base), tasks), open_side(Path(tuned), tasks)
    let_through, circumstances = _settle(*sides, allow, strict_contract)
    pairs = dict(_pairs(*sides))
    family, notes = _family(*sides, pairs, gating)
    seeds = {name: derive_seed(*sorted(side.run_id for side in sides), name) for name in ("", *pairs)}
    found = {name: _paired(*pair, seeds[name]) for name, pair in pairs.items()}
    verdicts = decide(found, seed=seeds[""], gating=family, margins=_margins(pairs, margins or {}))
    records = {
        name: task_record(
            *pair,
            found[name],
            verdicts.tasks[name],
            seed=seeds[name],
            shared_seeds=comparable.shares_seeds(*pair),
        )
        | {"noise": noiseband.band_for(sides, pair[1], (pair[0].largest_k, pair[1].largest_k))}
        for name, pair in pairs.items()
    }
    return {
        "format": FORMAT,
        "base": _side_record(sides[0]),
        "tuned": _side_record(sides[1]),
        "tasks": records,
        "suite": _suite_record(verdicts),
        "allowed": [str(item) for item in let_through],
        "warnings": [*comparable.suspicions(*sides), *_task_warnings(pairs, found)],
        "circumstances": [str(item) for item in circumstances],
        "notes": [*_origin_notes(*sides), *notes],
        "gate": gate,
        "strict": strict,
        "exit_code": verdicts.exit_code(strict=strict) if gate else 0,
    }


def parse_margins(texts: Sequence[str]) -> dict[str, float]:
    """`T=3` texts (points of 100) as fractions of 1 by task.

    Raises:
        InputError: not of that form, or not between 0 and 100 points.
    """
    found: dict[str, float] = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        try:
            points = float(value)
        except ValueError:
            points = 0.0
        if not equals or not name or not 0 < points <= 100:
            raise InputError(f"--margin {text}: wanted TASK=POINTS, as in --margin aime25=3")
        found[name] = points / 100
    return found


def _settle(
    base: Side, tuned: Side, allow: Sequence[str], strict_contract: bool
) -> tuple[list[comparable.Difference], list[comparable.Difference]]:
    """What was let through, and the circumstances that are only warned of."""
    for side in (base, tuned):
        require_finished(side)
    binding = [*comparable.side_differences(base, tuned), *comparable.excluded_differences(base, tuned)]
    loose = comparable.circumstance_differences(base, tuned)
    if strict_contract:
        binding += loose
    let_through = comparable.settle(binding, allow, f"not comparable ({base.path} -> {tuned.path})")
    return let_through, [] if strict_contract else loose


def _pairs(base: Side, tuned: Side) -> Iterator[tuple[str, tuple[SideTask, SideTask]]]:
    """The tasks of both sides, each with the problems of both in one order."""
    shared = [name for name in base.tasks if name in tuned.tasks]
    if not shared:
        raise NotComparableError(
            f"no task is in both: {base.path} has {', '.join(base.tasks)}, "
            f"{tuned.path} has {', '.join(tuned.tasks)}"
        )
    for name in shared:
        left, right = base.tasks[name], tuned.tasks[name]
        other = set(right.problem_ids)
        ids = [problem for problem in left.problem_ids if problem in other]
        if not ids:
            raise NotComparableError(f"task {name}: no problem is in both sides")
        yield name, (left.take(ids), right.take(ids))


def _family(
    base: Side, tuned: Side, pairs: Collection[str], chosen: Sequence[str]
) -> tuple[list[str] | None, list[str]]:
    """The gating tasks, None for all, and what must be said of them."""
    for name in chosen:
        if name not in pairs:
            raise InputError(f"--gating {name}: no such task in this comparison{nearest(name, pairs)}")
    declared = [
        [name for name in pairs if side.tasks[name].gating] for side in (base, tuned) if side.manifest
    ]
    if chosen:
        said = declared and sorted(chosen) != sorted(declared[-1])
        note = f"gating chosen on the command line, not declared by the suite: {', '.join(chosen)}"
        return list(dict.fromkeys(chosen)), [note] if said else []
    if not declared:
        return None, []
    family = declared[-1]
    notes = []
    if declared[0] != family:
        notes.append(f"base declared other gating tasks ({', '.join(declared[0]) or 'none'}); tuned's count")
    if not family:
        return None, [*notes, "no task here is declared gating: every task gates"]
    return family, notes


def _margins(pairs: Mapping[str, tuple[SideTask, SideTask]], given: Mapping[str, float]) -> dict[str, float]:
    for name in given:
        if name not in pairs:
            raise InputError(f"--margin {name}: no such task in this comparison{nearest(name, pairs)}")
    declared = {name: tuned.margin or base.margin or MARGIN for name, (base, tuned) in pairs.items()}
    return declared | dict(given)


def _paired(base: SideTask, tuned: SideTask, seed: int) -> Paired:
    return paired(
        base.scores,
        tuned.scores,
        seed=seed,
        metric=tuned.metric,
        groups=base.groups or tuned.groups,
        shared_seeds=comparable.shares_seeds(base, tuned),
        base_answers=base.answers,
        tuned_answers=tuned.answers,
    )


def _suite_record(found: Gate) -> dict[str, Any]:
    pooled = found.pooled
    return {
        "pooled_difference": pooled.difference,
        "ci": bounds(pooled.ci),
        "p_regression": pooled.p_regression,
        "p_improvement": pooled.p_improvement,
        "tasks": [name for name, task in found.tasks.items() if task.gating],
        "pooled_tasks": list(pooled.tasks),
        "alpha": found.alpha_pooled,
        "verdict": found.verdict,
    }


def _side_record(side: Side) -> dict[str, Any]:
    return {
        "path": str(side.path),
        "kind": side.kind,
        "name": side.name,
        "run_id": side.run_id,
        "model_identity": side.identity,
        "run_seed": side.run_seed,
    }


def _origin_notes(base: Side, tuned: Side) -> Iterator[str]:
    """What stands beside the contract: run seeds, and sides that do not say how they were drawn."""
    for side in {side.path: side for side in (base, tuned)}.values():
        if side.manifest is None:
            yield (
                f"{side.path}: a score file says nothing of decoding, prompts and verifiers; "
                "problems, samples and groups alone were checked"
            )
        elif side.manifest["terms"]["engine"]["name"] == "responses":
            yield f"{side.path}: ready responses say nothing of their decoding; it was not checked"
    if base.run_seed is not None and tuned.run_seed is not None:
        same = base.run_seed == tuned.run_seed
        yield (
            f"run seed: {base.run_seed} in both" if same else f"run seed: {base.run_seed} -> {tuned.run_seed}"
        )


def _task_warnings(
    pairs: Mapping[str, tuple[SideTask, SideTask]], found: Mapping[str, Paired]
) -> Iterator[str]:
    for name, (base, tuned) in pairs.items():
        if found[name].has_few_problems:
            yield (
                f"{name}: few questions ({found[name].n}): where a few of them collapse, a paired test errs "
                "more often than it says"
            )
        for where, task in (("base", base), ("tuned", tuned)):
            if task.is_ragged:
                yield (
                    f"{name}: {where} is ragged, {task.smallest_k} to {task.largest_k} samples a problem: "
                    "the mean of the problems' means is taken"
                )
            if task.excluded:
                yield f"{name}: {task.excluded} of {task.samples} samples of {where} are excluded"
