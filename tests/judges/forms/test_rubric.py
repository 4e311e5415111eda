"""The form `rubric`: a score for each dimension, and agreement that counts near misses less."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import ConfigError
from genbench.judges.forms.protocol import CheckedOpinion, UnreadableReplyError
from genbench.judges.forms.rubric import RubricForm
from genbench.stats.agreement import clustered_kappa
from tests.judges.judgefiles import own_judge, sample, shipped_judge

TWO = "form: rubric\npoints: 3\ndimensions: {tone: is it kind, truth: is it so}\n"
PROMPT = "{answer}\n{dimensions}\n"


def form(folder: Path) -> RubricForm:
    found = own_judge(folder, TWO, PROMPT).form
    assert isinstance(found, RubricForm)
    return found


def test_the_prompt_lists_the_dimensions_with_their_meaning(tmp_path: Path) -> None:
    text = own_judge(tmp_path, TWO, PROMPT).questions(sample("4"))[0].messages[0].content
    assert text.endswith("tone: is it kind\ntruth: is it so")


def test_the_score_is_the_mean_of_the_dimensions_from_0_to_1(tmp_path: Path) -> None:
    judge = own_judge(tmp_path, TWO, PROMPT)
    found = judge.finding(sample("4"), ["tone: 3\ntruth: 2"])
    assert found.parts == {"tone": 1.0, "truth": 0.5} and found.score == 0.75
    assert found.extracted == "tone: 3\ntruth: 2"


@pytest.mark.parametrize("reply", ["tone: 4\ntruth: 2", "truth: 2\ntone: 3", "tone: 3", "tone: 0\ntruth: 1"])
def test_scores_outside_the_scale_or_the_order_are_not_read(tmp_path: Path, reply: str) -> None:
    with pytest.raises(UnreadableReplyError):
        own_judge(tmp_path, TWO, PROMPT).values(reply, None)


def test_the_best_reply_has_full_points_and_can_be_read(tmp_path: Path) -> None:
    judge = own_judge(tmp_path, TWO, PROMPT)
    best = judge.form.best_reply(sample("4"))
    assert judge.finding(sample("4"), [best]).score == 1.0


def test_a_calibration_label_needs_every_dimension_in_order(tmp_path: Path) -> None:
    rubric = form(tmp_path)
    assert rubric.expected_words({"tone": 1, "truth": 3}, None) == ("1", "3")
    for label in ({"truth": 3, "tone": 1}, {"tone": 1}, 3, ["1", "3"]):
        with pytest.raises(ValueError, match="a score for each of tone, truth, in this order"):
            rubric.expected_words(label, None)


def test_agreement_is_weighted_and_given_by_dimension(tmp_path: Path) -> None:
    rubric = form(tmp_path)
    people = [("1", "3"), ("2", "2"), ("3", "1"), ("3", "3")]
    judge = [("1", "2"), ("2", "2"), ("3", "1"), ("1", "3")]
    opinions = [
        CheckedOpinion(wanted, found, rubric.finding(sample("4"), [found]))
        for wanted, found in zip(people, judge, strict=True)
    ]
    record = rubric.agreement(opinions, 5)
    whole = clustered_kappa(people, judge, ordered=("1", "2", "3"), seed=5)
    assert record["kappa"] == whole.value and record["accuracy"] == 6 / 8
    assert record["mean_absolute_error"] == 3 / 8 and record["weights"] == "quadratic"
    assert record["dimensions"]["tone"]["accuracy"] == record["dimensions"]["truth"]["accuracy"] == 0.75
    assert rubric.agreement([], 5) == {}


def test_the_shipped_rubric_scores_five_points() -> None:
    assert shipped_judge("rubric").form.vocabulary() == ("1", "2", "3", "4", "5")


def test_a_rubric_without_dimensions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"own\.yaml: 'dimensions' belong to form 'rubric'"):
        own_judge(tmp_path, "form: rubric\n", PROMPT)
