"""The suite of a stored run: read again, or a message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from genbench.errors import RunFolderError
from genbench.runs.stored.trust import stored_config
from tests.manifests import manifest
from tests.table import each_row

WHERE = Path("run/manifest.json")


def deep(levels: int) -> Any:
    return [deep(levels - 1)] if levels else 1


WHOLE = {"models": {"m": {"path": "model"}}, "tasks": [{"task": "aime25", "k": 3}]}


@each_row(
    "config",
    [
        {},
        {"models": {"m": None}, "tasks": [{"task": "aime25"}]},
        {"tasks": []},
        {"judge": deep(500)},
        *(WHOLE | {"engine": value} for value in (None, "x", [1], 3)),
    ],
)
def test_what_is_no_suite_is_one_line_with_the_file(config: dict[str, Any]) -> None:
    stored = manifest(suite=manifest().suite.model_copy(update={"config": config}))
    with pytest.raises(
        RunFolderError, match=r"run/manifest\.json: the stored suite cannot be read: "
    ) as caught:
        stored_config(stored, WHERE)
    assert "\n" not in str(caught.value)


def test_a_whole_suite_is_read() -> None:
    stored = manifest(suite=manifest().suite.model_copy(update={"config": WHOLE}))
    assert stored_config(stored, WHERE).tasks[0].k == 3
