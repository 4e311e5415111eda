"""The base of a track: which run it is under each key, and every run's difference to it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from genbench.ledger import tables
from genbench.ledger.commonproblems import (
    CommonProblems,
    alike_keys,
    groups_of,
    read_problems,
    same_task,
    spread,
)
from genbench.ledger.differences import base_difference
from genbench.ledger.vectors import Vector, unpack
from genbench.stats.scores import Bools

run, score, series, track = tables.run, tables.score, tables.series, tables.track


@dataclass(frozen=True, slots=True)
class BaseDraw:
    """A draw of the base for one key: the run's number in the table, and its sums.

    `shared` (n,) are the problems of the key that the base was drawn on, None if these are all.
    """

    run_id: int
    vector: Vector
    groups: tuple[str | None, ...] | None
    shared: Bools | None = None


def base_draws(connection: Connection, track_name: str, wanted: Iterable[int] = ()) -> dict[int, BaseDraw]:
    """Return the base of a track under each key, by the key's number.

    It is the pinned run if that was drawn under the key. Otherwise it is the earliest finished anchor of the
    same model that was.

    Args:
        wanted: keys for which a draw under a key with almost the same problems will do.
    """
    draws = _exact_draws(connection, track_name)
    lacking = [key for key in wanted if key not in draws]
    return draws | _alike_draws(connection, draws, lacking) if draws and lacking else draws


def _alike_draws(
    connection: Connection, draws: Mapping[int, BaseDraw], lacking: Collection[int]
) -> dict[int, BaseDraw]:
    """Return for keys without a draw the first one under a key with almost the same problems."""
    found: dict[int, BaseDraw] = {}
    for key, others in same_task(connection, lacking).items():
        drawn = [other for other in others if other in draws]
        problems = read_problems(connection, [key, *drawn])
        # In an order that does not depend on the order in which runs were added.
        for other in sorted(drawn, key=lambda one: problems[one].digest):
            if CommonProblems(problems[key]).take(problems[other]):
                vector, shared = spread(draws[other].vector, problems[other], problems[key])
                found[key] = BaseDraw(draws[other].run_id, vector, problems[key].groups, shared)
                break
    return found


def _exact_draws(connection: Connection, track_name: str) -> dict[int, BaseDraw]:
    found = connection.execute(select(track.c.id, track.c.base_uid).where(track.c.name == track_name)).first()
    if found is None or found.base_uid is None:
        return {}
    base = connection.execute(
        select(run.c.id, run.c.identity, run.c.state).where(run.c.uid == found.base_uid)
    ).first()
    if base is None:
        return {}
    draws = _draws_of(connection, [base.id]) if base.state == "finished" else {}
    anchors = select(run.c.id).where(
        run.c.track_id == found.id,
        run.c.role == "anchor",
        run.c.identity == base.identity,
        run.c.state == "finished",
        run.c.id != base.id,
    )
    ids = [row.id for row in connection.execute(anchors.order_by(run.c.position, run.c.created, run.c.uid))]
    for number in ids:
        lacking = {key: draw for key, draw in _draws_of(connection, [number]).items() if key not in draws}
        draws |= lacking
    return draws


def _draws_of(connection: Connection, runs: Iterable[int]) -> dict[int, BaseDraw]:
    query = (
        select(score.c.key_id, score.c.run_id, score.c.vector, tables.problem_set.c.groups)
        .join(tables.task_key, tables.task_key.c.id == score.c.key_id)
        .join(tables.problem_set, tables.problem_set.c.id == tables.task_key.c.problem_set_id)
        .where(score.c.run_id.in_(list(runs)))
    )
    return {
        row.key_id: BaseDraw(row.run_id, unpack(row.vector), groups_of(row.groups))
        for row in connection.execute(query)
    }


def difference_columns(draw: BaseDraw | None, run_id: int, vector: Vector) -> dict[str, Any]:
    """Return the columns of a score that compare it with the base. The base itself has none."""
    found = None
    if draw is not None and draw.run_id != run_id:
        found = base_difference(draw.vector, vector, draw.groups)
    rerun = (None, None) if found is None or found.rerun_ci is None else found.rerun_ci
    return {
        "base_id": draw.run_id if draw is not None and found is not None else None,
        "difference": found and found.difference,
        "difference_low": found and found.ci[0],
        "difference_high": found and found.ci[1],
        "difference_rerun_low": rerun[0],
        "difference_rerun_high": rerun[1],
    }


def renew_differences(connection: Connection, track_name: str, keys: Iterable[int] | None = None) -> None:
    """Compute the differences of a track's runs to its base again.

    Args:
        keys: only scores under these keys, and under keys with almost the same problems. None means all.
    """
    chosen = None if keys is None else alike_keys(connection, keys)
    draws = base_draws(connection, track_name, chosen or _keys_of(connection, track_name))
    query = select(series.c.id).join(track, track.c.id == series.c.track_id)
    for row in connection.execute(query.where(track.c.name == track_name)).all():
        _renew_series(connection, row.id, draws, chosen)


def _keys_of(connection: Connection, track_name: str) -> list[int]:
    """Return the numbers of all keys of a track."""
    query = (
        select(score.c.key_id)
        .join(series, series.c.id == score.c.series_id)
        .join(track, track.c.id == series.c.track_id)
        .where(track.c.name == track_name)
        .distinct()
    )
    return [row.key_id for row in connection.execute(query)]


def _renew_series(
    connection: Connection, number: int, draws: Mapping[int, BaseDraw], keys: Sequence[int] | None
) -> None:
    """Compute the differences of one series again."""
    columns = (score.c.series_id, score.c.position, score.c.run_id, score.c.key_id, score.c.vector)
    query = select(*columns).where(score.c.series_id == number)
    if keys is not None:
        query = query.where(score.c.key_id.in_(keys))
    changed = [_renewed(row, draws) for row in connection.execute(query)]
    if not changed:
        return
    places = {name: score.c[f"{name}_id" if name != "position" else name] for name in _PLACE}
    statement = update(score).where(*(places[name] == bindparam(f"at_{name}") for name in _PLACE))
    names = [name for name in changed[0] if name.startswith("new_")]
    values: dict[str, Any] = {name.removeprefix("new_"): bindparam(name) for name in names}
    connection.execute(statement.values(values), changed)


_PLACE = ("series", "position", "run")


def _renewed(row: Any, draws: Mapping[int, BaseDraw]) -> dict[str, Any]:
    columns = difference_columns(draws.get(row.key_id), row.run_id, unpack(row.vector))
    place = {"at_series": row.series_id, "at_position": row.position, "at_run": row.run_id}
    return place | {f"new_{name}": value for name, value in columns.items()}
