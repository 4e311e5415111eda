"""Who is to blame if a judge gives no verdict, and that no text of a model leaves its sample excluded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genbench.errors import RequestFailedError, RequestStuckError
from genbench.judges.forms.protocol import UnreadableReplyError
from genbench.judges.opinions import HARMLESS, NO_VERDICT, finding_of
from genbench.types import OURS, Answer, Case, Finding, SampleId

Judging = Callable[[str, int], float | Exception]
"""(answer, number of the try) -> a score, or why there is none."""


def case(text: str, reference: object = None) -> Case:
    return Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), reference)


class Judged:
    """A judge that does as it is told, and keeps what it was asked."""

    def __init__(self, judge: Judging) -> None:
        self.judge = judge
        self.asked: list[tuple[str, int]] = []
        self.references: list[object] = []

    async def ask(self, case: Case, number: int) -> Finding:
        self.asked.append((case.answer.text, number))
        self.references.append(case.reference)
        found = self.judge(case.answer.text, number)
        if isinstance(found, Exception):
            raise found
        return Finding(found)

    def finding(self, case: Case) -> Finding:
        return asyncio.run(finding_of(self.ask, case))


def test_a_verdict_is_asked_for_once() -> None:
    judged = Judged(lambda text, number: 1.0)
    assert judged.finding(case("four")) == Finding(1.0)
    assert judged.asked == [("four", 0)]


@pytest.mark.parametrize("failure", NO_VERDICT)
def test_a_judge_that_fails_once_is_asked_again(failure: type[Exception]) -> None:
    judged = Judged(lambda text, number: 0.5 if number else failure("no"))
    assert judged.finding(case("four")) == Finding(0.5, detail={"asked_again": 1})
    assert judged.asked == [("four", 0), ("four", 1)]


@pytest.mark.parametrize("failure", NO_VERDICT)
def test_an_answer_that_alone_has_no_verdict_is_wrong(failure: type[Exception]) -> None:
    judged = Judged(lambda text, number: 0.0 if text == HARMLESS else failure("too rude"))
    found = judged.finding(case("four"))
    assert (found.score, found.reason) == (0.0, "wrong")
    assert found.detail["why"].endswith("none on this one: too rude")


@pytest.mark.parametrize("failure", NO_VERDICT)
def test_a_judge_without_any_verdict_is_to_blame_itself(failure: type[Exception]) -> None:
    judged = Judged(lambda text, number: failure("away"))
    with pytest.raises(failure, match="away"):
        judged.finding(case("four"))
    assert judged.asked == [("four", 0), ("four", 1), (HARMLESS, 0)]


def test_a_long_answer_is_judged_by_its_ends() -> None:
    judged = Judged(lambda text, number: 1.0 if len(text) < 1100 else RequestFailedError("too long"))
    found = judged.finding(case("a" * 4000 + "z" * 4000))
    assert found.score == 1.0
    assert found.detail["answer_cut_to_chars"] == len(judged.asked[-1][0]) < 1100
    text = judged.asked[-1][0]
    assert text.startswith("aaa") and text.endswith("zzz") and "left out for length" in text


def test_both_answers_of_a_pair_are_cut_alike() -> None:
    judged = Judged(lambda text, number: 1.0 if len(text) < 1100 else RequestFailedError("too long"))
    judged.finding(case("a" * 8000, "b" * 8000))
    assert len(str(judged.references[-1])) == len(judged.asked[-1][0])


def test_a_reference_that_is_no_text_is_not_cut() -> None:
    judged = Judged(lambda text, number: 1.0 if len(text) < 1100 else RequestFailedError("too long"))
    judged.finding(case("a" * 8000, ["first", "second"]))
    assert judged.references[-1] == ["first", "second"]


def test_a_server_without_replies_is_not_asked_for_shorter_answers() -> None:
    judged = Judged(lambda text, number: RequestStuckError("away"))
    with pytest.raises(RequestStuckError):
        judged.finding(case("a" * 8000))
    assert len(judged.asked) == 3


def test_earlier_turns_are_kept() -> None:
    seen: list[Case] = []

    async def ask(item: Case, number: int) -> Finding:
        seen.append(item)
        raise UnreadableReplyError("no")

    turns = replace(case("last"), answers=(Answer("first", "absent", "", False), case("last").answer))
    with pytest.raises(UnreadableReplyError):
        asyncio.run(finding_of(ask, turns))
    assert [item.answers[0].text for item in seen] == ["first"] * 3
    assert seen[-1].answer.text == HARMLESS


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    text=st.text(max_size=3000),
    fails=st.sets(st.integers(0, 12)),
    kind=st.sampled_from(NO_VERDICT),
)
def test_no_answer_is_excluded_while_the_judge_works(
    text: str, fails: set[int], kind: type[Exception]
) -> None:
    calls = iter(range(1000))
    judged = Judged(lambda said, number: 1.0 if said == HARMLESS or next(calls) not in fails else kind("no"))
    assert judged.finding(case(text)).reason not in OURS
