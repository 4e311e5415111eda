"""From rows of log-probabilities to the scores of choices."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from genbench.engines.likelihood import Scored, cache_readers, joined, logprob_of, scored_completion, sum_of
from genbench.errors import RequestFailedError
from genbench.types import Continuation, SampleId, ScoreRequest, TextSize
from tests.engines.score_cases import BLOCK, choices


def row(token: int, logprob: float, rank: int) -> dict[int, Any]:
    return {token: SimpleNamespace(logprob=logprob, rank=rank)}


def test_a_sum_is_greedy_if_each_token_has_rank_one() -> None:
    assert sum_of((5, 6), [row(5, -1.0, 1), row(6, -0.5, 1)], "r") == Scored(-1.5, 2, True, (-1.0, -0.5))
    assert not sum_of((5, 6), [row(5, -1.0, 1), row(6, -0.5, 2)], "r").greedy


def test_a_row_of_another_token_or_without_a_number_is_refused() -> None:
    with pytest.raises(RequestFailedError, match="no log-probability of token 7"):
        logprob_of(row(5, -1.0, 1), 7, "r")
    with pytest.raises(RequestFailedError, match="is nan"):
        logprob_of(row(5, float("nan"), 1), 5, "r")


def request(*items: Continuation, by_token: bool = False) -> ScoreRequest:
    return ScoreRequest(
        SampleId("t", "p", 0),
        0,
        (),
        7,
        1,
        "d",
        continuations=items,
        sizes=(TextSize(3, 4, 1),),
        by_token=by_token,
    )


def test_the_log_probability_of_each_token_is_given_if_it_is_wanted() -> None:
    items = (
        Continuation(0, (1,), (2, 3)),
        Continuation(0, (3,), (4,)),
        Continuation(0, (1,), (9,), is_prior=True),
    )
    found = [
        Scored(-3.0, 2, True, (-1.0, -2.0)),
        Scored(-0.5, 1, True, (-0.5,)),
        Scored(-4.0, 1, True, (-4.0,)),
    ]
    assert joined(request(*items, by_token=True), found)[0].by_token == (-1.0, -2.0, -0.5)
    assert joined(request(*items), found)[0].by_token is None


def test_windows_are_added_and_priors_kept_apart() -> None:
    items = [
        Continuation(0, (1,), (2, 3)),
        Continuation(0, (3,), (4,), is_merged=True),
        Continuation(0, (1,), (9,), is_prior=True),
    ]
    found = [Scored(-1.0, 2, True), Scored(-0.5, 1, False), Scored(-4.0, 1, True)]
    [score] = joined(request(*items), found)
    assert (score.logprob, score.tokens, score.greedy, score.prior, score.merged) == (
        -1.5,
        3,
        False,
        -4.0,
        True,
    )
    assert (score.chars, score.bytes, score.words) == (3, 4, 1)


def test_the_reply_has_no_text_and_counts_what_was_scored() -> None:
    asked = request(Continuation(0, (1, 2), (3,)))
    item = scored_completion(asked, 2, joined(asked, [Scored(-1.0, 1, True)]), 0.5)
    assert (item.text, item.prompt_tokens, item.completion_tokens, item.prompt_digest, item.attempt) == (
        "",
        2,
        1,
        "d",
        2,
    )


def test_only_whole_blocks_within_the_context_are_read() -> None:
    def reads(length: int, shared: int) -> list[bool]:
        return cache_readers(choices(length, shared), BLOCK)

    assert reads(127, 0) == [False] * 4  # no whole block
    assert reads(128, 0) == [False] * 4  # the block ends with the context, whose last row is needed
    assert reads(129, 0) == [True] * 4
    assert reads(200, 55) == [True] * 4
    assert reads(200, 56) == [False] * 4  # the shared beginning fills the second block
    assert reads(600, 30) == [True] * 4
    other = Continuation(0, (7,) * 129, (1,))
    assert cache_readers([other, *choices(127, 0)], BLOCK) == [True, *[False] * 4]
