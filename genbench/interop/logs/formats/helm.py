"""Runs of HELM."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from genbench.analysis.sides.log_format import (
    SAID,
    ImportChoice,
    Line,
    LogFile,
    Say,
    is_number,
    json_object,
    read_whole,
)
from genbench.errors import InputError
from genbench.interop.logs.tool_log import (
    ToolLogs,
    first_text,
    json_next_to,
    one_of,
    read_score,
    shown_text,
)

_STATS = "per_instance_stats.json"
"""The scores of a run of HELM. Its prompts and texts are in scenario_state.json next to it."""
_METRICS = (
    "quasi_exact_match",
    "exact_match",
    "final_number_exact_match",
    "math_equiv_chain_of_thought",
    "ifeval_strict_accuracy",
    "pass",
    "f1_score",
)
"""HELM logs dozens of figures for each instance. The first of these that is there is the score."""


class HelmLogs(ToolLogs):
    """Runs of HELM."""

    tool = "helm"

    def is_log(self, log: LogFile) -> bool:
        """Return whether a file has the name of HELM's figures."""
        return log.path.name == _STATS

    def lines(self, log: LogFile, choice: ImportChoice, say: Say) -> Iterable[Line] | None:
        """Return the lines if the file has the name of HELM's figures."""
        return _lines(log, choice) if self.is_log(log) else None

    def model(self, log: LogFile) -> str:
        """Return the model that run_spec.json names."""
        spec = json_next_to(log.path.with_name("run_spec.json")).get("adapter_spec")
        named = spec.get("model") if isinstance(spec, Mapping) else None
        return str(named or log.path.parent.name)


def _lines(log: LogFile, choice: ImportChoice) -> Iterator[Line]:
    """Yield the lines of the score file for a run of HELM.

    Raises:
        InputError: the file is not a list of figures by instance, or has no known metric.
    """
    source, found = log.path, log.content
    if not isinstance(found, list):
        raise InputError(f"{source}: wanted a list of figures by instance, as HELM writes it")
    items = [(number, json_object(item, f"{source}: entry {number}")) for number, item in enumerate(found)]
    by_name = [(item, _stats(item, f"{source}: entry {number}")) for number, item in items]
    names = dict.fromkeys(name for _, stats in by_name for name in stats)
    known = [name for name in _METRICS if name in names]
    metric = one_of(source, "metric", names, choice, known[0] if known else None)
    states = _states(source.with_name("scenario_state.json"))
    seen: Counter[str] = Counter()
    for item, stats in by_name:
        if metric not in stats:
            continue
        problem = str(item.get("instance_id"))
        own = states.get((problem, item.get("train_trial_index")), {})
        yield {
            "task": choice.task or source.parent.name.partition(":")[0],
            "problem_id": problem,
            "sample_index": seen[problem],
            "score": read_score(stats[metric], f"{source}: {problem}", metric),
            "answer": None,
            "imported": {"from": "helm", "lacks": ["seeds"]},
            SAID: own,
        }
        seen[problem] += 1


def _stats(item: Mapping[str, Any], where: str) -> dict[str, float | None]:
    stats = item.get("stats")
    if not isinstance(stats, list):
        raise InputError(f"{where}: 'stats' is {stats!r:.40}, wanted a list")
    found: dict[str, float | None] = {}
    for stat in stats:
        own = json_object(stat, f"{where}: a stat")
        about = json_object(own.get("name"), f"{where}: 'name' of a stat")
        name = about.get("name")
        if isinstance(name, str) and is_number(own.get("mean")) and not about.get("perturbation"):
            found.setdefault(name, own["mean"])
    return found


def _states(path: Path) -> dict[tuple[str, Any], Line]:
    """Return prompt, text and target by instance and trial. Empty if there is no such file."""
    try:
        found = json.loads(read_whole(path))
    except (OSError, ValueError, RecursionError):
        return {}
    states = found.get("request_states") if isinstance(found, dict) else None
    said: dict[tuple[str, Any], Line] = {}
    for state in states if isinstance(states, list) else ():
        own = json_object(state, f"{path}: a request state")
        instance = json_object(own.get("instance"), f"{path}: 'instance'")
        references = [item for item in instance.get("references") or () if isinstance(item, Mapping)]
        right = next((item for item in references if "correct" in (item.get("tags") or ())), {})
        completions = json_object(own.get("result"), f"{path}: 'result'").get("completions") or [{}]
        key = (str(instance.get("id")), own.get("train_trial_index"))
        said.setdefault(
            key,
            {
                "prompt": first_text(json_object(own.get("request"), f"{path}: 'request'").get("prompt")),
                "text": first_text(json_object(completions[0], f"{path}: a completion").get("text")),
                "target": shown_text(json_object(right.get("output"), f"{path}: 'output'").get("text")),
            },
        )
    return said
