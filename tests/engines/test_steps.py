"""Statistics of an engine's steps, with a clock of the test's own."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from genbench.engines.vllm.monitoring import StepStatistics


@dataclass
class Prefix:
    queries: int = 0
    hits: int = 0
    preempted_requests: int = 0


@dataclass
class State:
    num_running_reqs: int
    num_waiting_reqs: int = 0
    kv_cache_usage: float = 0.0
    prefix_cache_stats: Prefix = field(default_factory=Prefix)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def steps(*states: tuple[float, State], slots: int = 100, tokens: int = 10) -> StepStatistics:
    """Return statistics of states, each of which lasted so many seconds."""
    clock = Clock()
    found = StepStatistics(slots, clock)
    found.add_state(State(0))
    for seconds, state in states:
        clock.now += seconds
        found.add_tokens(tokens)
        found.add_state(state)
    return found


def test_means_are_taken_over_time_and_not_over_steps() -> None:
    record = steps((9.0, State(100, 20, 0.5)), (1.0, State(0, 0, 0.1))).record
    assert (record["running"], record["waiting"], record["kv_used"]) == (90.0, 18.0, 0.46)
    assert (record["most_running"], record["most_kv_used"]) == (100, 0.5)
    assert (record["seconds"], record["steps"]) == (10.0, 2)
    assert (record["completion_tokens"], record["tokens_per_s"]) == (20, 2.0)


def test_tokens_per_second_are_given_for_each_phase() -> None:
    record = steps((10.0, State(100)), (10.0, State(5)), (5.0, State(1)), tokens=50).record
    assert record["tokens_per_s"] == 6.0
    assert [point["tokens_per_s"] for point in record["course"]] == [5.0, 5.0, 10.0]


def test_lookups_and_preemptions_add_up() -> None:
    state = State(1, prefix_cache_stats=Prefix(100, 60, 2))
    record = steps((1.0, state), (1.0, state)).record
    assert (record["prompt_tokens"], record["cached_prompt_tokens"], record["preemptions"]) == (200, 120, 4)
    assert record["prompt_tokens_per_s"] == 40.0


def test_an_engine_is_starved_while_half_its_slots_are_free_and_nothing_waits() -> None:
    record = steps((6.0, State(80)), (3.0, State(10)), (1.0, State(10, 5))).record
    assert record["starved"] == 0.3


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (
            State(60, 40, 0.97),
            "the KV cache: 60 of 100 slots were in use on average while 40 requests",
        ),
        (State(97, 40, 0.6), "the slots: 97 of 100 were in use on average"),
        (
            State(20, 0, 0.1),
            "too few samples: less than half of the 100 slots were in use and none",
        ),
        (State(70, 0, 0.5), "nothing in particular"),
    ],
)
def test_one_sentence_says_what_limited_the_engine(state: State, words: str) -> None:
    limited = steps((10.0, state)).record["limited_by"]
    assert limited.startswith(words)


def test_an_engine_that_never_stepped_was_limited_by_nothing() -> None:
    record = StepStatistics(8).record
    assert record["limited_by"] is None and record["tokens_per_s"] is None and record["course"] == []


def test_the_course_has_a_point_every_ten_seconds_at_first() -> None:
    record = steps(*((5.0, State(number)) for number in range(1, 7))).record
    assert record["point_s"] == 10.0
    assert [point["running"] for point in record["course"]] == [1.5, 3.5, 5.5]


def test_a_long_course_is_thinned_by_averaging_neighbours() -> None:
    record = steps(*((10.0, State(number % 2 * 8)) for number in range(1000))).record
    assert len(record["course"]) <= 121 and record["point_s"] > 10
    assert {point["running"] for point in record["course"][:-2]} == {4.0}
    assert record["running"] == 4.0
