from __future__ import annotations

from collections.abc import Iterator

from genbench.runs.execution.scoring import conversations, verdict_of
from genbench.types import Answer, Completion, Finding, FinishReason, Problem, SampleId, Status
from tests.table import each_row

SAMPLE = SampleId("t", "p", 0)


def answer(closed: bool = True, truncated: bool = False) -> Answer:
    return Answer("text" if closed else "", "closed" if closed else "unclosed", "", truncated)


@each_row(
    "given, finding, status, score",
    [
        (answer(), Finding(1.0), "correct", 1.0),
        (answer(), Finding(0.25), "partial", 0.25),
        (answer(), Finding(0.0, "no_answer"), "no_answer", 0.0),
        (answer(), Finding(0.0, "timeout"), "timeout", 0.0),
        (answer(truncated=True), Finding(1.0), "correct", 1.0),
        (answer(truncated=True), Finding(0.5), "partial", 0.5),
        (answer(truncated=True), Finding(0.0, "no_answer"), "truncated", 0.0),
        (answer(closed=False), Finding(1.0), "unclosed_trace", 0.0),
        (answer(closed=False, truncated=True), Finding(0.0, "no_answer"), "unclosed_trace", 0.0),
        (answer(closed=False), Finding(0.0, "verifier_error"), "verifier_error", None),
        (answer(truncated=True), Finding(1.0, "unscored"), "unscored", None),
        (answer(), Finding(0.0, "unavailable"), "unavailable", None),
    ],
)
def test_the_first_status_that_holds_is_the_samples(
    given: Answer, finding: Finding, status: Status, score: float | None
) -> None:
    verdict = verdict_of(SAMPLE, [given], finding, "v")
    assert (verdict.status, verdict.score) == (status, score)
    assert verdict.truncated == given.truncated


@each_row(
    "given, finding, status, score",
    [
        (answer(), Finding(1.0), "correct", 1.0),
        (answer(), Finding(0.0), "wrong", 0.0),
        (answer(), Finding(0.0, "unavailable"), "unavailable", None),
        (answer(truncated=True), Finding(1.0), "truncated", None),
        (answer(closed=False), Finding(1.0), "unclosed_trace", None),
        (Answer(" ", "absent", "", False), Finding(1.0), "no_answer", None),
        (Answer("x" * 99, "absent", "", False), Finding(1.0), "no_answer", None),
    ],
)
def test_an_excluded_answer_that_is_not_there_has_no_score(
    given: Answer, finding: Finding, status: Status, score: float | None
) -> None:
    verdict = verdict_of(SAMPLE, [given], finding, "v", "excluded")
    assert (verdict.status, verdict.score) == (status, score)


def completion(problem: str, index: int, turn: int, finish: FinishReason = "stop") -> Completion:
    return Completion(SampleId("t", problem, index), turn, 1, "d", "x", finish, 1, 1, 0, 9, 1, 0.1)


def test_turns_are_gathered_to_conversations_in_whatever_order_they_lie() -> None:
    def lines() -> Iterator[Completion]:
        yield completion("two", 0, 1)
        yield completion("one", 0, 0)
        yield completion("two", 1, 0)
        yield completion("two", 0, 0)

    problems = {"one": Problem("t", "one", {}), "two": Problem("t", "two", {}, turns=2)}
    found = [(p.problem_id, i, [c.turn for c in done]) for p, i, done in conversations(lines(), problems)]
    assert found == [("one", 0, [0]), ("two", 0, [0, 1])]


def test_a_conversation_that_the_engine_could_not_answer_is_complete() -> None:
    problems = {"two": Problem("t", "two", {}, turns=2)}
    found = list(conversations([completion("two", 0, 0, "error")], problems))
    assert len(found) == 1
