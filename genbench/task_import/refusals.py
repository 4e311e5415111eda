"""The reasons why a definition cannot be imported by any door. It is read, and nothing is executed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from genbench.task_import.levels import Classified, classify, without_code
from genbench.task_import.yamlsource import FunctionName

MAKES_DATASET = (
    "a Python function makes its dataset (custom_dataset): such functions download rows, tokenizers or "
    "essays themselves, and foreign code has no network here"
)
_OWN_TASKS = {"ruler": "ruler", "graphwalks": "graphwalks"}
"""Families whose benchmark genbench has a task of its own for."""
_MEANS = (None, "mean", "nanmean")


def refusal(found: Classified) -> str | None:
    """Return why no door imports a definition, or None if one does.

    Metrics that are Python functions count as left out if others remain (`--skip-code-metrics`).
    """
    if found.level == "out":
        return found.reason
    if found.level == "4":
        own = _OWN_TASKS.get(found.definition.family)
        return MAKES_DATASET + (f"; genbench has tasks of its own: genbench tasks {own}" if own else "")
    kept = classify(without_code(found.definition, ["metric_list"])[0])
    return scored_refusal(kept) if kept.level == "3" else None


def scored_refusal(found: Classified) -> str | None:
    """Return why door 3 cannot score a definition of level 3, or None if it can."""
    if found.output != "generate_until":
        return f"code that scores log-probabilities ({found.output}) cannot be used"
    blocks = found.definition.config.get("metric_list")
    if blocks and not sample_metrics(found.definition.config):
        named = any(isinstance(block.get("aggregation"), FunctionName) for block in blocks)
        words = " (aggregation !function)" if named else ""
        return (
            f"its metrics are functions or of all samples together{words}, which no score of one sample gives"
        )
    return None


def sample_metrics(config: Mapping[str, Any]) -> list[str]:
    """Return the metrics whose mean over samples is the value of a task that code scores."""
    return [
        str(block["metric"])
        for block in config.get("metric_list") or ()
        if isinstance(block.get("metric"), str) and block.get("aggregation") in _MEANS
    ]
