"""The check of a model before a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import GenbenchError
from genbench.runs.execution.preflight import model_lines
from genbench.suite.suitefile import read_suite


def test_a_model_that_is_not_there_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text("models: {m: {path: ./nothing}}\ntasks: [aime24]\n")
    with pytest.raises(GenbenchError, match="nothing"):
        model_lines(read_suite(path), "m", [])
