from __future__ import annotations

import asyncio
import threading

import pytest

from genbench.runs.event_loop import run_coroutine


async def thread_name() -> str:
    await asyncio.sleep(0)
    return threading.current_thread().name


def test_without_a_loop_it_runs_in_this_thread() -> None:
    assert run_coroutine(thread_name()) == threading.current_thread().name


def test_inside_a_loop_it_runs_in_another_thread() -> None:
    async def notebook() -> str:
        return run_coroutine(thread_name())

    assert asyncio.run(notebook()) != threading.current_thread().name


def test_an_error_is_raised_as_it_is() -> None:
    async def fail() -> None:
        raise LookupError("here")

    with pytest.raises(LookupError, match="here"):
        run_coroutine(fail())


def test_an_error_inside_does_not_refer_to_the_caller_and_its_data() -> None:
    caught: list[BaseException] = []

    async def go_on_after_an_error() -> None:
        try:
            raise LookupError("here")
        except LookupError as error:
            caught.append(error)

    run_coroutine(go_on_after_an_error())
    assert caught[0].__context__ is None
