"""All rows of a ledger without numbers that depend on the order in which runs were added."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Table, select

from genbench.nights.ledger import tables
from genbench.nights.ledger.database import Ledger

_NUMBERED = {"id", "number"}
_WITH_NAMES = {"change", "annotation"}
"""Tables whose `id` is a name."""

Names = Mapping[str, Mapping[int, str]]


def all_rows(ledger: Ledger) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of each table, sorted, with names in the place of numbers of other rows."""
    with ledger.read() as connection:
        names = _names(connection)
        found: dict[str, list[tuple[Any, ...]]] = {}
        for table in tables.METADATA.sorted_tables:
            rows = [_row(table, row, names) for row in connection.execute(select(table))]
            found[table.name] = sorted(rows, key=repr)
        del found["meta"]
        return found


def _row(table: Table, row: Any, names: Names) -> tuple[Any, ...]:
    return tuple(
        names[key].get(value, value) if key in names and (table.name, key) != ("run", "run_id") else value
        for key, value in row._mapping.items()
        if key not in _NUMBERED or table.name in _WITH_NAMES
    )


def _names(connection: Connection) -> Names:
    """Return for each column that refers to other rows their names by number."""
    runs = _pairs(connection, tables.run, "uid")
    tracks = _pairs(connection, tables.track, "name")
    series = {
        row.id: f"{tracks[row.track_id]}/{row.task}" for row in connection.execute(select(tables.series))
    }
    return {
        "run_id": runs,
        "base_id": runs,
        "track_id": tracks,
        "key_id": _pairs(connection, tables.task_key, "digest"),
        "problem_set_id": _pairs(connection, tables.problem_set, "digest"),
        "series_id": series,
    }


def _pairs(connection: Connection, table: Table, column: str) -> dict[int, str]:
    return {row.id: row._mapping[column] for row in connection.execute(select(table))}
