"""Why a score moved, in one sentence: both values, the difference, its main cause, and the tokens it cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from genbench.reports.figures import interval, points

_FEWER = {
    "partial": "partial credit",
    "wrong": "wrong answers",
    "no_answer": "samples without an answer",
    "truncated": "cut-off samples",
    "unclosed_trace": "unclosed traces",
    "format_error": "format errors",
    "timeout": "time-outs",
    "runtime_error": "run-time errors",
    "memory": "memory overruns",
    "output_limit": "output overruns",
    "no_code": "answers without code",
}
_NOTHING = 5e-4
"""Parts of under 0.05 points would be printed as 0.0."""


def sentence(task: Mapping[str, Any]) -> str:
    """`61.0 -> 84.2 (+23.2, 95% CI [19.0, 27.4]); 17.0 points of it from fewer format errors`."""
    if task["missing"]:
        return f"no difference can be given: {task['missing']}"
    change = f"{signed(task['difference'])}, 95% CI {interval(task['ci'])}"
    parts = [f"{points(task['base'])} -> {points(task['tuned'])} ({change})", _cause(task), _tokens(task)]
    return "; ".join(part for part in parts if part)


def signed(value: float) -> str:
    """A fraction of 1 as points of 100 with its sign; what rounds to zero has none."""
    text = f"{100 * value:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


def status_words(status: str, part: float) -> str:
    """`fewer format errors` where the part is a gain, `more` where it is a loss."""
    if status == "partial":
        return f"{'more' if part > 0 else 'less'} partial credit"
    return f"{'fewer' if part > 0 else 'more'} {_FEWER.get(status, status)}"


def _cause(task: Mapping[str, Any]) -> str:
    causes = task["causes"]
    if not causes or not causes["leading"]:
        return ""
    lead = next(part for part in causes["parts"] if part["status"] == causes["leading"])
    if abs(lead["part"]) < _NOTHING:
        return ""
    words = f"from {status_words(lead['status'], lead['part'])}"
    against = [p for p in causes["parts"] if p["part"] * lead["part"] < 0 and abs(p["part"]) >= _NOTHING]
    if abs(lead["part"]) <= abs(task["difference"]) + _NOTHING or not against:
        return f"{points(abs(lead['part']))} points of it {words}"
    other = max(against, key=lambda part: abs(part["part"]))
    return (
        f"{signed(lead['part'])} points {words}, "
        f"{signed(other['part'])} from {status_words(other['status'], other['part'])}"
    )


def _tokens(task: Mapping[str, Any]) -> str:
    tokens = task["tokens"]
    if tokens is None:
        return ""
    base, tuned = (_count(tokens[side]["per_correct"]) for side in ("base", "tuned"))
    ratio = tokens["per_correct_ratio"]
    times = f" (x{ratio:.2f})" if ratio else ""
    return f"tokens per correct answer {base} -> {tuned}{times}"


def _count(value: float | None) -> str:
    return "none correct" if value is None else f"{value:,.0f}"
