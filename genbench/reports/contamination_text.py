"""Signs of contamination, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from genbench.reports.figures import p_text, points
from genbench.reports.table import aligned
from genbench.reports.why import signed
from genbench.runs.contamination_record import Contamination, ContaminationTask
from genbench.safetext.printable import printable

_HEAD = ("task", "k", "never", "flips", "earlier", "p", "order base", "order tuned", "p order", "sign")
_RIGHT = frozenset(_HEAD) - {"task", "sign"}
_SHOWN = 10


def contamination_text(record: Contamination) -> str:
    """Return the record as text: a table of tasks, then what each figure rests on."""
    tasks = record.tasks
    parts = [
        *(f"let through: {line}" for line in record.allowed),
        f"base:    {record.base}",
        *(f"earlier: {path}" for path in record.earlier),
        f"tested:  {record.tuned}",
        "",
        aligned(_HEAD, [_row(name, task) for name, task in tasks.items()], _RIGHT),
        "",
        "never: problems that base solves in at most 1 of 64 samples. flips: those of them that the tested\n"
        "model solves in at least 15 of 16. earlier: the same of the earlier runs. p: so many flips, if the\n"
        "model flips as often as the earlier ones. order: points by which the score rises from the reversed\n"
        "order of options to the dataset's. p order: a larger rise than in base.\n"
        "Both p are adjusted by Holm's method. A clean model gets a sign in at most about "
        f"{100 * record.alpha:g} % of records.",
        *(line for name, task in tasks.items() for line in _details(name, task)),
    ]
    return printable("\n".join(parts))


def _row(name: str, task: ContaminationTask) -> tuple[str, ...]:
    flips, order = task.flips, task.order
    k = f"{task.k_base}/{task.k_tuned}"
    counted = flips.missing is None
    return (
        name,
        k,
        str(flips.chances) if counted else "-",
        str(flips.count) if counted else "-",
        f"{flips.earlier_count}/{flips.earlier_chances}" if counted and flips.earlier_runs else "-",
        p_text(flips.p_adjusted),
        "-" if order.base_effect is None else signed(order.base_effect),
        "-" if order.tuned_effect is None else signed(order.tuned_effect),
        p_text(order.p_adjusted),
        "SUSPICIOUS" if task.suspicious else "none",
    )


def _details(name: str, task: ContaminationTask) -> Iterator[str]:
    """Yield the flipped problems, and what could not be tested."""
    flips, order = task.flips, task.order
    if flips.problems:
        more = len(flips.problems) - _SHOWN
        rest = f" and {more} more" if more > 0 else ""
        share = "" if flips.share_of_gain is None else f"; {points(flips.share_of_gain)} % of the gain"
        yield f"\n{name}: flipped: {', '.join(flips.problems[:_SHOWN])}{rest}{share}"
    if flips.missing is not None:
        yield f"{name}: flips are not counted: {flips.missing}"
    elif flips.p is None:
        yield f"{name}: no earlier run to compare the flips with: name runs of earlier models after the base"
    if order.missing is not None:
        yield f"{name}: the order of options is not tested: {order.missing}"
