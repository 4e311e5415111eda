"""Conversion of one definition into rows and a lock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from genbench.errors import DataError
from genbench.protocols import Row
from genbench.sandbox.foreign import ForeignPython
from genbench.task_import.frozenrows import frozen_rows, generated_row
from genbench.task_import.levels import Classified
from genbench.task_import.locate import Source
from genbench.task_import.locks import lock_of
from genbench.task_import.plan import Plan, make_plan
from genbench.task_import.rendering import render_rows
from genbench.task_import.sourcerows import load_split
from genbench.task_import.withcode import rows_by_code
from genbench.tasks.imported import Lock, RowsOrigin


@dataclass(frozen=True, slots=True)
class Converted:
    """One task that can be written."""

    lock: Lock
    rows: list[dict[str, Any]]


def convert(
    found: Classified,
    source: Source,
    *,
    data_dir: Path | None,
    shots: int | None = None,
    headline: str | None = None,
    generate: bool = False,
    left_out: Sequence[str] = (),
    foreign: ForeignPython | None = None,
) -> Converted:
    """Return the rows and the lock of a definition.

    Args:
        left_out: what of the definition was left out, in words.

    Raises:
        GenbenchError: it needs something that is not available here, or its rows cannot be read or rendered.
    """
    generates = generate and found.output == "multiple_choice"
    by_code = foreign is not None and found.level in ("2", "2c")
    plan = make_plan(found, 0 if generates else shots, rows_given=by_code)
    plan = _with_headline(plan, headline)
    plan = replace(plan, changes=(*plan.changes, *left_out))
    if by_code and foreign is not None:
        own = 0 if generates else shots
        made = rows_by_code(found.definition, plan, foreign, data_dir, own)
        rows = frozen_rows(plan, made.rows, made.rendered)
        if generates:
            plan, rows = _generating(plan, rows, made.rows)
        lock = lock_of(found, plan, source, origins=made.origins, rows=rows, refused={})
        return Converted(lock.model_copy(update={"door": 2}), rows)
    asked = load_split(plan.split, data_dir)
    origins = [asked.origin]
    exemplars: Sequence[Row] = plan.samples
    if plan.shot_split is not None:
        exemplars, others = _exemplars(plan, asked.rows, data_dir)
        origins += others
    rendering = render_rows(
        plan.config,
        asked.rows,
        exemplars=exemplars,
        same_split=plan.leaves_out_asked,
        patterns=plan.patterns,
    )
    rows = frozen_rows(plan, asked.rows, rendering.rows)
    if generates:
        plan, rows = _generating(plan, rows, asked.rows)
    refused = {str(place): rendering.refused[place] for place in sorted(rendering.refused)}
    return Converted(lock_of(found, plan, source, origins=origins, rows=rows, refused=refused), rows)


def _exemplars(plan: Plan, asked: list[Row], data_dir: Path | None) -> tuple[list[Row], list[RowsOrigin]]:
    assert plan.shot_split is not None
    if plan.shot_split == plan.split:
        return asked, []
    found = load_split(plan.shot_split, data_dir)
    return found.rows, [found.origin]


def _with_headline(plan: Plan, headline: str | None) -> Plan:
    """Return the plan with another filter for the score.

    Raises:
        DataError: it has no such filter.
    """
    if headline is None or plan.verifier_options is None:
        return plan
    names = [block["name"] for block in plan.verifier_options.get("filters") or ()]
    if headline not in names:
        raise DataError(f"it has no filter '{headline}'; its filters: {', '.join(names) or 'none'}")
    return replace(plan, verifier_options={**plan.verifier_options, "headline": headline})


def _generating(
    plan: Plan, rows: Sequence[Mapping[str, Any]], source: Sequence[Row]
) -> tuple[Plan, list[dict[str, Any]]]:
    """Return the plan and the rows of a task with choices as one that generates its answer."""
    change = "asked with its options and graded by the letter of a generated answer: another benchmark"
    made = [
        generated_row(row, source[int(row["id"])], f"task {plan.name}, row {int(row['id']) + 1}")
        for row in rows
    ]
    name, changes = f"{plan.name}_gen", (*plan.changes, change)
    return replace(plan, name=name, output="generate_until", changes=changes, verifier_options=None), made
