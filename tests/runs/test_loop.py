from __future__ import annotations

import asyncio
import threading

import pytest

from genbench.runs.loop import run_coroutine


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
