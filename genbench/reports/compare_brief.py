"""A comparison on one screen of the terminal: the verdict, the table, and at most 30 lines below it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from genbench.analysis.comparison_record import ComparedTask, Comparison
from genbench.reports.adaptive_text import spent_words
from genbench.reports.compare_text import head, legend, outcome, suite_text
from genbench.reports.why import sentence
from genbench.safetext.printable import printable

LINES = 30
"""Lines below the table, those that are left blank among them."""
_WARNINGS = 6
_ALLOWED = 4
_SUITE = 4


def compare_brief(comparison: Comparison, width: int | None = None) -> str:
    """Return the verdict, the table and what matters most below it, in points of 100.

    The last line names the command that prints the rest.

    Args:
        width: columns of the terminal. In a narrow one the tests are under each row of the table.
    """
    above = head(comparison, width)
    below = [
        *_bounded([f"WARNING: {line}" for line in comparison.warnings], _WARNINGS, "warnings"),
        *_bounded([f"let through: {line}" for line in comparison.allowed], _ALLOWED, "differences"),
        *([spent_words(comparison.adaptive)] if comparison.adaptive else []),
        *suite_text(comparison.suite).splitlines()[:_SUITE],
        "",
    ]
    end = [
        "",
        *legend(comparison.tasks, looked=comparison.adaptive is not None).splitlines(),
        *filter(None, [outcome(comparison), _verified(comparison)]),
        _rest(comparison),
    ]
    left = LINES - len(below) - len(end)
    return printable("\n".join([*above, *below, *_sentences(comparison.tasks, left), *end]))


def _sentences(tasks: dict[str, ComparedTask], most: int) -> list[str]:
    """Return the sentence about each task. The largest changes are kept if there are too many."""
    names = sorted(tasks, key=lambda name: -abs(tasks[name].difference or 0.0))
    kept = set(names if len(names) <= most else names[: max(most - 1, 0)])
    lines = [f"{name}: {sentence(task)}" for name, task in tasks.items() if name in kept]
    more = len(tasks) - len(kept)
    return [*lines, f"… and {more} more tasks that changed less"] if more else lines


def _bounded(lines: Sequence[str], most: int, what: str) -> list[str]:
    """Return the first lines, and how many others there are."""
    if len(lines) <= most:
        return list(lines)
    return [*lines[: most - 1], f"… and {len(lines) - most + 1} more {what}"]


def _verified(comparison: Comparison) -> str:
    """Return how many stored answers were verified again, or an empty text if none were to be."""
    found = comparison.rechecked
    if not found:
        return ""
    count, moved = sum(item.verified for item in found), sum(item.differing for item in found)
    left_out = list(dict.fromkeys(item.task for item in found if item.skipped is not None))
    more = f"; not in every run: {', '.join(left_out)} (see --details)" if left_out else ""
    return f"{count} stored answers were verified again, {moved} got another verdict{more}"


def _rest(comparison: Comparison) -> str:
    """Return where causes, strata, notes and circumstances are shown. Only runs have a page."""
    sides = comparison.base, comparison.tuned
    differ = len(comparison.circumstances)
    told = f"{differ} circumstance(s) differ. " if differ else ""
    page = shlex.join(["genbench", "report", *(side.path for side in sides)])
    or_page = f", or the page: {page}" if all(side.kind == "run" for side in sides) else ""
    return f"{told}Causes, strata and notes: --details{or_page}"
