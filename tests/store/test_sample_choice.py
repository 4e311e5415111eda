"""The few samples of a task that are chosen to be verified again."""

from __future__ import annotations

from collections import Counter

from genbench.store.stored_run import chosen_samples

IDS = [f"p{i}" for i in range(50)]


def test_the_wanted_number_of_samples_is_chosen() -> None:
    assert len(chosen_samples("t", IDS, 8, 20)) == 20


def test_all_samples_are_chosen_if_there_are_no_more() -> None:
    assert chosen_samples("t", IDS[:2], 2, 100) == {(name, index) for name in IDS[:2] for index in (0, 1)}


def test_the_choice_does_not_depend_on_the_order_of_problems() -> None:
    assert chosen_samples("t", IDS, 8, 20) == chosen_samples("t", IDS[::-1], 8, 20)


def test_a_larger_number_keeps_the_smaller_choice() -> None:
    assert chosen_samples("t", IDS, 8, 20) < chosen_samples("t", IDS, 8, 60)


def test_tasks_have_choices_of_their_own() -> None:
    assert chosen_samples("t", IDS, 8, 20) != chosen_samples("u", IDS, 8, 20)


def test_every_sample_index_is_chosen_about_as_often() -> None:
    counts = Counter(index for _, index in chosen_samples("t", [f"q{i}" for i in range(500)], 4, 1000))
    assert len(counts) == 4
    assert all(200 <= count <= 300 for count in counts.values())


def test_names_with_lone_surrogates_can_be_chosen() -> None:
    assert chosen_samples("t", ["\ud800", "b"], 1, 1)
