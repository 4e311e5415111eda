"""Records that verbs return: keys in order, closed sets, and what cannot be in them."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from genbench.analysis.comparison.compare import Comparison, SuiteVerdict
from genbench.analysis.comparison.compared_task import ComparedTask
from genbench.analysis.estimate import EstimatedTask, Estimation
from genbench.analysis.rank import RankedTask, Ranking
from genbench.analysis.results.judge_figures import PairwiseRecord
from genbench.analysis.sides.side import SideRecord
from genbench.json_record import JsonRecord
from genbench.stats.comparison.paired import PairedDifference
from genbench.stats.estimates import EstimateRecord
from genbench.stats.noise import NoiseMeasurement, TaskNoise
from genbench.stats.strata import StratumDifference

SIDE = {
    "path": "runs/m",
    "kind": "run",
    "name": "m",
    "run_id": "r",
    "model_identity": None,
    "run_seed": 0,
}
PAIRS = {
    "win_rate": None,
    "ci": None,
    "n": 2,
    "wins": 0,
    "ties": 0,
    "losses": 2,
    "unanswered": 2,
    "compared": 0,
}


@pytest.mark.parametrize("model", [Comparison, Estimation, NoiseMeasurement, Ranking])
def test_the_version_of_a_printed_record_comes_first(model: type[JsonRecord]) -> None:
    assert next(iter(model.model_fields)) == "format"


@pytest.mark.parametrize(
    ("model", "base"), [(ComparedTask, PairedDifference), (EstimatedTask, EstimateRecord)]
)
def test_a_task_begins_with_the_keys_of_its_kind(model: type[JsonRecord], base: type[JsonRecord]) -> None:
    count = len(base.model_fields)
    assert list(model.model_fields)[:count] == list(base.model_fields)


def test_a_row_begins_with_its_name_and_ends_with_its_q_value() -> None:
    keys = list(StratumDifference.model_fields)
    assert (keys[0], keys[-1]) == ("name", "q_value")
    assert keys[1:-1] == list(PairedDifference.model_fields)


def test_a_record_cannot_be_changed() -> None:
    side = SideRecord.model_validate(SIDE)
    with pytest.raises(ValidationError, match="frozen"):
        side.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("key", "value"), [("kind", "folder"), ("run_seed", -1), ("name", None), ("unknown", 1)]
)
def test_a_side_refuses_what_it_cannot_be(key: str, value: object) -> None:
    with pytest.raises(ValidationError):
        SideRecord.model_validate({**SIDE, key: value})


def test_an_unknown_decision_is_refused() -> None:
    with pytest.raises(ValidationError, match="REGRESSED"):
        SuiteVerdict(
            pooled_difference=None,
            ci=None,
            p_regression=1.0,
            p_improvement=1.0,
            tasks=(),
            pooled_tasks=(),
            alpha=0.05,
            familywise=0.05,
            mean_difference=None,
            lower=None,
            margin=0.03,
            doubtful=(),
            inconclusive=(),
            undecided=(),
            verdict="WORSE",
        )


def test_pairs_that_nobody_compared_have_no_keys_about_order_and_length() -> None:
    record = PairwiseRecord.from_json(PAIRS, "results.json")
    assert record.flip_rate is None
    assert record.to_json() == PAIRS


def test_a_stored_noise_band_reads_back_as_it_was_written() -> None:
    task = TaskNoise(
        n=10,
        k_first=4,
        k_second=4,
        difference=0.01,
        band=0.02,
        within_variance=None,
        changed_samples=0.1,
        expected=True,
        verifier="v",
    )
    record = NoiseMeasurement(
        format=1,
        runs=("a", "b"),
        run_seeds=(0, 1),
        same_seed=False,
        model_identity="sha256:1",
        allowed=(),
        tasks={"t": task},
    )
    text = json.dumps(record.to_json())
    assert NoiseMeasurement.from_json(json.loads(text), "noise.json") == record


def test_a_ranked_task_without_models_says_why() -> None:
    record = RankedTask.model_validate(
        {
            "judge": {"name": "pairwise", "digest": "d", "unpinned": False},
            "pairs": 0,
            "problems": 0,
            "itself": 1,
            "reference": None,
            "models": [],
            "missing": "no pair of two models has a score",
        }
    )
    assert record.models == ()
    assert record.to_json()["models"] == []
