"""What a judge's verdicts say beyond their mean: unscored, order flips, lengths, what the rule alone says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from genbench.analysis.table import VerdictTable
from genbench.errors import InputError
from genbench.stats.intervals import problem_interval
from genbench.stats.pairwise import length_controlled
from genbench.types import Verdict

Record = Mapping[str, Any]


def judged_record(
    judge: Record, task: Record, table: VerdictTable, verdicts: Sequence[Verdict], seed: int
) -> dict[str, Any]:
    """What results.json says of a judge's verdicts; rates are fractions of 1, lengths in characters.

    Args:
        judge: who judged, as the manifest has it. task: the task's own entry of results.json.
        verdicts: those that count, one a sample. seed: of the resampling.
    """
    unscored = sum(verdict.status == "unscored" for verdict in verdicts)
    record: dict[str, Any] = {
        "unscored": unscored,
        "unscored_share": unscored / len(verdicts) if verdicts else None,
    }
    scored = [verdict for verdict in verdicts if verdict.score is not None]
    if any("rule" in verdict.parts for verdict in scored):
        record["accuracy"] = {name: _accuracy(table, name, seed) for name in ("rule", "cascade")}
        record["decided_by"] = dict(Counter(str(verdict.detail["decided_by"]) for verdict in scored))
    if "no_answer" in judge["statuses"].values():
        record["attempts"] = _attempts(scored)
    if judge.get("in_pairs") and scored:
        record["pairwise"] = _pairwise(task, scored)
    return record


def _accuracy(table: VerdictTable, name: str, seed: int) -> dict[str, Any]:
    """Mean over problems of the samples' part, with the interval of the question population."""
    means = [float(np.mean([parts[name] for parts in samples])) for samples in table.parts if samples]
    groups = [problem.group for problem, samples in zip(table.problems, table.parts, strict=True) if samples]
    values = np.array(means)
    draws = float(np.mean([len(samples) for samples in table.parts if samples]))
    binary = all(parts[name] in (0.0, 1.0) for samples in table.parts for parts in samples)
    found = problem_interval(
        values, seed=seed, groups=groups if any(groups) else None, draws=draws if binary else None
    )
    return {"value": float(values.mean()), "ci": list(found.bounds), "ci_method": found.method}


def _attempts(scored: Sequence[Verdict]) -> dict[str, Any]:
    """How often an answer was ventured, and how good those are (Wei et al. 2024, SimpleQA, section 3)."""
    n = len(scored)
    right = sum(verdict.score or 0.0 for verdict in scored)
    silent = sum(verdict.status == "no_answer" for verdict in scored)
    given = right / (n - silent) if n > silent else None
    total = right / n if n else None
    both = (given or 0.0) + (total or 0.0)
    return {
        "correct": total,
        "not_attempted": silent / n if n else None,
        "incorrect": (n - silent - right) / n if n else None,
        "correct_given_attempted": given,
        "f1": 2 * (given or 0.0) * (total or 0.0) / both if both else None,
    }


def _pairwise(task: Record, scored: Sequence[Verdict]) -> dict[str, Any]:
    """Samples without an answer lose unasked; lengths and order are of those that were compared."""
    compared = [verdict for verdict in scored if "flipped" in verdict.detail]
    n = len(compared)
    record: dict[str, Any] = {
        "win_rate": task["value"],
        "ci": task["ci"],
        "n": len(scored),
        "wins": sum(verdict.score == 1 for verdict in scored),
        "ties": sum(verdict.score == 0.5 for verdict in scored),
        "losses": sum(verdict.score == 0 for verdict in scored),
        "unanswered": len(scored) - n,
        "compared": n,
    }
    if not n:
        return record
    places = [verdict.detail.get("place_favoured") for verdict in compared]
    ours, theirs = ([int(verdict.detail["chars"][side]) for verdict in compared] for side in (0, 1))
    return record | {
        "flipped": sum(bool(verdict.detail["flipped"]) for verdict in compared),
        "flip_rate": sum(bool(verdict.detail["flipped"]) for verdict in compared) / n,
        "position_bias": {name: places.count(name) / n for name in ("first", "second")},
        "mean_chars": {"answer": sum(ours) / n, "baseline": sum(theirs) / n},
        "length_controlled": _length_controlled(compared, ours, theirs),
    }


def _length_controlled(compared: Sequence[Verdict], ours: list[int], theirs: list[int]) -> dict[str, Any]:
    scores = [verdict.score or 0.0 for verdict in compared]
    try:
        found = length_controlled(scores, ours, theirs, [verdict.sample.problem_id for verdict in compared])
    except InputError as error:
        return {"value": None, "ci": None, "slope": None, "missing": str(error)}
    return {"value": found.value, "ci": list(found.ci), "slope": found.slope, "missing": None}


def too_many_unscored(tasks: Mapping[str, Record], share: float) -> list[str]:
    """One line for each task whose judge left too much unjudged."""
    found: list[str] = []
    for name, task in tasks.items():
        unscored = task["status_counts"].get("unscored", 0)
        if unscored > share * task["samples"]:
            found.append(
                f"{name}: {unscored} of {task['samples']} samples are unscored (no verdict), more than "
                f"the {share:.1%} that judge.max_unscored_share allows; run again to judge these alone"
            )
    return found


def drift_words(tasks: Mapping[str, Record]) -> list[str]:
    """One line for each task whose judge answers its canary otherwise than when it was pinned."""
    found: list[str] = []
    for name, task in tasks.items():
        drifted = ((task.get("judge") or {}).get("canary") or {}).get("drifted")
        if drifted:
            found.append(
                f"{name}: the judge drifted: {len(drifted)} canary cases have other labels than when it was "
                f"pinned ({', '.join(drifted)})"
            )
    return found
