"""The rule and the metrics of imported tasks with choices."""

from __future__ import annotations

import pytest

from genbench.errors import DataError, InputError
from genbench.interop.tasks.harness.plan import scoring_options, with_classes


def test_the_first_metric_of_choices_is_the_rule() -> None:
    config = {"metric_list": [{"metric": "brier_score"}, {"metric": "acc_bytes"}, {"metric": "mcc"}]}
    options, changes = scoring_options(config, "multiple_choice")
    assert options == {"rule": "acc_byte", "corpus": ["mcc"]}
    assert changes == ["metric brier_score is not computed; prob_gold, bpb_gold and margin are"]
    assert scoring_options({}, "multiple_choice")[0] == {"rule": "acc"}
    assert scoring_options({}, "loglikelihood")[0] == {"rule": "greedy"}


def test_a_metric_without_meaning_is_refused() -> None:
    with pytest.raises(InputError, match="metric exact_match has no meaning"):
        scoring_options({"metric_list": [{"metric": "exact_match"}]}, "multiple_choice")


def test_f1_is_of_two_choices() -> None:
    rows = [{"choices": ["a", "b"]}, {"choices": ["a", "b", "c"]}]
    assert with_classes({"rule": "acc", "corpus": ["mcc"]}, rows)["classes"] == 3
    with pytest.raises(DataError, match="two choices"):
        with_classes({"rule": "acc", "corpus": ["f1"]}, rows)
