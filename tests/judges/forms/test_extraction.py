"""The form `extraction`: the text of a reply's final answer, for a verifier to compare."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import ConfigError
from genbench.judges.calibration import read_calibration
from genbench.judges.forms.protocol import UnreadableReplyError
from tests.judges.judgefiles import own_judge, sample, shipped_judge

REPLY = "560 / 12 is 46 with a rest of 8, so the farm fills 46 boxes."


@pytest.mark.parametrize(
    ("said", "answer", "text"),
    [
        (REPLY, "ANSWER: 46 boxes", "46 boxes"),
        (REPLY, " NO ANSWER\n", ""),
        ("Plants take in carbon dioxide.", "ANSWER: B", "B"),
        (r"Hence $\frac{1}{2}$ remains.", r"ANSWER: \frac{1}{2}", r"\frac{1}{2}"),
    ],
)
def test_the_answer_is_what_the_judge_copies(said: str, answer: str, text: str) -> None:
    found = shipped_judge("extraction").finding(sample(said, None), [answer])
    assert (found.extracted, found.reason == "no_answer") == (text, not text)


def test_an_answer_that_is_not_in_the_reply_is_the_judges_own() -> None:
    found = shipped_judge("extraction").finding(sample("I divide eggs by boxes.", None), ["ANSWER: 46"])
    assert found.extracted == "" and found.detail["not_in_reply"] == "46"


@pytest.mark.parametrize("reply", ["46", "The answer is 46.", "ANSWER: ", "ANSWER: 46\nANSWER: 47", ""])
def test_a_reply_of_another_form_is_not_read(reply: str) -> None:
    with pytest.raises(UnreadableReplyError):
        shipped_judge("extraction").values(reply, None)


def test_a_prompt_that_shows_the_reference_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"must not show \{reference\}"):
        own_judge(tmp_path, "form: extraction\n")


def test_the_calibration_set_has_texts_as_labels_and_cases_without_an_answer() -> None:
    judge = shipped_judge("extraction")
    known = read_calibration(judge.spec)
    none = [item for item in known if item.words == ("NO ANSWER",)]
    assert len(known) >= 24 and 0.3 <= len(none) / len(known) <= 0.5
    for item in known:
        text = item.words[0]
        reply = text if item in none else f"ANSWER: {text}"
        found = judge.finding(item.case, [reply])
        assert judge.opinion_words(item.case, [reply], found) == item.words
