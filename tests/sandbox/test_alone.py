"""Turns on the machine: many together, or one alone."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from genbench.sandbox.alone import Turns


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


def test_a_lock_that_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").touch()
    for name in ("gate", "floor"):
        (tmp_path / f"genbench-sandbox-{os.getuid()}.{name}").symlink_to(tmp_path / "elsewhere")
    turns = Turns(tmp_path)
    with turns.alone(5.0):
        pass
    turns.close()
