"""Measures of scored texts as lines: those of one run, and the differences of two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from genbench.analysis.likelihood import LikelihoodRecord, MeasureDifference
from genbench.reports.numbers import p_text
from genbench.reports.terminal.table import aligned
from genbench.stats.likelihood import MEASURES

_RIGHT = frozenset({"base", "tuned", "change", "value", "p"})


def measure_value(name: str, value: float) -> str:
    """Return a measure for people: shares in points of 100, others with four digits."""
    return f"{100 * value:.1f}" if MEASURES[name].is_share else f"{value:.4g}"


def likelihood_lines(record: LikelihoodRecord, *, brief: bool = False) -> list[str]:
    """Return the measures of a task as one line each for shares and other measures, then its notices.

    Args:
        brief: leave out shares, of which the table has the headline.
    """
    shares = [name for name in record.measures if MEASURES[name].is_share and not brief]
    others = [name for name in record.measures if not MEASURES[name].is_share]
    lines = [", ".join(_shown(record, name) for name in names) for names in (shares, others) if names]
    n = next((item.n for item in record.measures.values()), 0)
    if record.ties:
        lines.append(f"{record.ties} of {n} problems have a tie for the largest value; the first one counts")
    if record.merged:
        lines.append(
            f"in {record.merged} of {n} problems one token has characters of context and continuation; it "
            "counts for the continuation"
        )
    return lines


def _shown(record: LikelihoodRecord, name: str) -> str:
    item = record.measures[name]
    return f"{name} {measure_value(name, item.value)} {_bounds(name, item.ci)}".rstrip()


def _bounds(name: str, ci: Sequence[float] | None) -> str:
    return "" if ci is None else f"[{measure_value(name, ci[0])}, {measure_value(name, ci[1])}]"


def measure_change(name: str, item: MeasureDifference) -> str:
    """Return the paired change of one measure in words: `bpb_gold 1.21 -> 1.15 (-0.06, 95% CI [...])`."""
    bounds = f", 95% CI {_bounds(name, item.ci)}" if item.ci else ""
    better = ", lower is better" if item.lower_is_better else ""
    return (
        f"{name} {measure_value(name, item.base)} -> {measure_value(name, item.tuned)} "
        f"({_signed(name, item.difference)}{bounds}{better})"
    )


def difference_lines(differences: Mapping[str, MeasureDifference], indent: str = "    ") -> Iterator[str]:
    """Yield the table of paired differences of all measures."""
    n = next((item.n for item in differences.values()), 0)
    if not n:
        return
    yield f"  measures of scored texts, paired over {n} problems (shares in points of 100):"
    head = ("measure", "base", "tuned", "change", "95% CI", "p", "better")
    rows = [_row(name, item) for name, item in differences.items()]
    yield aligned(head, rows, _RIGHT, indent=indent)


def _row(name: str, item: MeasureDifference) -> tuple[str, ...]:
    return (
        name,
        measure_value(name, item.base),
        measure_value(name, item.tuned),
        _signed(name, item.difference),
        _bounds(name, item.ci) or "-",
        p_text(item.p_two_sided),
        "lower" if item.lower_is_better else "higher",
    )


def _signed(name: str, difference: float) -> str:
    change = measure_value(name, difference)
    return change if change.startswith("-") else f"+{change}"
