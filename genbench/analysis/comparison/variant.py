"""What a comparison under a treatment says: recovery, drift, and how the variant behaves."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from pydantic import Field

from genbench.analysis.comparison.compared_task import ComparedTask
from genbench.analysis.comparison.drift import Drift, drift_of
from genbench.analysis.comparison.pairing import Pairing
from genbench.analysis.sides.side import SideTask
from genbench.json_record import Count, JsonRecord, Share
from genbench.stats.comparison.gate import Gate, GateVerdict
from genbench.stats.comparison.paired import Paired
from genbench.stats.comparison.recovery import RECOVERY_MARGIN, Ratio, recoveries, suite_verdict, task_verdict
from genbench.store.stored_run import StoredRun, chosen_samples
from genbench.tools.documents import tool_name, tool_schema
from genbench.types import OURS, Status

_READ = 200
"""Replies of a task whose writing is read, on each side."""
_UNREAD: tuple[Status, ...] = ("format_error", "no_answer", "unclosed_trace")


class Shares(JsonRecord):
    """A share on both sides."""

    base: Share = Field(description="share of base")
    variant: Share = Field(description="share of the variant")


class Flips(JsonRecord):
    """Samples that are right on one side only, paired by number."""

    worse: Share = Field(description="share that base has right and the variant wrong")
    better: Share = Field(description="share that the variant has right and base wrong")
    rerun: Share | None = Field(
        description="share that would flip each way if base were drawn twice with other seeds; null at k = 1"
    )


class ToolCalls(JsonRecord):
    """The rates by which vendors of models check who serves them."""

    samples: Count = Field(description="samples in both")
    called: Shares = Field(description="samples with a call")
    trigger_f1: Share | None = Field(
        description="F1 of whether the variant calls a function where base does; null if neither ever does"
    )
    fit: Shares = Field(description="calls whose function is offered and whose arguments fit its schema")


class TaskVariant(JsonRecord):
    """One task under a treatment."""

    recovery: Ratio | None = Field(description="null if base is too near 0 for a ratio, or has one problem")
    flips: Flips | None = Field(description="null for score files and for scores that are not 0 or 1")
    length: float | None = Field(description="tokens a sample over those of base; null if not counted")
    unread: Shares | None = Field(description="samples without an answer that could be read")
    scripts: dict[str, Shares] = Field(
        description="share of the letters of replies by script, if it is 1 % or more on either side"
    )
    tool_calls: ToolCalls | None = Field(default=None, description="absent without function calls")


class Variant(JsonRecord):
    """A model and a variant of it, with a declared treatment."""

    treatment: tuple[str, ...] = Field(description="what differs on purpose")
    differences: tuple[str, ...] = Field(description="the terms that the treatment changed")
    unproven: tuple[str, ...] = Field(description="what a server cannot be told, or does by itself")
    margin: Share = Field(description="loss of recovery over all tasks that counts as none")
    recovery: Ratio | None = Field(description="mean of the ratios of the gating tasks, which decides")
    of_means: Ratio | None = Field(description="ratio of the mean scores of the same tasks")
    near_zero: tuple[str, ...] = Field(description="gating tasks whose base is too near 0 for a ratio")
    tasks: dict[str, TaskVariant] = Field(description="by task")
    drift: Drift | None = Field(description="null if the replies of base were not scored under both")
    verdict: GateVerdict = Field(description="the gate's decision, by recovery")


def variant_of(
    pairing: Pairing,
    found: Mapping[str, Paired],
    decision: Gate,
    tasks: Mapping[str, ComparedTask],
    *,
    margin: float | None,
) -> Variant:
    """Return the record of a comparison under a treatment.

    Args:
        decision: the gate's decision on the differences.
        tasks: the records of the compared tasks.
        margin: the loss of recovery that counts as none. None: 1 %.
    """
    treated = pairing.treated
    assert treated is not None
    gating = [name for name, task in decision.tasks.items() if task.gating]
    ratios, margin = recoveries(found, gating), margin or RECOVERY_MARGIN
    verdicts = {
        name: task_verdict(decision.tasks[name], ratios.tasks[name], found[name].n) for name in gating
    }
    return Variant(
        treatment=treated.names,
        differences=tuple(map(str, treated.differences)),
        unproven=treated.unproven,
        margin=margin,
        recovery=ratios.mean,
        of_means=ratios.of_means,
        near_zero=tuple(name for name in gating if ratios.tasks[name] is None),
        tasks={
            name: _task(pairing, name, ratios.tasks[name], tasks[name])
            for name in pairing.tasks
            if name in tasks
        },
        drift=drift_of(pairing.base, pairing.tuned),
        verdict=suite_verdict(decision, list(verdicts.values()), ratios.mean, margin),
    )


def verdict_of(task: ComparedTask, variant: TaskVariant) -> GateVerdict:
    """Return the gate's decision on a task of a variant, by its ratio."""
    return task_verdict(task, variant.recovery, task.n)


def _task(pairing: Pairing, name: str, ratio: Ratio | None, task: ComparedTask) -> TaskVariant:
    base, tuned = pairing.tasks[name]
    tokens = task.tokens
    per = None if tokens is None or not tokens.base.per_sample else tokens
    calls = _tool_calls(pairing, name) if _offers_calls(tuned) else None
    return TaskVariant(
        recovery=ratio,
        flips=_flips(base, tuned),
        length=None if per is None else per.tuned.per_sample / per.base.per_sample,
        unread=_shares([_unread_share(side) for side in (base, tuned)]),
        scripts=_scripts(pairing, name) if task.likelihood is None else {},
        **({} if calls is None else {"tool_calls": calls}),
    )


