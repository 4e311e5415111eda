"""One task of a comparison as JSON: difference, causes, transitions, tokens and strata, fractions of 1."""

from __future__ import annotations

from typing import Any

from genbench.analysis.followed import compare_kinds, headline_mode
from genbench.analysis.sides import SideTask
from genbench.stats.causes import split_by_cause, transitions
from genbench.stats.estimates import parse_metric
from genbench.stats.gate import TaskGate
from genbench.stats.paired import Paired
from genbench.stats.resample import derive_seed
from genbench.stats.strata import compare_strata


def task_record(
    base: SideTask, tuned: SideTask, found: Paired, verdict: TaskGate, *, seed: int, shared_seeds: bool
) -> dict[str, Any]:
    """The task's entry in the record of `comparison.compare`, all but its noise band."""
    return {
        **paired_record(found),
        "metric": metric_label(base, tuned),
        "verdict": verdict.verdict,
        "gating": verdict.gating,
        "margin": verdict.margin,
        "alpha": verdict.alpha,
        "p_regression_adjusted": verdict.p_regression_adjusted,
        "p_improvement_adjusted": verdict.p_improvement_adjusted,
        "few_problems": found.has_few_problems,
        "ragged": base.is_ragged or tuned.is_ragged,
        "seed": seed,
        "shared_seeds": shared_seeds,
        "mcnemar": _mcnemar_record(found),
        "causes": _causes_record(base, tuned, found),
        "transitions": _transition_records(base, tuned),
        "tokens": _tokens_record(base, tuned),
        "strata": _strata_records(base, tuned, seed, shared_seeds),
        "instructions": _instruction_records(base, tuned, seed, shared_seeds),
        "judge": _judge_record(base, tuned),
    }


def _judge_record(base: SideTask, tuned: SideTask) -> dict[str, Any] | None:
    """What each run's own results say beside a judged score; None where neither was judged."""
    if base.judged is None and tuned.judged is None:
        return None
    return {
        where: {key: (side.judged or {}).get(key) for key in ("unscored", "accuracy", "pairwise", "attempts")}
        for where, side in (("base", base), ("tuned", tuned))
    }


def metric_label(base: SideTask, tuned: SideTask) -> str:
    """`avg@8` where both have 8 samples of every problem, else `avg@k`."""
    same = base.largest_k == tuned.largest_k and not (base.is_ragged or tuned.is_ragged)
    ending = str(tuned.largest_k) if same else "k"
    return tuned.metric.replace("@k", f"@{ending}").replace("^k", f"^{ending}")


def paired_record(found: Paired) -> dict[str, Any]:
    """A paired difference, of a task or of one stratum."""
    return {
        "n": found.n,
        "k_base": found.k_base,
        "k_tuned": found.k_tuned,
        "base": found.base,
        "tuned": found.tuned,
        "difference": found.difference,
        "se": found.se,
        "ci": bounds(found.ci),
        "ci_method": found.ci_method,
        "lower": found.lower,
        "rerun_ci": bounds(found.rerun_ci),
        "rerun_ci_method": found.rerun_ci_method,
        "p_two_sided": found.p_two_sided,
        "p_regression": found.p_regression,
        "p_improvement": found.p_improvement,
        "p_method": found.p_method,
        "mde": found.mde,
        "excluded_base": found.excluded_base,
        "excluded_tuned": found.excluded_tuned,
        "missing": found.missing,
    }


def bounds(ci: tuple[float, float] | None) -> list[float] | None:
    """Bounds as JSON."""
    return None if ci is None else list(ci)


def _mcnemar_record(found: Paired) -> dict[str, Any] | None:
    table = found.mcnemar
    if table is None:
        return None
    return {
        "both_right": table.both_right,
        "base_only": table.base_only,
        "tuned_only": table.tuned_only,
        "both_wrong": table.both_wrong,
        "p_two_sided": table.p_two_sided,
        "p_regression": table.p_regression,
    }


def _causes_record(base: SideTask, tuned: SideTask, found: Paired) -> dict[str, Any] | None:
    """The difference by cause; None where statuses are unknown or the metric is no mean of scores."""
    if base.statuses is None or tuned.statuses is None or found.missing is not None:
        return None
    if not parse_metric(tuned.metric).is_mean:
        return None
    split = split_by_cause(
        base.scores, base.statuses, tuned.scores, tuned.statuses, groups=base.groups or tuned.groups
    )
    parts = [
        {
            "status": cause.status,
            "part": cause.part,
            "ci": list(cause.ci),
            "base_share": cause.base_share,
            "tuned_share": cause.tuned_share,
        }
        for cause in split.causes
    ]
    return {"leading": split.leading.status if split.leading else None, "parts": parts}


def _transition_records(base: SideTask, tuned: SideTask) -> list[dict[str, Any]] | None:
    if base.statuses is None or tuned.statuses is None:
        return None
    counts = transitions(base.statuses, tuned.statuses)
    return [{"base": b, "tuned": t, "count": count} for (b, t), count in counts.items()]


def _tokens_record(base: SideTask, tuned: SideTask) -> dict[str, Any] | None:
    """Tokens per correct answer; None where nobody counted tokens."""
    left, right = _tokens(base), _tokens(tuned)
    if left is None or right is None:
        return None
    known = left["per_correct"] and right["per_correct"]
    ratio = right["per_correct"] / left["per_correct"] if known else None
    return {"base": left, "tuned": right, "per_correct_ratio": ratio}


def _tokens(task: SideTask) -> dict[str, Any] | None:
    if task.traces is None or task.traces.completion_tokens is None:
        return None
    total = task.traces.completion_tokens
    return {
        "completion": total,
        "per_sample": total / task.samples,
        "per_correct": total / task.correct if task.correct else None,
    }


def _strata_records(
    base: SideTask, tuned: SideTask, seed: int, shared_seeds: bool
) -> dict[str, list[dict[str, Any]]]:
    """By column with two or more strata: one row each, with q values."""
    tables: dict[str, list[dict[str, Any]]] = {}
    for column, labels in {**base.strata, **tuned.strata}.items():
        if len({label for label in labels if label is not None}) < 2:
            continue
        rows = compare_strata(
            base.scores,
            tuned.scores,
            labels,
            seed=derive_seed(str(seed), column),
            metric=tuned.metric,
            groups=base.groups or tuned.groups,
            shared_seeds=shared_seeds,
            base_answers=base.answers,
            tuned_answers=tuned.answers,
        )
        tables[column] = [
            {"name": row.name, **paired_record(row.paired), "q_value": row.q_value} for row in rows
        ]
    return tables


def _instruction_records(
    base: SideTask, tuned: SideTask, seed: int, shared_seeds: bool
) -> dict[str, Any] | None:
    """Kinds of instruction, one row each with q values; `n` counts the prompts that ask for it."""
    mode = headline_mode(tuned.described)
    rows = compare_kinds(base, tuned, mode, seed=seed, shared_seeds=shared_seeds)
    if not rows:
        return None
    found = [{"name": kind, **paired_record(row), "q_value": q_value} for kind, row, q_value in rows]
    return {"mode": mode, "kinds": found}
