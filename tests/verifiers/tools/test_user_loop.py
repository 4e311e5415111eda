"""Conversations with a simulated user: the state at the end, and what the user was told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import ConfigError, DataError
from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.tools.conversations import UserLoopVerifier

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "user"
ROW: dict[str, Any] = json.loads((EXAMPLE / "rows.jsonl").read_text().splitlines()[0])
REFERENCE: dict[str, Any] = {
    "functions": {"source": (EXAMPLE / "shop.py").read_text(), "class": "Shop"},
    **{key: ROW[key] for key in ("state", "actions", "outputs")},
    "steps": 3,
    "parser": "auto",
}
CANCEL = '[cancel_order(number="18", reason="no longer needed")]'
RIGHT = ["Cancel 18.", CANCEL, "You get 1,250 back.", "###STOP###"]


@pytest.fixture(scope="module")
def verifier() -> Iterator[UserLoopVerifier]:
    made = UserLoopVerifier()
    yield made
    made.close()


def verify(verifier: UserLoopVerifier, replies: list[str]) -> Finding:
    answers = tuple(Answer(text, "absent", "", False) for text in replies)
    return verifier.verify(Case(SampleId("t", "p", 0), answers, REFERENCE))


@pytest.mark.slow
def test_a_wish_is_fulfilled_if_the_state_is_right_and_the_user_was_told(verifier: UserLoopVerifier) -> None:
    found = verify(verifier, RIGHT)
    assert (found.score, found.parts) == (1.0, {"state": 1.0, "outputs": 1.0})
    assert verifier.version.startswith("user_loop 1, tier ")


@pytest.mark.parametrize(
    ("replies", "error", "parts"),
    [
        ([*RIGHT[:2], "Done.", "###STOP###"], "the user was not told: 1250", {"state": 1.0, "outputs": 0.0}),
        (["Cancel.", "You get 1250.", "###STOP###"], "the state differs", {"state": 0.0, "outputs": 1.0}),
        (RIGHT[:3], "the conversation ended early", {"state": 1.0, "outputs": 1.0}),
        (["Cancel.", *[CANCEL] * 3], "the steps were used up", {"state": 1.0, "outputs": 0.0}),
    ],
)
def test_what_is_wrong_is_said(
    verifier: UserLoopVerifier, replies: list[str], error: str, parts: dict[str, float]
) -> None:
    found = verify(verifier, replies)
    assert (found.score, found.detail["error"], found.parts) == (0, error, parts)


def test_a_reference_that_cannot_be_run_is_refused(verifier: UserLoopVerifier) -> None:
    verifier.check(REFERENCE)
    with pytest.raises(DataError, match="there is no such function"):
        verifier.check({**REFERENCE, "actions": [{"name": "fly", "arguments": {}}]})
    with pytest.raises(DataError, match=r"Shop\(state\) failed"):
        verifier.check({**REFERENCE, "state": {}})
    with pytest.raises(DataError, match="want functions"):
        verifier.check({"actions": []})
    with pytest.raises(ConfigError, match="wanted a positive number"):
        UserLoopVerifier(wall_s=0)
