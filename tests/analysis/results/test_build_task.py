"""The results of one task, from a run with ready responses."""

from __future__ import annotations

import pytest

from genbench.analysis.results.build import BuiltTask
from genbench.analysis.results.run_state import require_results
from genbench.store.folder import RunFolder
from tests.ready_runs import RIGHT, WRONG, MakeRun


def test_a_task_has_its_score_its_strata_and_no_macro_mean_of_its_own(make_run: MakeRun) -> None:
    folder = RunFolder(make_run("run", lambda _: [RIGHT, WRONG] * 2))
    found = require_results(folder).tasks["sums"]
    assert found.value == pytest.approx(0.5)
    assert set(found.strata["level"]) == {"easy", "hard"}
    assert found.macro is None and found.lacking == 0


def test_a_built_task_keeps_what_groups_and_ledgers_need() -> None:
    assert {"results", "sums", "values"} == set(BuiltTask.__slots__)
