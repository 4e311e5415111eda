"""Results as a table for the terminal: value, both intervals, statuses, tokens."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from genbench.reports.figures import interval, points
from genbench.reports.judged_text import judged_lines

Results = Mapping[str, Any]
_HEAD = ("model", "task", "metric", "value", "95% CI", "re-run", "n x k", "status counts")
_RIGHT = frozenset({"value", "re-run", "n x k"})


def run_table(results: Mapping[str, Results], folders: Mapping[str, Path]) -> str:
    """The table of a run with one row per model and task, and what must be said beside it."""
    rows = [
        _row(model, name, task) for model, result in results.items() for name, task in result["tasks"].items()
    ]
    parts = [_align([_HEAD, *rows]), _legend(results)]
    parts += [_totals(model, result, folders.get(model)) for model, result in results.items()]
    parts += _notices(results)
    return "\n".join(part for part in parts if part)


def _row(model: str, name: str, task: Mapping[str, Any]) -> tuple[str, ...]:
    value = "missing" if task["value"] is None else points(task["value"])
    rerun = task["rerun_ci"]
    spread = f"±{points((rerun[1] - rerun[0]) / 2)}" if rerun else "-"
    size = f"{task['n']} x {task['k']}"
    counts = ", ".join(f"{status} {count}" for status, count in task["status_counts"].items())
    return (model, name, task["metric"], value, interval(task["ci"]), spread, size, counts)


def _align(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if head in _RIGHT else cell.ljust(width)
            for cell, width, head in zip(row, widths, _HEAD, strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def _legend(results: Mapping[str, Results]) -> str:
    methods = {
        re.sub(r" = [\d.]+", "", task["ci_method"].partition(" (")[0])
        for result in results.values()
        for task in result["tasks"].values()
        if task["ci"]
    }
    shown = "; ".join(sorted(methods))
    return f"\nPoints of 100. 95% CI: question population ({shown}). re-run: the same checkpoint again."


def _totals(model: str, result: Results, folder: Path | None) -> str:
    totals = result["totals"]
    speed = f", {totals['tokens_per_s']:,.0f} tokens/s" if totals["tokens_per_s"] else ""
    drawn = (
        f"{totals['samples']:,} samples ({totals['drawn_now']:,} drawn now, {totals['reused_now']:,} on disk)"
    )
    lines = [f"{model}: {drawn}{speed}" + (f" -> {folder}" if folder else "")]
    return "\n".join(lines + _account(model, result))


def _account(model: str, result: Results) -> list[str]:
    """Tokens by kind, GPU time, cost: what is known of them; results of an older run have none."""
    totals = result["totals"]
    tokens = totals.get("tokens") or {}
    parts = [
        f"{tokens[kind]:,} {kind}" for kind in ("prompt", "trace", "answer") if tokens.get(kind) is not None
    ]
    words = [" + ".join(parts) + " tokens"] if parts else []
    if totals.get("gpu_busy") is not None:
        words.append(f"GPU busy {totals['gpu_busy']:.0%} of the drawing")
    if totals.get("cost") is not None:
        each = ", ".join(f"{name} {task['cost']:.2f}" for name, task in result["tasks"].items())
        words.append(f"{totals['cost']:.2f} {totals['currency']} ({each})")
    return [f"{model}: {'; '.join(words)}"] if words else []


def _notices(results: Mapping[str, Results]) -> list[str]:
    lines: list[str] = []
    for model, result in results.items():
        lines += [f"warning: {model}: {warning}" for warning in result["warnings"]]
        if result["trust_remote_code"]:
            lines.append(f"warning: {model}: the model's own code was run (trust_remote_code)")
        if result["test_uses"]:
            lines.append(
                f"{model}: tasks of role test have been used {result['test_uses']} time(s) in this folder"
            )
        if result.get("shard"):
            lines.append(f"{model}: shard {result['shard']} alone; join the parts: genbench merge")
        for name, task in result["tasks"].items():
            lines += _task_notices(f"{model}/{name}", task)
        lines += [f"FAILED: {model}: {line}" for line in result["failed"]]
    return lines


def _task_notices(where: str, task: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    if task["missing"]:
        lines.append(f"{where}: {task['metric']} is missing: {task['missing']}")
    if task.get("published"):
        shown = ", ".join(f"{item['model']} {points(item['value'])}" for item in task["published"])
        lines.append(f"{where}: published: {shown} (sources and decodings: in the report)")
    if task["n"] < task["of"]:
        lines.append(f"{where}: {task['n']} of {task['of']} problems")
    if task["excluded"]:
        bounds = task["bounds"]
        between = f"; between {points(bounds[0])} and {points(bounds[1])} with them" if bounds else ""
        lines.append(
            f"{where}: {task['excluded']} of {task['samples']} samples excluded (defects of ours){between}"
        )
    others = [item for name, item in task["metrics"].items() if name != task["metric"] and task["k"] > 1]
    beside = [
        f"{item['metric']} {points(item['value'])} {interval(item['ci'])}"
        for item in others
        if not item["missing"]
    ]
    if beside:
        lines.append(f"{where}: {', '.join(beside)}")
    for turn, accuracies in enumerate(task.get("instructions", {}).get("turns", [])):
        shown = ", ".join(
            f"{name.removesuffix('_acc').replace('_', ' ')} {points(item['value'])} {interval(item['ci'])}"
            for name, item in accuracies.items()
        )
        lines.append(f"{where}: turn {turn + 1}: {shown}" if turn else f"{where}: {shown}")
    if "mean_of_turns" in task.get("instructions", {}):
        mean = points(task["instructions"]["mean_of_turns"])
        lines.append(f"{where}: mean of the four over turns (as Multi-IF is published): {mean}")
    if "judge" in task:
        lines += [f"{where}: {line}" for line in judged_lines(task["judge"])]
    if task["clamped"]:
        lines.append(f"{where}: max_tokens was lowered to the context for {task['clamped']} samples")
    return lines
