"""The form `pairwise`: both orders, flips, and what a pair's finding says of lengths."""

from __future__ import annotations

import pytest

from genbench.errors import ConfigError
from genbench.judges.forms.pairwise import PairwiseForm, sizes, unopposed
from genbench.judges.forms.protocol import CheckedOpinion
from tests.judges.judgefiles import own_judge, sample, shipped_judge


def form() -> PairwiseForm:
    found = shipped_judge("pairwise").form
    assert isinstance(found, PairwiseForm)
    return found


def test_both_orders_are_asked() -> None:
    first, second = (
        question.messages[0].content
        for question in shipped_judge("pairwise").questions(sample("OURS", "THEIRS"))
    )
    assert first.index("OURS") < first.index("THEIRS")
    assert second.index("THEIRS") < second.index("OURS")


def test_both_answers_are_shortened_to_the_same_limit() -> None:
    judge = shipped_judge("pairwise")
    limit = judge.file.max_answer_chars
    text = judge.questions(sample("a" * (limit + 5), "b" * (limit + 7)))[0].messages[0].content
    assert "[… 5 characters left out" in text and "[… 7 characters left out" in text


@pytest.mark.parametrize(
    ("replies", "word", "place"),
    [
        (("A", "B"), "win", None),
        (("B", "A"), "loss", None),
        (("TIE", "TIE"), "tie", None),
        (("A", "A"), "tie", "first"),
        (("B", "B"), "tie", "second"),
        (("TIE", "B"), "tie", None),
    ],
)
def test_the_outcome_of_both_orders(replies: tuple[str, str], word: str, place: str | None) -> None:
    found = form().finding(sample("four", "five!"), [(reply,) for reply in replies])
    assert found.extracted == word and found.detail["place_favoured"] == place
    assert found.detail["flipped"] is (word == "tie" and replies != ("TIE", "TIE"))
    assert found.detail["chars"] == [4, 5]
    assert found.detail["style"] == [[0, 0, 0], [0, 0, 0]]


def test_a_pair_without_an_opponent_is_won_unasked() -> None:
    found = unopposed()
    assert (found.score, found.extracted) == (1.0, "win") and "flipped" not in found.detail


@pytest.mark.parametrize("reference", [None, 4, ["theirs"], {"text": "theirs"}])
def test_an_opponent_that_is_no_text_is_refused(reference: object) -> None:
    with pytest.raises(ConfigError, match="judge 'pairwise' wants the baseline's answer as reference"):
        shipped_judge("pairwise").check(reference)


def test_agreement_counts_the_orders_that_agree() -> None:
    pairs = form()
    verdicts = [("WIN", ("A", "B")), ("TIE", ("A", "A")), ("LOSS", ("B", "A")), ("WIN", ("B", "B"))]
    opinions = []
    for expected, replies in verdicts:
        found = pairs.finding(sample("a", "b"), [(reply,) for reply in replies])
        opinions.append(CheckedOpinion((expected,), pairs.opinion_words([], found), found))
    record = pairs.agreement(opinions, 0)
    assert record["order_consistency"] == 0.5 and record["accuracy"] == 0.75
    assert pairs.agreement([], 0) == {"order_consistency": None}


def test_labels_are_the_forms_own(tmp_path: object) -> None:
    from pathlib import Path

    with pytest.raises(ConfigError, match="form 'pairwise' has labels of its own; remove 'labels'"):
        own_judge(Path(str(tmp_path)), "form: pairwise\nlabels: {A: 1, B: 0}\n")


def test_style_is_headers_bold_and_lists_outside_code() -> None:
    ours = "# One\n\n**a** and __b__\n- x\n1. y\n```\n# no header\n- no item\n```"
    found = sizes(sample(ours, "plain * text # here"))
    assert found["style"] == [[1, 2, 2], [0, 0, 0]]
