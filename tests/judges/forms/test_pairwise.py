"""The form `pairwise`: both orders, flips, and what a pair's finding says of lengths."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import ConfigError
from genbench.judges.forms.pairwise import PairwiseForm, against_all, reward, sizes, unopposed
from genbench.judges.forms.protocol import CheckedOpinion, UnreadableReplyError
from genbench.types import Finding
from tests.judges.judgefiles import own_judge, sample, shipped_judge
from tests.table import each_row


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


@each_row(
    "verdict, ours, theirs, worth",
    [
        ("A++", 10, 10, 1),
        ("A+", 10, 10, 0.5),
        ("A=B", 9000, 10, 0),
        ("B+", 10, 10, -0.5),
        ("B++", 10, 10, -1),
        ("A+", 510, 10, 0.5),
        ("A+", 511, 10, 0),
        ("A+", 10, 9000, 0.5),
        ("B+", 10, 511, 0),
        ("B+", 9000, 10, -0.5),
        ("A++", 9000, 10, 1),
        ("B++", 10, 9000, -1),
    ],
)
def test_a_slight_win_by_a_much_longer_text_is_worth_nothing(
    verdict: str, ours: int, theirs: int, worth: float
) -> None:
    assert reward(verdict, (ours, theirs), 500) == worth
    free = {"A+": 0.5, "B+": -0.5}.get(verdict, worth)
    assert reward(verdict, (ours, theirs), None) == free


@each_row(
    "replies, score, flipped, place",
    [
        (("A++", "B++"), 1.0, False, None),
        (("A++", "A++"), 0.5, True, "first"),
        (("B+", "B+"), 0.5, True, "second"),
        (("A+", "A=B"), 0.625, True, None),
        (("B+", "A++"), 0.125, False, None),
    ],
)
def test_rewards_of_both_orders_are_put_on_0_to_1(
    replies: tuple[str, str], score: float, flipped: bool, place: str | None
) -> None:
    judge = shipped_judge("wildbench_reward")
    found = judge.finding(sample("four", "five!"), [f'{{"choice": "{reply}"}}' for reply in replies])
    assert (found.score, found.detail["flipped"]) == (score, flipped)
    assert found.detail["place_favoured"] == place
    assert judge.opinion_words(sample("four", "five!"), ['{"choice": "A+"}', '{"choice": "B+"}'], found)


def test_grades_and_rewards_do_not_go_together(tmp_path: Path) -> None:
    prompt = "{question}{first}{second}"
    with pytest.raises(ConfigError, match="give either 'graded' or 'rewards'"):
        own_judge(tmp_path, "form: pairwise\ngraded: true\nrewards: {}\n", prompt)
    with pytest.raises(ConfigError, match="'rewards' belong to form 'pairwise'"):
        own_judge(tmp_path, "form: label\nlabels: {A: 1, B: 0}\nrewards: {}\n", prompt + "{answer}")


def test_held_to_a_form_the_five_verdicts_are_read(tmp_path: Path) -> None:
    """A and the plus signs of a verdict mean something else in a regular expression."""
    judge = own_judge(tmp_path, "form: pairwise\nrewards: {}\nreason: true\n", "{question}{first}{second}")
    for verdict in ("A++", "A+", "A=B", "B+", "B++"):
        assert judge.values(f"Reason: so.\nVerdict: {verdict}", "five") == (verdict,)
    with pytest.raises(UnreadableReplyError):
        judge.values("Reason: so.\nVerdict: AAA", "five")


def test_several_opponents_are_parts_of_their_mean() -> None:
    judge = shipped_judge("wildbench_reward")
    won, lost = (
        judge.finding(sample("four", opponent), [f'{{"choice": "{word}"}}' for word in words])
        for opponent, words in (("five!", ("A++", "B++")), ("sixsixsix", ("B+", "A+")))
    )
    found = against_all({"x": won, "y": lost, "z": unopposed()})
    assert found.score == pytest.approx((1 + 0.25 + 1) / 3)
    assert found.parts == {"x": 1.0, "y": 0.25, "z": 1.0}
    assert found.detail["chars"] == [4, 7] and len(found.detail["replies"]) == 4
    assert found.detail["opponents"]["y"]["rewards"] == [-0.5, -0.5]
    assert against_all({"x": unopposed(), "y": Finding(0.0)}).score == 0.5
