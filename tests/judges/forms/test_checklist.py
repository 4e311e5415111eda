"""The form `checklist`: yes/no questions of the reference."""

from __future__ import annotations

import pytest

from genbench.errors import ConfigError
from genbench.judges.forms.checklist import ChecklistForm
from genbench.judges.forms.protocol import CheckedOpinion, UnreadableReplyError
from tests.judges.judgefiles import sample, shipped_judge

ASKED = ["Is it a number?", "Is it polite?", "Is it short?"]


def form() -> ChecklistForm:
    found = shipped_judge("checklist").form
    assert isinstance(found, ChecklistForm)
    return found


def test_the_questions_are_numbered_in_the_prompt_and_in_the_reply() -> None:
    question = shipped_judge("checklist").questions(sample("4", ASKED))[0]
    assert "1: Is it a number?\n2: Is it polite?\n3: Is it short?" in question.messages[0].content
    assert question.structured == {"regex": r"1: (YES|NO)\n2: (YES|NO)\n3: (YES|NO)"}


def test_the_score_is_the_share_of_yes_and_each_question_is_a_part() -> None:
    found = shipped_judge("checklist").finding(sample("4", ASKED), ["1: YES\n2: NO\n3: NO"])
    assert found.score == pytest.approx(1 / 3)
    assert found.parts == {"1": 1.0, "2": 0.0, "3": 0.0}


@pytest.mark.parametrize("reply", ["1: YES\n2: NO", "1: YES\n2: NO\n3: MAYBE", "YES\nNO\nNO"])
def test_a_reply_to_other_questions_is_not_read(reply: str) -> None:
    with pytest.raises(UnreadableReplyError):
        form().read(reply, ASKED)


@pytest.mark.parametrize("reference", ["Is it?", [], [1, 2], None])
def test_a_reference_that_is_no_list_of_questions_is_refused(reference: object) -> None:
    with pytest.raises(ConfigError, match="judge 'checklist' wants a list of yes/no questions"):
        shipped_judge("checklist").check(reference)


def test_the_best_reply_says_yes_to_all() -> None:
    judge = shipped_judge("checklist")
    case = sample("4", ASKED)
    assert judge.finding(case, [judge.form.best_reply(case)]).score == 1.0


def test_a_calibration_label_has_a_word_for_each_question() -> None:
    assert form().expected_words(["YES", "NO", "NO"], ASKED) == ("YES", "NO", "NO")
    with pytest.raises(ValueError, match="as many labels as the reference has questions"):
        form().expected_words(["YES"], ASKED)


def test_agreement_is_over_all_questions() -> None:
    checks = form()
    said = [("YES", "NO", "NO"), ("YES", "YES", "NO")]
    meant = [("YES", "NO", "YES"), ("YES", "YES", "NO")]
    opinions = [
        CheckedOpinion(wanted, found, checks.finding(sample("4", ASKED), [found]))
        for wanted, found in zip(meant, said, strict=True)
    ]
    record = checks.agreement(opinions, 1)
    assert record["verdicts"] == 6 and record["accuracy"] == pytest.approx(5 / 6)
    assert checks.agreement([], 1) == {}
