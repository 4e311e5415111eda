"""The set of drawn samples: one bit for each turn of each sample."""

from __future__ import annotations

from genbench.store.sample_index import DrawnSamples


def test_a_turn_of_a_sample_is_added_once() -> None:
    drawn = DrawnSamples()
    assert drawn.add("p", 3, 0)
    assert not drawn.add("p", 3, 0)
    assert drawn.count == 1


def test_turns_samples_and_problems_are_told_apart() -> None:
    drawn = DrawnSamples()
    drawn.add("p", 1, 0)
    assert drawn.has("p", 1, 0)
    assert not (drawn.has("p", 1, 1) or drawn.has("p", 0, 0) or drawn.has("q", 1, 0))


def test_a_question_adds_nothing() -> None:
    drawn = DrawnSamples()
    drawn.has("p", 0, 0)
    assert drawn.add("p", 0, 0) and drawn.count == 1


def test_many_samples_of_one_problem_are_kept() -> None:
    drawn = DrawnSamples()
    assert all(drawn.add("p", index, 0) for index in range(0, 4000, 2))
    assert drawn.count == 2000 and drawn.has("p", 3998, 0) and not drawn.has("p", 3999, 0)


def test_a_later_turn_is_not_the_first_turn_of_another_problem() -> None:
    drawn = DrawnSamples()
    assert drawn.add("p", 0, 1) and drawn.add("p", 0, 0) and drawn.add("('p', 1)", 0, 0)
    assert drawn.count == 3 and not drawn.has("p", 1, 1)


def test_a_sample_that_ended_has_all_its_turns() -> None:
    drawn = DrawnSamples()
    drawn.add("p", 1, 0)
    assert not drawn.has("p", 1, 9)
    drawn.end("p", 1)
    assert drawn.has("p", 1, 9)
    assert not drawn.has("p", 0, 9) and not drawn.has("q", 1, 9)
