"""Results of runs as a table for the terminal: value, both intervals, statuses, tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from genbench.analysis.instruction_accuracy import InstructionsRecord
from genbench.analysis.parity import ready_responses
from genbench.analysis.results.alarms import joined_alarms
from genbench.analysis.results.means import MacroRecord
from genbench.analysis.results.record import Results, TaskResults
from genbench.protocols import PublishedScore
from genbench.reports.adaptive_looks import adaptive_text
from genbench.reports.figures import (
    corpus_lines,
    judged_lines,
    likelihood_lines,
    reported_line,
    rollout_lines,
    stopping_line,
)
from genbench.reports.numbers import interval, points
from genbench.reports.result_tables import SCORES, ScoreRow, group_scores, read_lines, task_score
from genbench.reports.warnings import TaskWarning, fold_warnings, groups_of, task_warning, task_warnings

_SHOWN_ALARMS = 6


def run_table(
    results: Mapping[str, Results],
    folders: Mapping[str, Path],
    *,
    brief: bool = False,
    width: int | None = None,
) -> str:
    """Return the table of a run with one row per model and task, and the warnings about its tasks.

    A group has two rows instead of those of its tasks: the mean over its tasks and over its problems.
    What needs attention comes first, the worst at the top.

    Args:
        brief: leave out lines on tasks that only add to the table, such as further metrics.
        width: columns of the terminal. In a narrow one the counts of statuses are under each row.
    """
    rows = [row for model, result in results.items() for row in score_rows(model, result)]
    parts = [SCORES.text(rows, width=width), _legend(results)]
    if read_by := read_lines(rows):
        parts += ["\nAnswers read by:", *(f"  {line}" for line in read_by)]
    parts += _urgent(results)
    for result in results.values():
        parts += ["\n".join(adaptive_text(result.adaptive))] if result.adaptive else []
    parts += [_totals(model, result, folders.get(model)) for model, result in results.items()]
    parts += [line for model, result in results.items() for line in _warnings(model, result, brief)]
    return "\n".join(part for part in parts if part)


def _urgent(results: Mapping[str, Results]) -> list[str]:
    """Return the lines on what needs attention, the worst first, and how many were left out."""
    found = joined_alarms(results)
    if not found:
        return []
    more = len(found) - _SHOWN_ALARMS
    left_out = [f"  … and {more} more"] if more > 0 else []
    return ["", "Needs attention:", *(f"  {alarm}" for alarm in found[:_SHOWN_ALARMS]), *left_out]


def score_rows(model: str, result: Results) -> Iterator[ScoreRow]:
    """Yield the rows of a model: its groups where their first task is, and its other tasks."""
    grouped = {task: name for name, group in result.groups.items() for task in group.tasks}
    for name, task in result.tasks.items():
        if name not in grouped:
            yield task_score(model, 0, name, task, is_ragged=result.adaptive is not None)
        elif result.groups[grouped[name]].tasks[0] == name:
            yield from group_scores(model, 0, grouped[name], result.groups[grouped[name]], result.tasks)


def _legend(results: Mapping[str, Results]) -> str:
    methods = {
        re.sub(r" = [\d.]+", "", task.ci_method.partition(" (")[0])
        for result in results.values()
        for task in result.tasks.values()
        if task.ci
    }
    shown = "; ".join(sorted(methods))
    return f"\nPoints of 100. 95% CI: question population ({shown}). re-run: the same checkpoint again."


def _totals(model: str, result: Results, folder: Path | None) -> str:
    totals = result.totals
    speed = f", {totals.tokens_per_s:,.0f} tokens/s" if totals.tokens_per_s else ""
    new = "read from ready responses" if ready_responses(result.model_identity) else "drawn now"
    drawn = f"{totals.samples:,} samples ({totals.drawn_now:,} {new}, {totals.reused_now:,} on disk)"
    lines = [f"{model}: {drawn}{speed}" + (f" -> {folder}" if folder else "")]
    return "\n".join(lines + _account(model, result))


def _account(model: str, result: Results) -> list[str]:
    """Return tokens by kind, GPU time and cost, as far as they are known. Older runs have none."""
    totals = result.totals
    words: list[str] = []
    if totals.tokens is not None:
        counts = {kind: getattr(totals.tokens, kind) for kind in ("prompt", "trace", "answer")}
        parts = [f"{count:,} {kind}" for kind, count in counts.items() if count is not None]
        words += [" + ".join(parts) + " tokens"] if parts else []
    if totals.gpu_busy is not None:
        words.append(f"GPU busy {totals.gpu_busy:.0%} of the drawing")
    if totals.cost is not None:
        each = ", ".join(
            f"{name} {task.cost:.2f}" for name, task in result.tasks.items() if task.cost is not None
        )
        words.append(f"{totals.cost:.2f} {totals.currency} ({each})")
    return [f"{model}: {'; '.join(words)}"] if words else []


def _warnings(model: str, result: Results, brief: bool) -> list[str]:
    warnings = [task_warning(model, warning, result.tasks) for warning in result.warnings]
    lines = [f"warning: {line.text}" for line in fold_warnings(warnings, groups_of(result))]
    if result.trust_remote_code:
        lines.append(f"warning: {model}: the model's own code was run (trust_remote_code)")
    if result.test_uses:
        lines.append(f"{model}: tasks of role test have been used {result.test_uses} time(s) in this folder")
    if result.shard:
        lines.append(f"{model}: shard {result.shard} only; join the parts: genbench merge")
    stated = [
        TaskWarning("", name, line) for name, task in result.tasks.items() for line in task_warnings(task)
    ]
    lines += [f"{model}/{line.text}" for line in fold_warnings(stated, groups_of(result))]
    for name, task in result.tasks.items():
        lines += [f"{model}/{name}: {line}" for line in _further(task, brief)]
    for name, group in result.groups.items():
        if group.published and not brief:
            lines.append(f"{model}/{name} ({group.mean}): {_published(group.published)}")
    return lines + [f"FAILED: {model}: {line}" for line in result.failed]


def _published(scores: Sequence[PublishedScore]) -> str:
    """Return what others report, in one line."""
    shown = ", ".join(
        f"{item.model} {points(item.value)}{f' ({item.mean})' if item.mean else ''}" for item in scores
    )
    return f"published: {shown} (sources and decodings: in the report)"


def _further(task: TaskResults, brief: bool) -> list[str]:
    """Return what else is known of a task, without its name. With `brief` only what the suite asked for."""
    lines = [_published(task.published)] if task.published and not brief else []
    if task.macro:
        lines.append(
            f"{task.macro.name} {task.macro.parts} values of {task.macro.by}: {points(task.macro.value)} "
            f"{interval(task.macro.ci)}"
        )
        lines += _spread(task.macro)
    if task.reported:
        lines.append(reported_line(task.reported))
    lines += _other_metrics(task, brief)
    lines += _measures(task)
    lines += stopping_line(task.stopping, brief=brief) if task.stopping else []
    lines += rollout_lines(task.rollouts) if task.rollouts else []
    lines += corpus_lines(task.corpus)
    lines += likelihood_lines(task.likelihood, brief=brief) if task.likelihood else []
    if not brief:
        lines += _instructions(task.instructions) if task.instructions else []
    lines += judged_lines(task.judge) if task.judge else []
    return lines


def _spread(macro: MacroRecord) -> list[str]:
    """Return how far the values of a stratum are apart, in points, if the task asks for it."""
    apart = macro.spread
    if apart is None:
        return []
    if apart.delta.value is None or apart.std.value is None:
        return [f"no spread over {macro.by}: no question was asked in all its values, as with a limit"]
    delta = f"{points(apart.delta.value)} {interval(apart.delta.ci)}"
    std = f"{points(apart.std.value)} {interval(apart.std.ci)}"
    return [f"highest minus lowest value of {macro.by}: {delta}, standard deviation {std}"]


def _other_metrics(task: TaskResults, brief: bool) -> list[str]:
    """Return the metrics other than the headline one, which say more only if k > 1.

    With `brief` only those that the suite asked for, not the ones that every task has.
    """
    usual = {f"{name}@{task.k}" for name in ("avg", "pass", "maj")} if brief else set()
    shown = [
        f"{item.metric} {points(item.value)} {interval(item.ci)}"
        for name, item in task.metrics.items()
        if name != task.metric and task.k > 1 and item.value is not None and item.metric not in usual
    ]
    return [", ".join(shown)] if shown else []


def _measures(task: TaskResults) -> list[str]:
    """Return the verifier's further measures, such as the share of right cells of a grid."""
    shown = [
        f"{name} {points(item.value)} {interval(item.ci)}"
        for name, item in (task.parts or {}).items()
        if item.value is not None
    ]
    return [", ".join(shown)] if shown else []


def _instructions(record: InstructionsRecord) -> list[str]:
    lines: list[str] = []
    for turn, accuracies in enumerate(record.turns):
        shown = ", ".join(
            f"{name.removesuffix('_acc').replace('_', ' ')} {points(item.value)} {interval(item.ci)}"
            for name, item in accuracies.items()
            if item.value is not None
        )
        lines.append(f"turn {turn + 1}: {shown}" if turn else shown)
    if record.mean_of_turns is not None:
        mean = points(record.mean_of_turns)
        lines.append(f"mean of the four over turns (as Multi-IF is published): {mean}")
    return lines
