"""What two sides must share: how differences are named, let through and refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from genbench.analysis.comparison.comparability import (
    KINDS,
    Difference,
    check_names,
    is_prefix,
    settle,
    shares_seeds,
    side_differences,
)
from genbench.analysis.comparison.warnings import suspicions
from genbench.analysis.sides.side import Side, SideTask
from genbench.errors import InputError, NotComparableError
from genbench.store.manifest import ReasoningRecord
from genbench.store.sample_index import SampleIndex
from genbench.types import Completion, SampleId
from tests.analysis.score_sides import score_side, side_task
from tests.manifests import manifest
from tests.table import each_row

FOUND = [Difference("terms.dtype", "a -> b"), Difference("terms.seed", "1 -> 2"), Difference("k.t", "2 -> 1")]


def names(*differences: Difference) -> list[str]:
    return [item.name for item in differences]


@each_row("kind", KINDS)
def test_every_kind_of_difference_can_be_let_through(kind: str) -> None:
    check_names([kind, f"{kind}.task"])
    assert settle([Difference(f"{kind}.task", "1 -> 2")], [kind], "not comparable") != []


def test_an_unknown_name_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(InputError, match="--allow prompt: unknown difference name; did you mean 'prompts'"):
        check_names(["prompt"])


def test_a_difference_is_printed_as_its_name_and_what_differs() -> None:
    assert str(FOUND[0]) == "terms.dtype: a -> b"


def test_what_remains_is_listed_with_the_options_that_let_it_through() -> None:
    with pytest.raises(NotComparableError) as caught:
        settle(FOUND, ["terms.dtype"], "not comparable (a -> b)")
    text = str(caught.value)
    assert text.startswith("not comparable (a -> b):\n  terms.seed: 1 -> 2\n  k.t: 2 -> 1\n")
    assert text.endswith("let the difference through with --allow terms --allow k")


def test_a_first_part_lets_all_longer_names_through() -> None:
    assert settle(FOUND, ["terms", "k.t"], "not comparable") == FOUND


def test_a_longer_name_does_not_let_a_shorter_one_through() -> None:
    with pytest.raises(NotComparableError):
        settle([Difference("k", "2 -> 1")], ["k.t"], "not comparable")


def test_a_long_list_of_differences_is_cut_and_counted() -> None:
    many = [Difference(f"terms.t{number}", "1 -> 2") for number in range(45)]
    with pytest.raises(NotComparableError) as caught:
        settle(many, [], "not comparable")
    assert "terms.t39" in str(caught.value)
    assert "terms.t40" not in str(caught.value)
    assert "... and 5 more" in str(caught.value)


def test_equal_sides_do_not_differ() -> None:
    task = side_task([[1.0, 0.0], [0.0, 0.0]])
    assert list(side_differences(score_side(t=task), score_side("tuned.jsonl", t=task))) == []


def test_tasks_of_one_side_are_named_with_their_side() -> None:
    base, tuned = score_side(a=side_task([[1.0]], "a")), score_side(b=side_task([[1.0]], "b"))
    assert list(side_differences(base, tuned)) == [
        Difference("tasks.a", "only in base"),
        Difference("tasks.b", "only in tuned"),
    ]


def test_problems_of_one_side_are_counted_and_the_first_three_named() -> None:
    base = score_side(t=side_task([[1.0]] * 7))
    tuned = score_side(t=side_task([[1.0]] * 2))
    (found,) = side_differences(base, tuned)
    assert str(found) == "problems.t: 5 of 7 only in base (p2, p3, p4, ...)"


def test_another_k_is_a_difference() -> None:
    base, tuned = score_side(t=side_task([[1.0, 0.0]])), score_side(t=side_task([[1.0]]))
    assert names(*side_differences(base, tuned)) == ["k.t"]


def test_groups_of_only_one_side_are_no_difference() -> None:
    base = score_side(t=side_task([[1.0], [0.0]], groups=("g", "h")))
    tuned = score_side(t=side_task([[1.0], [0.0]]))
    assert list(side_differences(base, tuned)) == []


def test_other_groups_are_counted_by_problem() -> None:
    base = score_side(t=side_task([[1.0], [0.0]], groups=("g", "h")))
    tuned = score_side(t=side_task([[1.0], [0.0]], groups=("g", "i")))
    (found,) = side_differences(base, tuned)
    assert str(found) == "groups.t: 1 of 2 problems differ; the first, problem p1: h -> i"


def test_score_files_have_no_seeds_to_share_and_raise_no_suspicion() -> None:
    task = side_task([[1.0]])
    assert not shares_seeds(task, task)
    assert list(suspicions(score_side(t=task), score_side("tuned.jsonl", t=task))) == []


def completion(i: int, j: int, seed: int) -> Completion:
    return Completion(
        SampleId("t", f"p{i}", j),
        turn=0,
        seed=seed + 10 * i + j,
        prompt_digest="d",
        text="x",
        finish_reason="stop",
        prompt_tokens=None,
        completion_tokens=None,
        trace_tokens=None,
        max_tokens=8,
        attempt=1,
        seconds=None,
    )


def drawn(k: int, *, seed: int = 0, on_disk: int | None = None) -> SideTask:
    """A task of four problems by k samples, of which `on_disk` per problem are in completions.jsonl."""
    record: dict[str, Any] = {"prompt_digest": "d", "max_tokens": 8, "reference_digest": "r"}
    index = SampleIndex({f"p{i}": record for i in range(4)}, k)
    for i in range(4):
        for j in range(k if on_disk is None else on_disk):
            index.add(completion(i, j, seed))
    return side_task([[1.0] * k] * 4, k=k, index=index)


def test_a_base_with_more_samples_of_the_same_first_seeds_is_the_same_contract() -> None:
    base, tuned = drawn(16), drawn(4)
    assert is_prefix(base, tuned)
    assert list(side_differences(score_side(t=base), score_side("tuned", t=tuned))) == []


def test_more_samples_of_tuned_or_other_seeds_are_another_k() -> None:
    pairs = [(drawn(4), drawn(16)), (drawn(16), drawn(4, seed=7)), (drawn(4), drawn(4))]
    assert not any(is_prefix(base, tuned) for base, tuned in pairs)
    assert names(*side_differences(score_side(t=drawn(16)), score_side("x", t=drawn(4, seed=7)))) == ["k.t"]


@pytest.mark.parametrize(("kept", "lost"), [(0, 16), (1, 12)])
def test_prompts_that_are_not_on_disk_are_a_difference_of_their_own(kept: int, lost: int) -> None:
    base, tuned = score_side(t=drawn(4)), score_side("tuned", t=drawn(4, on_disk=kept))
    (found,) = side_differences(base, tuned)
    assert found.name == "prompts.missing.t"
    assert f"prompts of {lost} of 16 samples could not be compared" in found.detail
    assert settle([found], ["prompts.missing"], "not comparable") == [found]
    assert names(*side_differences(tuned, base)) == ["prompts.missing.t"]


def with_ends(side_path: str, text: str, *ends: str) -> Side:
    """A run whose tokenizer has these special tokens, and whose only answer is `text`."""
    record: dict[str, Any] = {"prompt_digest": "d", "max_tokens": 8, "reference_digest": "r"}
    index = SampleIndex({"p0": record}, 1, ends)
    index.add(replace(completion(0, 0, 0), text=text))
    reasoning = ReasoningRecord(format="think", open=("<think>",), close=("</think>",), end_tokens=ends)
    side = score_side(side_path, t=side_task([[1.0]], k=1, index=index))
    return replace(side, manifest=manifest(reasoning=reasoning))


def test_another_pad_token_that_no_answer_ends_with_is_the_same_trace_format() -> None:
    base = with_ends("b", "4<|end|>", "<|bos|>", "<|end|>", "<|pad|>")
    tuned = with_ends("t", "4<|end|>", "<|bos|>", "<|end|>")
    assert list(side_differences(base, tuned)) == []


@pytest.mark.parametrize("text", ["4<|pad|>", "4<|pad|> <|end|>"])
def test_an_end_token_that_was_cut_from_an_answer_counts(text: str) -> None:
    base = with_ends("b", text, "<|end|>", "<|pad|>")
    tuned = with_ends("t", "4<|end|>", "<|end|>")
    assert names(*side_differences(base, tuned)) == ["reasoning.end_tokens"]


def test_an_end_token_that_closes_a_trace_counts() -> None:
    base, tuned = with_ends("b", "4", "</think>"), with_ends("t", "4")
    assert names(*side_differences(base, tuned)) == ["reasoning.end_tokens"]
