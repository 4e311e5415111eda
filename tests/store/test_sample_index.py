"""The index that comparisons read: prompts, seeds and digests of texts by sample."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.store.sample_index import SampleIndex
from genbench.types import Completion
from tests.store.stored import completion, problem_line


def indexed(*items: Completion) -> SampleIndex:
    index = SampleIndex({name: problem_line(name) for name in ("p", "q")}, k=2)
    for item in items:
        index.add(item)
    return index


def test_columns_are_in_the_order_of_problems_and_samples() -> None:
    index = indexed(completion("q", 1, seed=3), completion("p", 0, seed=5))
    assert list(index.seeds.items()) == [(("p", 0), 5), (("q", 1), 3)]
    assert list(index.keys()) == [("p", 0), ("p", 1), ("q", 0), ("q", 1)]


def test_a_sample_that_was_not_drawn_is_in_no_column() -> None:
    index = indexed(completion("p", 0))
    for column in (index.prompts, index.seeds, index.texts):
        assert ("p", 1) not in column and len(column) == 1
    with pytest.raises(KeyError):
        index.seeds["p", 9]


def test_the_prompt_of_a_sample_is_its_own_or_its_problems() -> None:
    index = indexed(completion("p", 0), completion("p", 1, prompt_digest="shuffled"))
    assert index.prompts["p", 0] == "digest of p"
    assert index.prompts["p", 1] == "shuffled"


def test_a_ready_response_without_a_prompt_has_its_problems() -> None:
    assert indexed(completion("p", 0, prompt_digest=None)).prompts["p", 0] == "digest of p"


def test_a_sample_without_a_seed_is_not_among_the_seeds() -> None:
    assert len(indexed(completion("p", 0, seed=None)).seeds) == 0


def test_equal_texts_have_equal_digests_and_others_do_not() -> None:
    index = indexed(completion("p", 0, "a"), completion("p", 1, "b"), completion("q", 0, "a"))
    assert index.texts["p", 0] == index.texts["q", 0] != index.texts["p", 1]


def test_the_order_of_turns_in_the_file_does_not_change_the_digest() -> None:
    turns = [completion("p", 0, "a"), completion("p", 0, "b", turn=1)]
    swapped = [completion("p", 0, "b"), completion("p", 0, "a", turn=1)]
    assert indexed(*turns).texts["p", 0] == indexed(*reversed(turns)).texts["p", 0]
    assert indexed(*turns).texts["p", 0] != indexed(*swapped).texts["p", 0]


def test_limits_and_references_are_by_problem() -> None:
    index = indexed()
    assert index.max_tokens == {"p": 16, "q": 16}
    assert index.references["q"] == "reference of q"


def test_only_a_reply_of_one_turn_with_counted_tokens_has_a_length() -> None:
    counted: dict[str, Any] = {"completion_tokens": 9, "trace_tokens": 4}
    plain = completion("p", 0, **counted)
    assert indexed(plain).lengths["p", 0] == (9, 4)
    assert ("p", 0) not in indexed(completion("p", 0, completion_tokens=9, trace_tokens=None)).lengths
    later = completion("p", 0, turn=1, **counted)
    for order in ((plain, later), (later, plain)):
        assert ("p", 0) not in indexed(*order).lengths
