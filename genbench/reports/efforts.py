"""The table of efforts: what each effort of a model scores and takes, in the terminal and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from genbench.analysis.efforts import EffortRow, Efforts, LeastEffort, NextEffort
from genbench.reports.numbers import interval, points, signed
from genbench.reports.table import MARKDOWN, PAGE, TERMINAL, Column, Table

_VERDICTS = {
    "REGRESSED": "worse",
    "IMPROVED": "better",
    "NON_INFERIOR": "not worse",
}


def _share(value: float | None) -> str:
    return "-" if value is None else f"{points(value)}%"


def _count(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def _gain(row: EffortRow) -> str:
    return "-" if row.next is None else f"{signed(row.next.gain)} {interval(row.next.ci)}"


def _to_next(row: EffortRow) -> str:
    if row.next is None:
        return ""
    word = _VERDICTS.get(row.next.verdict)
    return "inconclusive" if word is None else f"{word} than {row.next.effort}"


_NUMBER = TERMINAL | MARKDOWN | PAGE
EFFORTS = Table[EffortRow](
    Column("task", lambda row: row.task),
    Column("model", lambda row: row.model),
    Column("effort", lambda row: row.effort),
    Column("tools", lambda row: row.tools),
    Column("value", lambda row: points(row.value), right=_NUMBER),
    Column("95% CI", lambda row: interval(row.ci), right=PAGE, plain=True),
    Column("n x k", lambda row: f"{row.n} x {row.k}", right=TERMINAL | PAGE),
    Column("tokens", lambda row: _count(row.tokens), right=_NUMBER),
    Column("p95", lambda row: _count(row.tokens_p95), right=_NUMBER),
    Column("per right", lambda row: _count(row.tokens_per_right), right=_NUMBER),
    Column("cut off", lambda row: _share(row.cut_off), right=_NUMBER),
    Column("open traces", lambda row: _share(row.open_traces), right=_NUMBER),
    Column("gain of the next", _gain, right=PAGE, plain=True),
    Column("verdict", _to_next),
    below=("gain of the next", "verdict"),
)


def effort_rows(record: Efforts) -> list[EffortRow]:
    """Return the rows task by task, with the efforts of a model one below the other."""
    tasks = list(dict.fromkeys(row.task for row in record.rows))
    return sorted(record.rows, key=lambda row: tasks.index(row.task))


def effort_lines(record: Efforts) -> list[str]:
    """Return the least effort that is enough, a line for each model and task, and the notes."""
    return [*map(_least, record.least), *record.notes]


def _least(found: LeastEffort) -> str:
    where, loss = f"{found.model}, {found.task}", f"a loss of {points(found.margin)}"
    if found.effort is not None:
        return f"{where}: {found.effort} is the least effort that is not worse than any greater one ({loss})"
    if found.open:
        names = " and ".join(found.open)
        return f"{where}: whether {names} would be enough is open; more problems or samples tell ({loss})"
    return f"{where}: each less effort is worse than a greater one"


def efforts_text(record: Efforts, *, width: int | None = None) -> str:
    """Return the table for a terminal."""
    lines = [f"  {line}" for line in effort_lines(record)]
    return "\n".join(["By effort:", EFFORTS.text(effort_rows(record), width=width), *lines])


def efforts_csv(rows: Sequence[EffortRow]) -> str:
    """Return the rows as CSV, with numbers as JSON has them, and nothing for what is missing."""
    text = io.StringIO()
    records = list(map(_flat, rows))
    writer = csv.DictWriter(text, list(dict.fromkeys(key for record in records for key in record)))
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def _flat(row: EffortRow) -> dict[str, object]:
    record = row.model_dump(mode="json", exclude={"next"})
    following = row.next.model_dump(mode="json") if row.next else dict.fromkeys(NextEffort.model_fields)
    return dict(_cells({**record, **{f"next_{key}": value for key, value in following.items()}}))


def _cells(record: dict[str, object]) -> Iterator[tuple[str, object]]:
    """Yield the cells of a record. Both ends of an interval have cells of their own."""
    for key, value in record.items():
        if key.endswith("ci"):
            low, high = value if isinstance(value, list) else (None, None)
            yield from ((f"{key}_low", low), (f"{key}_high", high))
        else:
            yield key, value
