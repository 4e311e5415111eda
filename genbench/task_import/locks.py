"""The lock of an imported task: the record of its origin, its plan and its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from genbench.task_import.defects import known_defects
from genbench.task_import.definition import Definition
from genbench.task_import.levels import Classified
from genbench.task_import.locate import Source
from genbench.task_import.plan import Plan
from genbench.task_import.scoringplan import with_classes
from genbench.tasks.imported import FrozenFile, Lock, Origin, RowsOrigin
from genbench.tasks.kinds import LIKELIHOOD

_MOST_REFUSED = 20
"""Rows that could not be made of which the lock file keeps the reason."""


def lock_of(
    found: Classified,
    plan: Plan,
    source: Source,
    *,
    origins: Sequence[RowsOrigin],
    rows: Sequence[Mapping[str, Any]],
    refused: Mapping[str, str],
) -> Lock:
    """Return the lock of a natively imported task. Its file of rows is filled in when it is written.

    Args:
        origins: where the rows came from.
        rows: the stored rows.
        refused: why rows could not be made, by place.
    """
    definition = found.definition
    changes = list(plan.changes)
    if refused:
        changes.append(
            f"{len(refused)} of {len(refused) + len(rows)} rows could not be rendered and are left out"
        )
    generates = plan.output == "generate_until"
    kind = ("filtered_match" if plan.verifier_options is not None else "choice") if generates else LIKELIHOOD
    options = dict(plan.verifier_options or {})
    if plan.output == "multiple_choice":
        options = with_classes(options, rows)
    return Lock(
        task=plan.name,
        door=1,
        level=found.level,
        output=plan.output,
        origin=origin_of(definition, source),
        data=tuple(origins),
        shots=plan.shot_words,
        frozen=FrozenFile(name=f"{plan.name}.rows.jsonl", rows=len(rows), sha256=""),
        k=plan.k,
        verifier=kind,
        verifier_options=options,
        metrics=plan.metrics if generates else (options["rule"],),
        decoding=dict(plan.decoding or {}),
        changes=tuple(changes),
        defects=known_defects(definition.name, definition.config),
        refused=dict(list(refused.items())[:_MOST_REFUSED]),
        definition=definition.plain,
    )


def origin_of(definition: Definition, source: Source) -> Origin:
    """Return the origin of a definition for its lock file."""
    metadata = definition.config.get("metadata")
    version = metadata.get("version") if isinstance(metadata, dict) else None
    return Origin(
        framework=source.framework,
        version=source.version,
        commit=source.commit,
        files=tuple(str(path.relative_to(definition.root)) for path in definition.files),
        digest=definition.digest,
        task_version=None if version is None else str(version),
        licence=source.licence,
    )
