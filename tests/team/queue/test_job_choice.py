"""The order in which jobs start."""

from __future__ import annotations

from genbench.team.queue.leases import Busy, WaitingJob, choose_job


def job(
    number: int, *, track: str = "a", priority: int = 5, slots: int = 1, max_hours: float | None = None
) -> WaitingJob:
    return WaitingJob(number, track, priority, slots, max_hours, f"runs/{number}")


def number_of(found: WaitingJob | None) -> int | None:
    return None if found is None else found.id


def test_priority_comes_before_age() -> None:
    assert number_of(choose_job([job(1), job(2, priority=7)], free=1, total=1)) == 2


def test_tracks_take_turns() -> None:
    waiting = [job(1, track="a"), job(2, track="a"), job(3, track="b")]
    assert number_of(choose_job(waiting, free=1, total=2, running={"a": 1})) == 3
    assert number_of(choose_job(waiting, free=1, total=1, turns={"a": 5, "b": 2})) == 3


def test_a_job_that_no_worker_of_this_size_can_do_is_passed_over() -> None:
    assert number_of(choose_job([job(1, slots=8), job(2)], free=4, total=4)) == 2


def test_a_large_job_reserves_and_a_short_one_fills_in() -> None:
    waiting = [job(1, slots=4), job(2), job(3, max_hours=3), job(4, max_hours=1)]
    busy = [Busy(2, 2 * 3600.0)]
    assert number_of(choose_job(waiting, free=2, total=4, busy=busy)) == 4


def test_nothing_fills_in_before_an_end_that_nobody_knows() -> None:
    assert choose_job([job(1, slots=4), job(2, max_hours=1)], free=2, total=4, busy=[Busy(2, None)]) is None


def test_two_jobs_never_write_one_folder_at_a_time() -> None:
    assert choose_job([job(1)], free=1, total=1, taken=frozenset({"runs/1"})) is None
