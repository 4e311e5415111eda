"""The groups of a run, with what others report for them."""

from __future__ import annotations

import numpy as np
import pytest

from genbench.analysis.results.build import run_groups
from genbench.analysis.results.means import ProblemValues
from genbench.store.manifest import ModelRecord
from genbench.suite.config import SuiteConfig

PARTS = ("bfcl_v3_non_live", "bfcl_v3_live", "bfcl_v3_multi_turn")


def config(*tasks: str) -> SuiteConfig:
    """Return a suite whose tasks are in the group `bfcl_v3`."""
    entries = [{"task": task, "k": 1, "group": "bfcl_v3"} for task in tasks]
    return SuiteConfig.model_validate({"models": {"m": {"path": "x"}}, "tasks": entries})


def values(*means: float) -> dict[str, ProblemValues]:
    """Return values of ten problems for each task, with these means."""
    found = {}
    for name, mean in zip(PARTS, means, strict=False):
        scores = np.array([1.0] * round(10 * mean) + [0.0] * round(10 * (1 - mean)))
        found[name] = ProblemValues(scores, [(name, place) for place in range(10)])
    return found


def test_a_group_has_the_scores_that_others_report_for_the_model() -> None:
    model = ModelRecord(name="m", path="Qwen/Qwen3-4B", trust_remote_code=False)
    found = run_groups(config(*PARTS), model, values(0.9, 0.8, 0.4))["bfcl_v3"]
    assert found.reported is not None and found.reported.value == pytest.approx(0.7)
    assert {score.value for score in found.published} == {0.659, 0.576}
    assert {score.of for score in found.published} == {"this model"}
    assert found.mean == "macro" and "published" in found.to_json()


@pytest.mark.parametrize(("path", "tasks"), [("my/model", PARTS), ("Qwen/Qwen3-4B", PARTS[:2])])
def test_another_model_or_a_part_of_the_tasks_has_none(path: str, tasks: tuple[str, ...]) -> None:
    model = ModelRecord(name="m", path=path, trust_remote_code=False)
    found = run_groups(config(*tasks), model, values(0.9, 0.8, 0.4))["bfcl_v3"]
    assert found.published == () and found.reported is None
    assert set(found.to_json()) == {"tasks", "macro", "micro"}


def test_tasks_without_results_are_not_in_the_group() -> None:
    model = ModelRecord(name="m", path="my/model", trust_remote_code=False)
    assert run_groups(config(*PARTS), model, values(0.9))["bfcl_v3"].tasks == PARTS[:1]