def _shares(pair: Sequence[float | None]) -> Shares | None:
    """Return two shares, or None if either is unknown."""
    base, variant = pair
    return None if base is None or variant is None else Shares(base=base, variant=variant)


def _flips(base: SideTask, tuned: SideTask) -> Flips | None:
    """Return how many samples are right on one side only."""
    if base.statuses is None or tuned.statuses is None:
        return None
    pairs = [
        (old, new)
        for before, after in zip(base.scores, tuned.scores, strict=True)
        for old, new in zip(before, after, strict=False)
        if old is not None and new is not None
    ]
    if not pairs or any(score not in (0, 1) for pair in pairs for score in pair):
        return None
    within = [
        np.var(scored, ddof=1)
        for row in base.scores
        if len(scored := [score for score in row if score is not None]) > 1
    ]
    return Flips(
        worse=sum(old > new for old, new in pairs) / len(pairs),
        better=sum(new > old for old, new in pairs) / len(pairs),
        rerun=float(np.mean(within)) if within else None,
    )


def _unread_share(task: SideTask) -> float | None:
    """Return the share of the samples without an answer that could be read."""
    if task.statuses is None or task.texts is not None:
        return None
    found = [status for row in task.statuses for status in row if status not in OURS]
    return sum(status in _UNREAD for status in found) / len(found) if found else None


def _scripts(pairing: Pairing, name: str) -> dict[str, Shares]:
    """Return the share of the letters of replies by script, of some replies of both sides.

    The language of a reply would need a model. The script changes too in what is reported of damaged models,
    which fall into Chinese.
    """
    counts = []
    for side in (pairing.base, pairing.tuned):
        if side.manifest is None:
            return {}
        count, task = Counter[str](), side.tasks[name]
        chosen = chosen_samples(name, task.problem_ids, task.smallest_k, _READ)
        for item in StoredRun(side.path).task(name).all_completions():
            if (item.sample.problem_id, item.sample.sample_index) in chosen:
                count.update(script for char in item.text if (script := _script(char)))
        counts.append(count)
    totals = [max(1, count.total()) for count in counts]
    found = {
        script: Shares(base=counts[0][script] / totals[0], variant=counts[1][script] / totals[1])
        for script in sorted({*counts[0], *counts[1]})
    }
    return {script: pair for script, pair in found.items() if max(pair.base, pair.variant) >= 0.01}


@lru_cache(maxsize=65_536)
def _script(char: str) -> str:
    """Return the script of a letter, such as `LATIN` or `CJK`, or nothing for other characters."""
    return unicodedata.name(char, "").partition(" ")[0] if char.isalpha() else ""


def _offers_calls(task: SideTask) -> bool:
    return task.described is not None and task.described.verifier.name == "function_calls"


def _tool_calls(pairing: Pairing, name: str) -> ToolCalls | None:
    """Return the rates of function calls over the samples that both sides have."""
    base, tuned = (dict(_calls(side.path, name)) for side in (pairing.base, pairing.tuned))
    shared = sorted(base.keys() & tuned.keys())
    if not shared:
        return None
    called = [[bool(side[key][0]) for key in shared] for side in (base, tuned)]
    both = sum(a and b for a, b in zip(*called, strict=True))
    sums = [sum(one) for one in called]
    fit = [[fits for key in shared for fits in side[key][1]] for side in (base, tuned)]
    return ToolCalls(
        samples=len(shared),
        called=Shares(base=sums[0] / len(shared), variant=sums[1] / len(shared)),
        trigger_f1=2 * both / sum(sums) if sum(sums) else None,
        fit=Shares(
            base=sum(fit[0]) / len(fit[0]) if fit[0] else 1.0,
            variant=sum(fit[1]) / len(fit[1]) if fit[1] else 1.0,
        ),
    )


def _calls(run: Any, name: str) -> Iterator[tuple[tuple[str, int], tuple[int, list[bool]]]]:
    """Yield for each sample the number of its calls, and whether each of them fits.

    A call that cannot be read is one that does not fit. Samples whose stored calls or functions were cut, as
    they are too long, are left out.
    """
    stored = StoredRun(run).task(name)
    with stored.asks() as asks:
        for verdict in stored.verdicts():
            ask = asks.of_sample(verdict.sample.problem_id, verdict.sample.sample_index) or {}
            try:
                documents = json.loads(ask.get("reference") or "")["functions"]
                calls = json.loads(verdict.extracted or "[]")
            except (ValueError, KeyError, TypeError):
                continue
            key = verdict.sample.problem_id, verdict.sample.sample_index
            if verdict.status == "format_error":
                yield key, (1, [False])
            else:
                yield key, (len(calls), [_fits(call, documents) for call in calls])


_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def _fits(call: Any, documents: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a call is of an offered function, with the arguments, types and choices of its schema.

    A validator of JSON schema would follow the references and run the patterns of a stranger's run.
    """
    named = {tool_name(str(item["name"])): item for item in documents}
    document = named.get(tool_name(str(call["name"])))
    if document is None:
        return False
    schema, given = tool_schema(document)["function"]["parameters"], call["arguments"]
    return set(schema["required"]) <= set(given) <= set(schema["properties"]) and all(
        _has_type(value, schema["properties"][name]) for name, value in given.items()
    )


def _has_type(value: Any, schema: Mapping[str, Any]) -> bool:
    wanted = str(schema["type"])
    is_right = isinstance(value, _TYPES.get(wanted, (object,)))
    if isinstance(value, bool) and wanted != "boolean":
        is_right = False
    choices = schema.get("enum")
    return is_right and (not isinstance(choices, list) or wanted == "array" or value in choices)
