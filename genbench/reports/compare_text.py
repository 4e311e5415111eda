"""A whole comparison for the terminal: the verdict, the table, the suite's lines, and all details."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from genbench.analysis.comparison_record import ComparedTask, Comparison, SuiteVerdict
from genbench.reports.adaptive_text import adaptive_text
from genbench.reports.compare_details import details
from genbench.reports.figures import interval, p_text, points
from genbench.reports.lead import verdict_sentence
from genbench.reports.table import aligned
from genbench.reports.why import sentence, signed
from genbench.safetext.printable import printable

_HEAD = ("task", "metric", "n x k", "base", "tuned", "change", "95% CI", "p", "p drop", "finds", "verdict")
_RIGHT = frozenset({"n x k", "base", "tuned", "change", "p", "p drop", "finds"})


def compare_text(comparison: Comparison, width: int | None = None) -> str:
    """Return the comparison as text, in points of 100.

    Args:
        width: columns of the terminal, see `head`.
    """
    tasks = comparison.tasks
    parts = [
        *head(comparison, width),
        "",
        *(f"WARNING: {line}" for line in comparison.warnings),
        *(f"let through: {line}" for line in comparison.allowed),
        *(f"{name}: {sentence(task)}" for name, task in tasks.items()),
        "",
        suite_text(comparison.suite),
        "",
        legend(tasks, looked=comparison.adaptive is not None),
        *(adaptive_text(comparison.adaptive) if comparison.adaptive else ()),
        *(line for name, task in tasks.items() for line in _titled(name, task)),
        "",
        *(f"warning: other circumstances: {line}" for line in comparison.circumstances),
        *(f"note: {line}" for line in comparison.notes),
        "",
        outcome(comparison),
    ]
    return printable("\n".join(parts)).rstrip("\n")


def head(comparison: Comparison, width: int | None = None) -> list[str]:
    """Return what each text of a comparison begins with: the verdict, both paths and the table.

    Args:
        width: columns of the terminal. In a narrow one the tests are under each row.
    """
    names = comparison.base.name, comparison.tuned.name
    base, tuned = names if len(set(names)) == 2 else ("base", "tuned")
    rows = [_row(name, task) for name, task in comparison.tasks.items()]
    return [
        verdict_sentence(base, tuned, comparison),
        "",
        f"base:  {comparison.base.path}",
        f"tuned: {comparison.tuned.path}",
        "",
        aligned(_HEAD, rows, _RIGHT, width=width, below=("p", "p drop", "finds")),
    ]


def _row(name: str, task: ComparedTask) -> tuple[str, ...]:
    """Return the cells of one task."""
    k = task.k_tuned if task.k_base == task.k_tuned else f"{task.k_base}/{task.k_tuned}"
    head = (name, task.metric, f"{task.n} x {k}")
    verdict = task.verdict if task.gating else f"{task.verdict} (not gating)"
    if task.base is None or task.tuned is None or task.difference is None:
        return (*head, "-", "-", "-", "-", "-", "-", "-", verdict)
    return (
        *head,
        points(task.base),
        points(task.tuned),
        signed(task.difference),
        interval(task.ci),
        p_text(task.p_two_sided),
        p_text(task.p_regression_adjusted if task.gating else task.p_regression),
        "-" if task.finds is None else points(task.finds),
        verdict,
    )


def suite_text(suite: SuiteVerdict) -> str:
    """Return the lines about the suite: its verdict, the bound of the mean, the pooled test, the errors."""
    lines = [f"suite: {suite.verdict}; {_together(suite)}"]
    if suite.doubtful:
        lines.append(f"  a loss of twice the margin is not excluded in {', '.join(suite.doubtful)}")
    if suite.inconclusive:
        lines.append(f"  inconclusive by themselves: {', '.join(suite.inconclusive)}")
    if suite.pooled_difference is not None:
        bounds = f", 95% CI {interval(suite.ci)}" if suite.ci else ""
        lines.append(
            f"  pooled difference {signed(suite.pooled_difference)}{bounds}, p drop "
            f"{p_text(suite.p_regression)}, p gain {p_text(suite.p_improvement)} "
            f"(gating: {', '.join(suite.tasks)}; each family at level {suite.alpha:g})"
        )
    error = f"{100 * suite.familywise:g} %"
    lines.append(
        f"  errors: an unchanged model is REGRESSED in at most {error} of comparisons, IMPROVED in at most "
        f"{error}, one or the other in up to {200 * suite.familywise:g} %"
    )
    return "\n".join(lines)


def _together(suite: SuiteVerdict) -> str:
    """Return what is known of the mean of the gating tasks."""
    margin = points(suite.margin)
    if suite.lower is None or suite.mean_difference is None:
        return "no difference of all gating tasks"
    shown = f"mean difference {signed(suite.mean_difference)}, lower bound {signed(suite.lower)}"
    if suite.lower > -suite.margin:
        return f"together not worse than {margin} points (95 %): {shown}"
    if suite.tasks and not suite.inconclusive:
        return f"each gating task by itself improved or lost less than its margin (95 %): {shown}"
    return f"together a loss of {margin} points is not excluded (95 %): {shown}"


def legend(tasks: Mapping[str, ComparedTask], *, looked: bool = False) -> str:
    """Return the meaning of the columns, with the methods that were used.

    Args:
        looked: whether the looks of an adaptive run decided.
    """
    adjusted = "that of the task's last look" if looked else "one-sided, Holm-adjusted over the gating tasks"
    ci = "; ".join(sorted({task.ci_method.split(" (")[0] for task in tasks.values() if task.ci}))
    p = "; ".join(sorted({task.p_method for task in tasks.values() if task.p_method}))
    return (
        f"Points of 100, paired by problem. 95% CI: question population ({ci}).\n"
        f"p: two-sided ({p}). p drop: {adjusted}.\n"
        "finds: the smallest drop found with 80% power, at the strictest level that the gate may use."
    )


def _titled(name: str, task: ComparedTask) -> Iterator[str]:
    """Yield the details of a task under its name, or nothing."""
    lines = list(details(task))
    if lines:
        yield f"\n{name}"
        yield from lines


def outcome(comparison: Comparison) -> str:
    """Return whether the gate passed, or an empty text if there is no gate."""
    if not comparison.gate:
        return ""
    passed = "failed" if comparison.exit_code else "passed"
    undecided = comparison.suite.undecided
    why = f" (no decision on {', '.join(undecided)})" if undecided else ""
    return f"gate: {passed}{' (strict)' if comparison.strict else ''}{why}"
