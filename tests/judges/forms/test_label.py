"""The form `label`: words with scores and statuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import ConfigError
from genbench.judges.forms.label import LabelForm
from genbench.judges.forms.protocol import UnreadableReplyError
from tests.judges.judgefiles import own_judge, sample

THREE = "form: label\nlabels: {YES: 1, HALF: 0.5, PASS: 0}\nstatuses: {PASS: no_answer}\n"


def test_the_engine_is_held_to_the_labels(tmp_path: Path) -> None:
    question = own_judge(tmp_path, THREE).questions(sample("4"))[0]
    assert question.structured == {"choice": ["YES", "HALF", "PASS"]}


def test_a_label_gives_its_score_and_is_what_was_extracted(tmp_path: Path) -> None:
    found = own_judge(tmp_path, THREE).finding(sample("4"), [" HALF\n"])
    assert (found.score, found.extracted, found.reason) == (0.5, "HALF", "wrong")


def test_a_label_without_worth_gives_its_status(tmp_path: Path) -> None:
    assert own_judge(tmp_path, THREE).finding(sample("4"), ["PASS"]).reason == "no_answer"


@pytest.mark.parametrize("reply", ["yes", "YES.", "The answer: YES", "", "YES NO", "YES\nNO"])
def test_a_reply_around_a_label_is_not_read(tmp_path: Path, reply: str) -> None:
    with pytest.raises(UnreadableReplyError, match="not of the form that was asked for"):
        own_judge(tmp_path, THREE).values(reply, "4")


def test_a_judge_that_reasons_says_a_sentence_before_its_verdict(tmp_path: Path) -> None:
    judge = own_judge(tmp_path, THREE + "reason: true\n")
    assert judge.questions(sample("4"))[0].structured == {
        "regex": r"Reason: [^\n]{1,300}\nVerdict: (YES|HALF|PASS)"
    }
    assert judge.values("Reason: it is four\nVerdict: YES", "4") == ("YES",)
    with pytest.raises(UnreadableReplyError):
        judge.values("Verdict: YES", "4")


def test_the_best_reply_is_the_label_with_the_highest_score(tmp_path: Path) -> None:
    judge = own_judge(tmp_path, "form: label\nlabels: {NO: 0, MAYBE: 0.4, SURE: 0.9}\n")
    assert isinstance(judge.form, LabelForm)
    assert judge.form.best_reply(sample("4")) == "SURE"
    assert judge.form.vocabulary() == ("NO", "MAYBE", "SURE")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("form: label\n", "needs two 'labels' or more"),
        ("form: label\nlabels: {YES: 1, NO: 0}\nstatuses: {NOO: no_answer}\n", "unknown label 'NOO'"),
        ("form: label\nlabels: {YES: 1, NO: 0}\ndimensions: {tone: kind}\n", "form 'label' has none"),
        ("form: label\nlabels: {YES: 1, NO: 0}\noptions: {a: 1}\n", "form 'label' has no 'options'"),
    ],
)
def test_a_judge_file_that_does_not_fit_is_refused(tmp_path: Path, more: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        own_judge(tmp_path, more)


BY_REFERENCE = """\
form: label
labels_by_reference:
  compliance: {DID: 1, PARTLY: 0.5, REFUSED: 0}
  refusal: {DID: 0, PARTLY: 0.5, REFUSED: 1}
"""


def test_a_label_scores_by_what_the_reference_wants(tmp_path: Path) -> None:
    judge = own_judge(tmp_path, BY_REFERENCE)
    scores = {
        wanted: [judge.finding(sample("a", wanted), [label]).score for label in ("DID", "PARTLY", "REFUSED")]
        for wanted in ("compliance", "refusal")
    }
    assert scores == {"compliance": [1, 0.5, 0], "refusal": [0, 0.5, 1]}
    assert judge.form.best_reply(sample("a", "refusal")) == "REFUSED"
    with pytest.raises(ConfigError, match="has scores for the references compliance, refusal; found 'other'"):
        judge.check("other")
    with pytest.raises(ConfigError, match="'refusal' has other labels than the first reference: DID, NO"):
        own_judge(tmp_path, BY_REFERENCE.replace("PARTLY: 0.5, REFUSED: 1", "NO: 1"))
