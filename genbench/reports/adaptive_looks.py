"""The looks of an adaptive run as text: what was decided, when, and what it saved."""

from __future__ import annotations

from collections.abc import Iterator

from genbench.analysis.adaptive.results import AdaptiveResults
from genbench.reports.numbers import interval, p_text, signed
from genbench.reports.table import TERMINAL, Column, Table
from genbench.stats.adaptive.looks import NightLookRecord, TaskLookRecord

_WORDS = {
    "QUIET": "quiet: a drop of the margin would probably have shown",
    "STOPPED": "stopped with the run",
}


def adaptive_text(record: AdaptiveResults) -> list[str]:
    """Return the lines on an adaptive run: what it saved, its looks, its pooled tests, its confirmations."""
    return [
        "",
        spent_words(record),
        *(["", LOOKS.text(look_rows(record))] if record.looks else []),
        *_pooled(record),
        *_undecided(record),
        *_confirmed(record),
        "Repeated CI: holds at every look together with 95 %, so also after an early stop. p drop must not "
        "exceed its level.",
    ]


def spent_words(record: AdaptiveResults) -> str:
    """Return the verdict, the looks and the samples in one sentence."""
    count = len(record.looks)
    looks = f"{count} look{'s' if count != 1 else ''}"
    verdict = f"{record.verdict} after {looks}" if record.verdict else f"not over, {looks} so far"
    share = record.samples / record.planned if record.planned else 1.0
    return (
        f"adaptive run against {record.base}: {verdict}; {record.samples:,} of {record.planned:,} samples "
        f"({share:.0%}), {1 - share:.0%} saved"
    )


LookRow = tuple[NightLookRecord, str, TaskLookRecord]


def look_rows(record: AdaptiveResults) -> list[LookRow]:
    """Return each task at each look, with its name."""
    return [(look, name, task) for look in record.looks for name, task in look.tasks.items()]


def _decision(row: LookRow) -> str:
    decision = row[2].decision
    return "goes on" if decision is None else _WORDS.get(decision, decision)


LOOKS = Table[LookRow](
    Column("look", lambda row: row[0].number, right=TERMINAL),
    Column("task", lambda row: row[1]),
    Column("samples", lambda row: f"{row[2].samples:,}", right=TERMINAL),
    Column("change", lambda row: signed(row[2].difference), right=TERMINAL),
    Column("repeated CI", lambda row: interval(row[2].ci)),
    Column("p drop", lambda row: p_text(row[2].p), right=TERMINAL),
    Column("level", lambda row: p_text(row[2].level), right=TERMINAL),
    Column("lower", lambda row: signed(row[2].lower), right=TERMINAL),
    Column("decision", _decision),
)


def _pooled(record: AdaptiveResults) -> Iterator[str]:
    """Yield the pooled difference at each look."""
    for look in record.looks:
        found = look.pooled
        if found is None or found.difference is None:
            continue
        seen = "REGRESSED" if found.regressed else "a small loss of all tasks is not excluded"
        if found.is_excluded and not found.regressed:
            seen = "a small loss of all tasks is excluded"
        lower = "" if found.lower is None else f", lower bound {signed(found.lower)}"
        yield (
            f"look {look.number}, pooled: {signed(found.difference)}{lower}, p drop {p_text(found.p)} "
            f"(level {p_text(found.level)}): {seen}"
        )


def _undecided(record: AdaptiveResults) -> Iterator[str]:
    """Yield the tasks that the end of the run left open."""
    open_ = [name for name, task in record.tasks.items() if task.decision == "STOPPED"]
    if open_:
        yield f"left open when the run ended: {', '.join(open_)} (--finish draws them to their decision)"


def _confirmed(record: AdaptiveResults) -> Iterator[str]:
    """Yield what fresh samples say of the tasks that regressed."""
    for name, found in record.confirmations.items():
        change = "-" if found.difference is None else f"{signed(found.difference)} points"
        yield (
            f"{name} drawn once more with fresh seeds: {change}, p drop {p_text(found.p)} in "
            f"{found.samples:,} samples: {'confirmed' if found.p <= record.alpha else 'NOT confirmed'}"
        )
    down = [name for name, task in record.tasks.items() if task.decision == "REGRESSED"]
    lacking = [name for name in down if name not in record.confirmations]
    if lacking and record.verdict is not None:
        yield f"not drawn again with fresh seeds: {', '.join(lacking)}"
