"""Lines of ready responses: texts, and scores of given texts."""

from __future__ import annotations

import pytest

from genbench.models.responses import completion_of

SAMPLE = {"task": "t", "problem_id": "p", "sample_index": 0}


def test_a_line_may_have_scores_instead_of_a_text() -> None:
    item = completion_of({**SAMPLE, "choices": [{"logprob": -1.5, "tokens": 2, "greedy": True, "prior": -3}]})
    [choice] = item.choices
    assert (item.text, choice.logprob, choice.tokens, choice.greedy, choice.prior) == (
        "",
        -1.5,
        2,
        True,
        -3.0,
    )
    assert completion_of({**SAMPLE, "text": "x"}).choices == ()


def test_a_log_probability_is_a_finite_number_up_to_zero() -> None:
    for wrong in (0.5, "x", None, True, -float("inf"), float("nan"), -1.7e308, -(10**400)):
        with pytest.raises(ValueError, match="wanted a finite number up to 0"):
            completion_of({**SAMPLE, "choices": [{"logprob": wrong, "tokens": 1}]})
    with pytest.raises(TypeError, match="wanted objects"):
        completion_of({**SAMPLE, "choices": [-1.0]})


def test_a_count_that_no_float_can_have_is_refused() -> None:
    for wrong in (10**400, -1, 1.5, True):
        with pytest.raises(TypeError, match=r"'tokens' is .{1,60}, wanted a whole number"):
            completion_of({**SAMPLE, "choices": [{"logprob": -1.0, "tokens": wrong}]})
