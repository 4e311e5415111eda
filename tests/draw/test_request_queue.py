"""The queue that engines share."""

from __future__ import annotations

import asyncio

from genbench.draw.draw_queue import Draw, DrawQueue
from genbench.suite.config import Decoding, TaskEntry
from genbench.tasks.factory import custom_task
from genbench.tasks.loaded_task import LoadedTask
from genbench.types import Problem

ENTRY = TaskEntry.model_validate({"name": "t", "kind": "exact", "k": 1, "data": {"path": "rows.jsonl"}})
TASK = LoadedTask(ENTRY, custom_task(ENTRY), 1, Decoding(), (), frozenset(), {})
A, B, C = (Draw(TASK, Problem("t", name, {}), 0) for name in "abc")


def queue(*draws: Draw) -> DrawQueue:
    return DrawQueue(draws)


def test_a_queue_is_over_when_nothing_waits_and_nothing_is_drawn() -> None:
    draws = queue(A, B)
    assert (draws.take(), draws.size, draws.waiting) == (A, 2, 1)
    assert (draws.take(), draws.take()) == (B, None)
    draws.done(A)
    assert not draws.over.is_set() and draws.size == 1
    draws.done(B)
    assert draws.over.is_set() and draws.size == 0


def test_an_empty_queue_is_over_at_once() -> None:
    assert queue().over.is_set()


def test_what_comes_back_waits_at_the_end_or_at_the_front() -> None:
    draws = queue(A, B, C)
    first, second = draws.take(), draws.take()
    assert first is not None and second is not None
    draws.put_back(first)
    draws.put_back(second, first=True)
    assert [draws.take(), draws.take(), draws.take()] == [B, C, A]


def test_listeners_hear_of_what_comes_back_and_of_the_end() -> None:
    draws, heard, deaf = queue(A), asyncio.Event(), asyncio.Event()
    draws.listen(heard)
    draws.listen(deaf)
    draws.ignore(deaf)
    taken = draws.take()
    assert taken is not None and not heard.is_set()
    draws.put_back(taken)
    assert heard.is_set()
    heard.clear()
    draws.take()
    draws.done(A)
    assert heard.is_set() and not deaf.is_set()


def test_a_draw_is_taken_from_a_place_and_never_from_behind_the_last() -> None:
    draws = queue(A, B, C)
    assert draws.take(1) is B
    assert draws.take(9) is C
    assert draws.take(-3) is A
    assert draws.take(1) is None and draws.handed_out == 3


def test_the_work_of_a_queue_is_that_of_draws_that_wait_or_are_drawn() -> None:
    draws = DrawQueue([A, B], lambda draw: 5.0 if draw is A else 2.0)
    assert draws.weight == 7.0
    draws.take()
    assert draws.weight == 7.0
    draws.done(A)
    assert draws.weight == 2.0
