"""The time left: against closed forms, and against simulated engines within a factor of two."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from itertools import count

import pytest

from genbench.draw.progress import TimeLeft, survival
from tests.table import each_row

Draw = Callable[[random.Random], float]
LENGTHS: dict[str, Draw] = {
    "alike": lambda rng: rng.gauss(1000, 20),
    "log-normal": lambda rng: min(rng.lognormvariate(6.9, 0.5), 8000),
    "exponential": lambda rng: min(rng.expovariate(1 / 1000), 16000),
    "a third reaches the limit": lambda rng: (
        16000 if rng.random() < 0.3 else min(rng.lognormvariate(8, 0.5), 16000)
    ),
}


def first_estimate(lengths: list[float], lanes: int, step_s: Callable[[int], float]) -> float:
    """Return the first estimate over what was left in truth. A step gives each running sample one token."""
    left, now, said = TimeLeft(len(lengths)), 0.0, None
    waiting, names = iter(lengths), count()
    running: dict[int, float] = {}

    def fill() -> None:
        while len(running) < lanes and (length := next(waiting, None)) is not None:
            running[name := next(names)] = max(length, 1.0)
            left.began(name, now)

    fill()
    while running:
        steps = min(running.values())
        now += steps * step_s(len(running))
        for name in list(running):
            running[name] -= steps
            if running[name] <= 1e-9:
                del running[name]
                left.ended(name, now)
        fill()
        if said is None and (found := left.seconds(now)) is not None:
            said = (now, found)
    assert said is not None
    return said[1] / (now - said[0])


@each_row("name", LENGTHS)
@each_row("steps", ["as long however many run", "longer the more run"])
def test_the_first_estimate_is_within_a_factor_of_two(name: str, steps: str) -> None:
    step_s = (lambda n: 0.01) if steps.startswith("as") else (lambda n: 0.001 * n)
    ratios = []
    for seed in range(3):
        rng = random.Random(seed)
        ratios.append(first_estimate([LENGTHS[name](rng) for _ in range(600)], 64, step_s))
    assert 0.5 <= sorted(ratios)[1] <= 2 and all(0.4 <= ratio <= 2.5 for ratio in ratios), ratios


def test_nothing_is_said_before_enough_samples_have_finished() -> None:
    left = TimeLeft(100)
    for name in range(50):
        left.began(name, 0.0)
    for name in range(24):
        left.ended(name, 10.0)
    assert left.seconds(10.0) is None and left.running == 26
    left.ended(24, 10.0)
    assert left.seconds(10.0) is not None


def test_a_sample_that_is_begun_again_is_counted_once() -> None:
    left = TimeLeft(4)
    for name in range(3):
        left.began(name, 0.0)
        left.began(name, 5.0)
        left.ended(name, 7.0)
    left.ended("never begun", 8.0)
    assert left.seconds(8.0) == pytest.approx(2.0)  # one waits, and each took 2 s
    left.began(3, 8.0)
    left.ended(3, 9.0)
    assert left.seconds(9.0) == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("running", [0, 1000])
def test_a_hundred_thousand_samples_give_the_estimate_of_all_their_durations(running: int) -> None:
    rng, waiting = random.Random(5), 100_000_000
    lengths = [rng.lognormvariate(0, 0.5) for _ in range(100_000)]
    ages = [2 * rng.random() for _ in range(running)]
    left, now = TimeLeft(len(lengths) + running + waiting), 0.0
    for name, length in enumerate(lengths):
        left.began(name, now)
        now += length
        left.ended(name, now)
    for name, age in enumerate(ages):
        left.began(f"running {name}", now - age)
    each = survival(lengths, ages).rest(0.0) if ages else sum(lengths) / len(lengths)
    assert left.seconds(now) == pytest.approx(waiting * each / max(running, 1), rel=0.03)


def test_the_durations_of_many_samples_take_less_than_a_tenth_of_a_megabyte() -> None:
    left = TimeLeft(200_000)
    for name in range(200_000):
        left.began(name, float(name))
        left.ended(name, name + 0.5)
    assert sum(map(sys.getsizeof, vars(left).values())) < 100_000


def test_without_censoring_the_curve_is_the_share_that_lasts_longer() -> None:
    curve = survival([1.0, 2.0, 3.0, 4.0], [])
    assert curve.shares == pytest.approx([0.75, 0.5, 0.25, 0.0])
    assert curve.rest(0.0) == pytest.approx(2.5)
    assert curve.rest(2.0) == pytest.approx(1.5)


def test_running_samples_lift_the_mean_above_that_of_the_finished() -> None:
    finished = [1.0, 1.2, 1.4]
    assert survival(finished, [1.5] * 7).rest(0.0) > 2 * survival(finished, []).rest(0.0)
    # Kaplan and Meier by hand: one end with 3 at risk, then one with 1 at risk.
    assert survival([1.0, 3.0], [2.0]).shares == pytest.approx([2 / 3, 0.0])


def course(lengths: list[int], lanes: int, limit: int) -> list[tuple[float, float | None]]:
    """Return the time that was left in truth and what was said, every 15 s. A step gives each a token."""
    left, now, ends = TimeLeft(len(lengths)), 0.0, iter(enumerate(lengths))
    running: dict[int, int] = {}
    said: list[tuple[float, float | None]] = []
    while True:
        while len(running) < lanes and (item := next(ends, None)) is not None:
            running[item[0]] = 0
            left.began(item[0], now, limit)
        if not running:
            return [(now - at, estimate) for at, estimate in said]
        now += 0.03 + 0.004 * len(running)  # as two CPU cores with a model of 135M parameters
        for name in list(running):
            running[name] += 1
            if running[name] >= lengths[name]:
                del running[name]
                left.ended(name, now)
        if not said or now >= said[-1][0] + 15:
            said.append((now, left.seconds(now, sum(running.values()))))


@each_row("share", [0.05, 0.3])
def test_replies_that_run_to_their_limit_are_not_said_to_end_at_once(share: float) -> None:
    rng = random.Random(1)
    lengths = [
        2048 if rng.random() < share else int(min(2048, rng.lognormvariate(5, 0.6))) for _ in range(64)
    ]
    late = [(true, said) for true, said in course(lengths, 16, 2048) if true > 20 and said is not None]
    # Without limits it said 24 s at 92 s before the end, and 106 s at 5 s before it.
    assert late and all(true / 2.6 <= said <= 2.6 * true for true, said in late)
