"""Token sums: completions without counts make a sum unknown instead of too small."""

from __future__ import annotations

from genbench.store.stored_run import TokenCount
from tests.store.stored import completion


def test_tokens_are_summed_by_kind() -> None:
    count = TokenCount()
    for index in range(3):
        count.add(completion("p", index), max_tokens=16)
    assert (count.items, count.counted, count.traced) == (3, 3, 3)
    assert (count.prompt, count.completion, count.trace) == (12, 18, 6)
    assert count.all_completion == 18


def test_one_completion_without_a_count_makes_the_sum_unknown() -> None:
    count = TokenCount()
    count.add(completion("p", 0), max_tokens=16)
    count.add(completion("p", 1, completion_tokens=None), max_tokens=16)
    assert (count.items, count.counted, count.completion) == (2, 1, 6)
    assert count.all_completion is None


def test_nothing_counted_is_unknown_not_zero() -> None:
    assert TokenCount().all_completion is None


def test_a_completion_without_trace_tokens_is_counted_but_not_traced() -> None:
    count = TokenCount()
    count.add(completion("p", 0, trace_tokens=None), max_tokens=16)
    assert (count.counted, count.traced, count.trace) == (1, 0, 0)


def test_a_limit_that_the_context_lowered_is_counted() -> None:
    count = TokenCount()
    count.add(completion("p", 0, max_tokens=9), max_tokens=16)
    count.add(completion("p", 1, max_tokens=16), max_tokens=16)
    count.add(completion("p", 2, max_tokens=None), max_tokens=16)
    assert count.clamped == 1
