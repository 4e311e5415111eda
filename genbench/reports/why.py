"""The sentence about a compared task: both scores, the difference, its main cause, and the tokens."""

from __future__ import annotations

from genbench.analysis.comparison_record import CauseRecord, ComparedTask
from genbench.reports.figures import interval, points
from genbench.reports.likelihood_text import measure_change

_FEWER = {
    "partial": "partial credit",
    "wrong": "wrong answers",
    "no_answer": "samples without an answer",
    "truncated": "truncated samples",
    "unclosed_trace": "unclosed traces",
    "format_error": "format errors",
    "timeout": "time-outs",
    "runtime_error": "run-time errors",
    "memory": "memory overruns",
    "output_limit": "output overruns",
    "no_code": "answers without code",
    "unscored": "samples without a verdict",
    "verifier_error": "verifier errors",
    "engine_error": "engine errors",
    "unavailable": "samples that cannot be verified here",
}
_SMOOTH = ("bits_per_byte", "bpb_gold")
"""The smooth measure of documents, and that of choices."""
_NOTHING = 5e-4
"""Parts below 0.05 points would be printed as 0.0."""


def sentence(task: ComparedTask) -> str:
    """Return the sentence about a task, which begins `61.0 -> 84.2 (+23.2, 95% CI [19.0, 27.4])`."""
    if task.base is None or task.tuned is None or task.difference is None:
        return f"no difference can be given: {task.missing}"
    change = f"{signed(task.difference)}, 95% CI {interval(task.ci)}"
    scores = f"{points(task.base)} -> {points(task.tuned)} ({change})"
    # No answer was drawn if texts were scored: their tokens and statuses explain nothing.
    reasons = _smooth(task) if task.likelihood else [_main_cause(task, task.difference), _tokens(task)]
    return "; ".join(part for part in (scores, *reasons) if part)


def signed(value: float) -> str:
    """Return a fraction of 1 in points of 100 with its sign. A value that rounds to zero has no sign."""
    text = f"{100 * value:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


def status_words(status: str, part: float) -> str:
    """Return `fewer format errors` if the part is a gain, `more format errors` if it is a loss."""
    if status == "partial":
        return f"{'more' if part > 0 else 'less'} partial credit"
    return f"{'fewer' if part > 0 else 'more'} {_FEWER.get(status, status)}"


def _smooth(task: ComparedTask) -> list[str]:
    """Return the change of bits per byte, of documents or of right choices, which moves before accuracy."""
    measures = task.likelihood or {}
    return [measure_change(name, measures[name]) for name in _SMOOTH if name in measures][:1]


def _main_cause(task: ComparedTask, difference: float) -> str:
    """Return the leading cause, with the largest opposite one if it explains more than the difference."""
    causes = task.causes
    if not causes or not causes.leading:
        return ""
    lead = next(part for part in causes.parts if part.status == causes.leading)
    if abs(lead.part) < _NOTHING:
        return ""
    against = [part for part in causes.parts if part.part * lead.part < 0 and abs(part.part) >= _NOTHING]
    if abs(lead.part) <= abs(difference) + _NOTHING or not against:
        return f"{points(abs(lead.part))} points of it from {_words(lead)}"
    other = max(against, key=lambda part: abs(part.part))
    return f"{signed(lead.part)} points from {_words(lead)}, {signed(other.part)} from {_words(other)}"


def _words(cause: CauseRecord) -> str:
    """Return a cause in words."""
    return status_words(cause.status, cause.part)


def _tokens(task: ComparedTask) -> str:
    """Return the tokens per correct answer of both sides, or an empty text if they were not counted."""
    tokens = task.tokens
    if tokens is None:
        return ""
    base, tuned = _count(tokens.base.per_correct), _count(tokens.tuned.per_correct)
    times = f" (x{tokens.per_correct_ratio:.2f})" if tokens.per_correct_ratio else ""
    return f"tokens per correct answer {base} -> {tuned}{times}"


def _count(value: float | None) -> str:
    """Return a number of tokens. None means that nothing was correct."""
    return "none correct" if value is None else f"{value:,.0f}"
