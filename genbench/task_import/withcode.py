"""Rows of definitions whose functions make rows or prompts: lm-eval makes them once, in the sandbox."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.errors import GenbenchError, InputError
from genbench.protocols import Row
from genbench.sandbox.foreign import ForeignPython, run_foreign
from genbench.task_import.definition import Definition
from genbench.task_import.plan import Plan, Split
from genbench.task_import.sourcerows import load_split
from genbench.tasks.imported import RowsOrigin

_SCRIPT = Path(__file__).with_name("lm_eval_rows.py")


@dataclass(frozen=True, slots=True)
class CodeRows:
    """The rows that lm-eval made by place, the rows that filters look at, and the origin of the rows."""

    rendered: dict[int, dict[str, Any]]
    rows: list[Row]
    origins: list[RowsOrigin]


def rows_by_code(
    definition: Definition,
    plan: Plan,
    python: ForeignPython,
    data_dir: Path | None,
    shots: int | None,
    *,
    docs: bool = False,
) -> CodeRows:
    """Return the rows that lm-eval's code makes of a definition. It runs once, without network.

    Args:
        docs: whether each rendered row has the row that it was made of, under `doc`.

    Raises:
        GenbenchError: the rows cannot be read, or the code fails.
        InputError: the definition makes its dataset itself.
    """
    splits: dict[str, list[Row]] = {}
    origins: list[RowsOrigin] = []
    for name in _split_names(definition, plan):
        try:
            found = load_split(Split(plan.split.repo, plan.split.config, name, plan.split.revision), data_dir)
        except GenbenchError:
            if name == plan.split.name or plan.shots:
                raise
            continue  # exemplars are not drawn, so that their split is not needed
        splits[name] = found.rows
        origins.append(found.origin)
    order = {"path": str(definition.path), "shots": shots, "splits": splits, "docs": docs}
    made = run_foreign(python, _SCRIPT, order, [definition.root])
    if not made:
        raise InputError("the task's code made no rows")
    rows: list[Row] = [{"choices": row["listed"]} for row in made]
    return CodeRows(dict(enumerate(made)), rows, origins)


def _split_names(definition: Definition, plan: Plan) -> list[str]:
    """Return the split that is asked first, then the others that exemplars may come from."""
    config = definition.config
    keys = ("training_split", "validation_split", "test_split", "fewshot_split")
    names = [plan.split.name, *(config.get(key) for key in keys)]
    return list(dict.fromkeys(name for name in names if isinstance(name, str)))
