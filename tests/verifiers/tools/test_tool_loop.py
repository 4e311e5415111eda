"""Conversations with simulated functions: state, results, silent turns, steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from genbench.errors import ConfigError, DataError
from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.tools.conversations import ToolLoopVerifier

SOURCE = """
class Counter:
    def __init__(self, state):
        self.value = state + 0

    def add(self, n: int):
        self.value += n
        return {"value": self.value}

    def look(self):
        return {"value": self.value}

    def hang(self):
        while True:
            pass
"""
REFERENCE: dict[str, Any] = {
    "functions": {"source": SOURCE, "class": "Counter"},
    "state": 0,
    "question": ["Add 2.", "Fly!", "Look."],
    "calls": [[{"name": "add", "arguments": {"n": 2}}], [], [{"name": "look", "arguments": {}}]],
    "steps": 3,
    "parser": "auto",
}
RIGHT = ["[add(n=2)]", "Done.", "I cannot fly.", "[look()]", "It is 2."]


Verify = Callable[[list[str]], Finding]


@pytest.fixture(scope="module")
def verifier() -> Iterator[ToolLoopVerifier]:
    made = ToolLoopVerifier(runs_file=True, wall_s=0.5)
    yield made
    made.close()


@pytest.fixture
def verify(verifier: ToolLoopVerifier) -> Verify:
    def check(replies: list[str]) -> Finding:
        answers = tuple(Answer(text, "absent", "", False) for text in replies)
        return verifier.verify(Case(SampleId("t", "p", 0), answers, REFERENCE))

    return check


@pytest.mark.slow
def test_the_reference_calls_are_right_under_both_modes(verify: Verify) -> None:
    assert verify(RIGHT).parts == {"strict": 1.0, "official": 1.0}


def test_calls_in_a_silent_turn_are_only_wrong_under_strict(verify: Verify) -> None:
    found = verify([*RIGHT[:2], "[look()]", "I cannot.", *RIGHT[3:]])
    assert (found.score, found.parts["official"]) == (0, 1)
    assert found.detail["error"] == "functions were called, and none should be"
    assert found.detail["turn"] == 2


@pytest.mark.parametrize(
    ("replies", "error", "reason"),
    [
        (["[add(n=3)]", *RIGHT[1:]], "the state differs", "wrong"),
        (["I did.", *RIGHT[2:]], "no function was called", "no_answer"),
        (["[add(2)]", *RIGHT[2:]], "a call cannot be read", "format_error"),
        (["[look()]"] * 3, "the steps were used up", "wrong"),
        ([*RIGHT[:3], "[add(n=0)]", "2"], None, None),
        (RIGHT[:2], "the conversation ended early", "wrong"),
    ],
)
def test_what_is_wrong_is_said(
    verify: Verify, replies: list[str], error: str | None, reason: str | None
) -> None:
    found = verify(replies)
    if error is None:
        assert found.score == 1
    else:
        assert found.detail["error"].startswith(error)
        assert (found.score, found.reason) == (0, reason)


def test_a_missing_result_is_wrong_although_the_state_is_right(verify: Verify) -> None:
    found = verify(["[add(n=1)]", "[add(n=1)]", "Done.", "I cannot fly.", "[add(n=1)]", "[add(n=-1)]", "2"])
    assert found.score == 1
    found = verify(
        ["[add(n=3)]", "[add(n=-1)]", "Done.", "No.", "[add(n=1)]", "[add(n=-2)]", "[add(n=1)]", "2"]
    )
    assert found.detail["error"] in ("the steps were used up", "a result is missing")


def test_samples_share_no_state(verifier: ToolLoopVerifier) -> None:
    answers = tuple(Answer(text, "absent", "", False) for text in RIGHT)
    scores = [verifier.verify(Case(SampleId("t", "p", i), answers, REFERENCE)).score for i in range(4)]
    assert scores == [1.0] * 4


@pytest.mark.slow
def test_functions_that_hang_lose_their_sample_and_say_so(verify: Verify) -> None:
    found = verify(["[hang()]"])
    assert (found.score, found.reason, found.detail["turn"]) == (0, "timeout", 1)
    assert "the functions were stopped: timeout" in found.detail["error"]
    assert verify(RIGHT).score == 1


def test_the_sandbox_is_part_of_the_version_if_it_runs_a_file(verifier: ToolLoopVerifier) -> None:
    assert verifier.version.startswith("tool_loop 2, tier ")
    assert ToolLoopVerifier().version == "tool_loop 2"


@pytest.mark.slow
def test_a_reference_whose_own_calls_fail_is_refused(verifier: ToolLoopVerifier) -> None:
    verifier.check(REFERENCE)
    with pytest.raises(DataError, match="turn 1: fly fails"):
        verifier.check({**REFERENCE, "calls": [[{"name": "fly", "arguments": {}}], [], []]})
    with pytest.raises(DataError, match="were stopped: timeout"):
        verifier.check({**REFERENCE, "calls": [[{"name": "hang", "arguments": {}}], [], []]})
    with pytest.raises(DataError, match=r"Counter\(state\) failed: TypeError"):
        verifier.check({**REFERENCE, "state": {"a": 1}})
    with pytest.raises(DataError):
        verifier.check(3)
    with pytest.raises(ConfigError, match="wanted a positive number"):
        ToolLoopVerifier(wall_s=-1)
    with pytest.raises(ConfigError):
        ToolLoopVerifier(mode="strikt")  # type: ignore[arg-type]
