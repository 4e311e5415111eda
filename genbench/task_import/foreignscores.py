"""Import of definitions that score with functions: their code makes rows, and later scores answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from genbench.errors import InputError
from genbench.sandbox.foreign import ForeignPython
from genbench.task_import.convert import Converted
from genbench.task_import.levels import Classified
from genbench.task_import.locate import Source
from genbench.task_import.locks import lock_of
from genbench.task_import.plan import decoding_of, make_plan
from genbench.task_import.refusals import sample_metrics, scored_refusal
from genbench.task_import.withcode import rows_by_code
from genbench.verifiers.foreign.foreign_score import code_digest


def convert_scored(
    found: Classified,
    source: Source,
    foreign: ForeignPython,
    *,
    data_dir: Path | None,
    shots: int | None = None,
    headline: str | None = None,
    left_out: Sequence[str] = (),
) -> Converted:
    """Return the rows and the lock of a task that its own code scores.

    Args:
        left_out: what of the definition was left out, in words.

    Raises:
        GenbenchError: it does not generate its answers, its code scores only all samples together, or its
            rows cannot be read or made.
    """
    definition = found.definition
    why = scored_refusal(found)
    if why is not None:
        raise InputError(f"{found.reason} (level {found.level}); {why}")
    metrics = sample_metrics(definition.config) or ["exact_match"]
    plan = make_plan(found, shots, rows_given=True, scored_by_code=True)
    made = rows_by_code(definition, plan, foreign, data_dir, shots, docs=True)
    rows = [
        {
            "id": str(place),
            "context": row["contexts"][0],
            "reference": {"doc": row["doc"], "golds": [str(row["target"])]},
        }
        for place, row in sorted(made.rendered.items())
    ]
    decoding, changes = decoding_of(definition.config)
    folders = sorted({str(path.parent.relative_to(definition.root)) for path in definition.files})
    options: dict[str, Any] = {
        "root": str(definition.root.resolve()),
        "definition": str(definition.path.relative_to(definition.root)),
        "folders": folders,
        "digest": code_digest(definition.root, folders),
        "metrics": metrics,
        "until": decoding["stop"],
    }
    if headline is not None:
        options["headline"] = headline
    plan = replace(
        plan,
        decoding=decoding,
        metrics=("avg@k", "pass@k"),
        changes=(
            *plan.changes,
            *left_out,
            *changes,
            f"answers are scored by {source.framework}'s own code in a sandbox",
        ),
    )
    lock = lock_of(found, plan, source, origins=made.origins, rows=rows, refused={})
    update = {"door": 3, "verifier": "foreign_score", "verifier_options": options}
    return Converted(lock.model_copy(update=update), rows)
