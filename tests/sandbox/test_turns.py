"""Turns on the machine: many together, or one alone."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from pathlib import Path

import pytest

from genbench.sandbox.turns import Turns


def test_programs_run_together(tmp_path: Path) -> None:
    one, other = Turns(tmp_path), Turns(tmp_path)
    with one.together(), other.together():
        pass
    one.close()
    other.close()


def test_alone_waits_for_the_others_and_keeps_them_waiting(tmp_path: Path) -> None:
    order: list[str] = []
    inside, started = threading.Event(), threading.Event()

    def alone() -> None:
        turns = Turns(tmp_path)
        started.set()
        with turns.alone(5.0):
            order.append("alone")
            inside.set()
            time.sleep(0.2)
            order.append("done")
        turns.close()

    mine = Turns(tmp_path)
    with mine.together():
        thread = threading.Thread(target=alone)
        thread.start()
        started.wait()
        time.sleep(0.2)
        order.append("first")
    inside.wait()
    with mine.together():
        order.append("last")
    thread.join()
    mine.close()
    assert order == ["first", "alone", "done", "last"]


@pytest.mark.slow
def test_a_lock_that_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").touch()
    for name in ("gate", "floor"):
        (tmp_path / f"genbench-sandbox-{os.getuid()}.{name}").symlink_to(tmp_path / "elsewhere")
    turns = Turns(tmp_path)
    with turns.alone(5.0):
        pass
    turns.close()


def test_a_turn_alone_that_lasts_too_long_lets_the_others_run(tmp_path: Path) -> None:
    one, other = Turns(tmp_path), Turns(tmp_path)
    ran = threading.Event()

    def together() -> None:
        with other.together():
            ran.set()

    with one.alone(0.1) as turn:
        thread = threading.Thread(target=together)
        thread.start()
        assert not ran.wait(0.05)
        time.sleep(0.1)
        turn.tick()
        assert ran.wait(60.0)
    thread.join()
    one.close()
    other.close()


@pytest.mark.slow
def test_nobody_is_alone_again_at_once(tmp_path: Path) -> None:
    turns = Turns(tmp_path)
    with turns.alone(5.0):
        time.sleep(0.2)
    began = time.monotonic()
    with turns.alone(5.0):
        pass
    assert time.monotonic() - began >= 0.5
    turns.close()


def test_a_file_with_nonsense_keeps_nobody_waiting(tmp_path: Path) -> None:
    (tmp_path / f"genbench-sandbox-{os.getuid()}.gate").write_text("nonsense")
    turns = Turns(tmp_path)
    with turns.alone(5.0) as turn:
        assert turn.release is not None  # a sole turn: whoever waits too long gets a shared one
    turns.close()


def test_a_tick_of_a_shared_turn_does_nothing(tmp_path: Path) -> None:
    turns = Turns(tmp_path)
    with turns.together() as turn:
        turn.tick()
    turns.close()


@pytest.mark.slow
def test_a_program_that_does_not_leave_keeps_nobody_from_beginning(tmp_path: Path) -> None:
    staying, hopeful, third = Turns(tmp_path), Turns(tmp_path), Turns(tmp_path)
    began = time.monotonic()
    with staying.together(), hopeful.alone(5.0), third.together():
        waited = time.monotonic() - began
    assert 1.0 < waited < 25.0  # a worker that waits for a sole turn does so for 30 s
    for turns in (staying, hopeful, third):
        turns.close()


def sole_turns(*waiting: Turns) -> list[tuple[int, float]]:
    """Let each wait for a sole turn at the same time. Return (index, when it began) in the order of turns."""
    begun: list[tuple[int, float]] = []

    def alone(index: int) -> None:
        with waiting[index].alone(5.0):
            begun.append((index, time.monotonic()))
            time.sleep(0.1)

    threads = [threading.Thread(target=alone, args=(index,)) for index in range(len(waiting))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for turns in waiting:
        turns.close()
    return begun


@pytest.mark.slow
def test_who_waits_while_another_is_alone_leaves_the_others_their_time_too(tmp_path: Path) -> None:
    (_, first), (_, second) = sole_turns(Turns(tmp_path, run=1), Turns(tmp_path, run=2))
    assert second - first >= 0.35


@pytest.mark.slow
def test_a_run_is_not_alone_twice_while_another_run_waits(tmp_path: Path) -> None:
    before = Turns(tmp_path, run=1)
    with before.alone(5.0):
        time.sleep(0.1)
    before.close()
    same, other = Turns(tmp_path, run=1), Turns(tmp_path, run=2)
    assert [index for index, _ in sole_turns(same, other)] == [1, 0]


@pytest.mark.slow
def test_a_process_that_stops_with_the_lock_keeps_the_others_waiting_only_once(tmp_path: Path) -> None:
    turns = Turns(tmp_path, patience_s=0.8)
    holder = os.open(tmp_path / f"genbench-sandbox-{os.getuid()}.gate", os.O_RDWR)
    fcntl.flock(holder, fcntl.LOCK_EX)
    waits = []
    for _ in range(3):
        begun = time.monotonic()
        with turns.together():
            waits.append(time.monotonic() - begun)
    assert waits[0] >= 0.8 > min(waits[1:])
    os.close(holder)
    turns.close()
