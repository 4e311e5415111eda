"""Hostile replies of the model and of the simulated user: each conversation has a verdict of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from genbench.types import OURS, Answer, Case, SampleId
from genbench.verifiers.tools.conversations import UserLoopVerifier
from tests.table import each_row
from tests.verifiers.test_texts_never_excluded import MONSTERS
from tests.verifiers.tools.test_user_loop import REFERENCE, RIGHT

HOSTILE = [
    *MONSTERS,
    "",
    "x" * 1_000_000,
    "[" * 200_000,
    '{"a":' * 200_000,
    "<|im_end|>" * 20_000,
    '[cancel_order(number="' + "A" * 1_000_000 + '", reason="x")]',
    '[cancel_order(number=1e999, reason="\\ud800")]',
    '[cancel_order(**{"number": "18"}, reason="x")]',
    "[__init__(self=1)]",
    '[__class__(number="18")]',
    "[" + 'cancel_order(number="18", reason="x"),' * 300 + "]",
    '<tool_call>{"name": "cancel_order", "arguments": {"number": NaN, "reason": null}}</tool_call>',
]


@pytest.fixture(scope="module")
def verifier() -> Iterator[UserLoopVerifier]:
    made = UserLoopVerifier()
    yield made
    made.close()


@pytest.mark.slow
@each_row("place", range(len(RIGHT)))
@each_row("text", HOSTILE)
def test_no_reply_is_a_defect(verifier: UserLoopVerifier, text: str, place: int) -> None:
    replies = [*RIGHT[:place], text, *RIGHT[place + 1 :]]
    answers = tuple(Answer(reply, "absent", "", False) for reply in replies)
    found = verifier.verify(Case(SampleId("t", "p", 0), answers, REFERENCE))
    assert found.reason not in OURS and 0 <= found.score <= 1
    assert len(json.dumps(found.detail, allow_nan=False)) < 100_000


def test_the_verifier_is_as_before_after_them(verifier: UserLoopVerifier) -> None:
    answers = tuple(Answer(reply, "absent", "", False) for reply in RIGHT)
    assert verifier.verify(Case(SampleId("t", "p", 0), answers, REFERENCE)).score == 1
