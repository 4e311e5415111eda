"""What a judge's verdicts say beyond their mean: unscored, order flips, lengths, what the rule alone says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from genbench.errors import InputError
from genbench.stats.pairwise import length_controlled
from genbench.types import Verdict


def judged_record(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """JSON for results. Rates are fractions of 1, lengths in characters."""
    unscored = sum(verdict.status == "unscored" for verdict in verdicts)
    record: dict[str, Any] = {
        "unscored": unscored,
        "unscored_share": unscored / len(verdicts) if verdicts else None,
    }
    ruled = [verdict.parts for verdict in verdicts if "rule" in verdict.parts]
    if ruled:
        record["accuracy"] = {
            name: sum(parts[name] for parts in ruled) / len(ruled) for name in ("rule", "cascade")
        }
    pairs = [verdict for verdict in verdicts if "flipped" in verdict.detail and verdict.score is not None]
    return record | ({"pairwise": _pairwise(pairs)} if pairs else {})


def _pairwise(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    n = len(verdicts)
    places = [verdict.detail.get("place_favoured") for verdict in verdicts]
    ours = [int(verdict.detail["chars"][0]) for verdict in verdicts]
    theirs = [int(verdict.detail["chars"][1]) for verdict in verdicts]
    scores = [verdict.score or 0.0 for verdict in verdicts]
    record: dict[str, Any] = {
        "n": n,
        "win_rate": sum(scores) / n,
        "flipped": sum(bool(verdict.detail["flipped"]) for verdict in verdicts),
        "position_bias": {name: places.count(name) / n for name in ("first", "second")},
        "mean_chars": {"answer": sum(ours) / n, "baseline": sum(theirs) / n},
    }
    try:
        problems = [verdict.sample.problem_id for verdict in verdicts]
        found = length_controlled(scores, ours, theirs, problems)
    except InputError as error:
        return record | {"length_controlled": {"value": None, "missing": str(error)}}
    return record | {
        "length_controlled": {"value": found.value, "ci": list(found.ci), "slope": found.slope},
    }


def too_many_unscored(tasks: Mapping[str, Mapping[str, Any]], share: float) -> list[str]:
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


def drift_words(tasks: Mapping[str, Mapping[str, Any]]) -> list[str]:
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
