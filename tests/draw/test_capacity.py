"""How many samples an engine has in flight: what fits, and growth for a server of unknown size."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from genbench.draw.capacity import (
    QUEUED,
    Capacity,
    FinishRate,
    Growth,
    InFlightLength,
    Unfinished,
    assumed_length,
    expected_lengths,
)
from genbench.draw.draw_queue import Draw, Lengths
from genbench.protocols import Engine
from genbench.suite.suitefile import read_suite
from genbench.tasks.loading import load_task
from genbench.types import Completion, Request, SampleId
from tests.table import each_row

SUITE = """\
models: {m: {path: nowhere}}
decoding: {max_tokens: 1000}
tasks:
  - {name: t, kind: math, k: 4, data: {path: rows.jsonl, fields: {id: id, question: q, reference: r}}}
"""


@pytest.fixture
def draw(tmp_path: Path) -> Draw:
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "rows.jsonl").write_text(json.dumps({"id": "a", "q": "?", "r": "1"}))
    suite = read_suite(tmp_path / "suite.yaml")
    task = load_task(suite, suite.config.tasks[0], None, None)
    return Draw(task, task.problems[0], 0)


class Sized(Engine):
    """An engine that tells the size of its KV cache."""

    kv_tokens: int | None = None

    def __init__(self, kv_tokens: int | None) -> None:
        self.kv_tokens = kv_tokens

    async def start(self) -> None: ...

    async def generate(self, request: Request, attempt: int) -> Completion:
        raise AssertionError

    async def close(self) -> None: ...


class Plain(Engine):
    """An engine that tells nothing of itself."""

    async def start(self) -> None: ...

    async def generate(self, request: Request, attempt: int) -> Completion:
        raise AssertionError

    async def close(self) -> None: ...


def completion(tokens: int | None, prompt: int | None = 40) -> Completion:
    return Completion(
        sample=SampleId("t", "a", 0),
        turn=0,
        seed=1,
        prompt_digest="d",
        text="x",
        finish_reason="stop",
        prompt_tokens=prompt,
        completion_tokens=tokens,
        trace_tokens=None,
        max_tokens=1000,
        attempt=1,
        seconds=1.0,
        trace_opened=False,
    )


def test_equal_lengths_are_half_done_on_average() -> None:
    lengths = InFlightLength()
    for _ in range(32):
        lengths.add(10, 1000)
    assert lengths.mean == pytest.approx(510)


def test_long_samples_are_in_flight_for_longer() -> None:
    """Half of the samples have 100 tokens and half 1,900: E[L^2] / 2 E[L] = 905, not 500."""
    lengths = InFlightLength()
    for _ in range(16):
        lengths.add(0, 100)
        lengths.add(0, 1900)
    assert lengths.mean == pytest.approx((100**2 + 1900**2) / 2 / (2 * 1000))


def test_nothing_is_estimated_from_a_few_samples() -> None:
    lengths = InFlightLength()
    for _ in range(31):
        lengths.add(0, 1000)
    assert lengths.mean is None
    lengths.add(0, 1000)
    assert lengths.mean == pytest.approx(500)


def test_a_stored_run_counts_until_enough_samples_are_finished() -> None:
    lengths = InFlightLength([2000.0] * 3)
    assert lengths.mean == pytest.approx(1000)
    for _ in range(32):
        lengths.add(0, 400)
    assert lengths.mean == pytest.approx(200)


def test_only_the_last_samples_count() -> None:
    lengths = InFlightLength()
    for _ in range(256):
        lengths.add(0, 30_000)
    for _ in range(256):
        lengths.add(0, 100)
    assert lengths.mean == pytest.approx(50)


def test_empty_completions_tell_nothing() -> None:
    lengths = InFlightLength()
    for _ in range(40):
        lengths.add(5, 0)
    assert lengths.mean is None


def test_what_fits_into_the_cache_bounds_the_engine(draw: Draw) -> None:
    limit = Capacity(most=256)
    assert limit.of(Sized(50_000)) == 256
    for _ in range(32):
        limit.note(draw, completion(1000))
    # A sample has 500 tokens in flight and a quarter of the prompt of 40, which its four samples share.
    assert limit.of(Sized(51_000)) == 100 + QUEUED
    assert limit.of(Sized(10**9)) == 256
    assert limit.of(Sized(None)) == limit.of(Plain()) == 256


def test_samples_wait_for_slots_and_not_for_a_full_cache(draw: Draw) -> None:
    limit = Capacity(most=200, slots=100, lengths=InFlightLength([1000.0]))
    assert limit.of(Plain()) == limit.of(Sized(50_000)) == 200
    assert limit.of(Sized(50_000), 30) == 130
    assert limit.of(Sized(49_000), 30) == limit.of(Sized(49_000)) == 98 + QUEUED


@pytest.fixture
def hundred_a_second() -> FinishRate:
    """An engine that has finished a hundred samples a second until second 10."""
    rate = FinishRate()
    for place in range(1000):
        rate.add((place + 1) / 100)
    return rate


@each_row(
    "queued, engines, seconds_later, wanted",
    [
        (10_000, 2, 0.0, 101),
        (100, 2, 0.0, 50),
        (480, 8, 0.0, 60),
        (0, 2, 0.0, 32),
        (10_000, 2, 10.0, 32),
        (10_000, 1, 0.0, None),
    ],
)
def test_what_waits_follows_what_an_engine_finishes_and_its_part_of_the_queue(
    queued: int, engines: int, seconds_later: float, wanted: int | None, hundred_a_second: FinishRate
) -> None:
    limit = Capacity(most=512, slots=256)
    assert limit.waiting(hundred_a_second.of(10.0 + seconds_later), queued, engines) == wanted


def test_an_engine_of_unknown_slots_has_as_many_requests_as_it_takes() -> None:
    assert Capacity(most=64).waiting(100.0, 10_000, 2) is None


def test_an_engine_gets_at_least_one_sample(draw: Draw) -> None:
    limit = Capacity(most=0)
    assert limit.of(Plain()) == 1


def test_completions_without_counts_change_nothing(draw: Draw) -> None:
    limit = Capacity(most=8, growth=Growth(2, 8))
    for _ in range(50):
        limit.note(draw, completion(None, None))
    assert limit.lengths.mean is None and limit.of(Plain()) == 2


def test_expected_lengths_are_those_of_the_stored_run(draw: Draw) -> None:
    stored = Lengths(Path("run"), "id", "m", {"t": {"a": 70.0}})
    assert expected_lengths([draw, replace(draw, sample_index=1)], stored) == [70.0, 70.0]
    assert expected_lengths([draw], None) == []


class Server:
    """A server whose throughput grows with the requests in flight up to `slots`."""

    def __init__(self, slots: int, growth: Growth) -> None:
        self.slots, self.growth, self.now = slots, growth, 0.0

    def serve(self, completions: int) -> None:
        for _ in range(completions):
            self.now += 1 / min(self.growth.size, self.slots)
            self.growth.add(100)


def grown(slots: int, first: int = 64, most: int = 4096, completions: int = 60_000) -> int:
    clock = [0.0]
    growth = Growth(first, most, seconds=1.0, clock=lambda: clock[0])
    server = Server(slots, growth)
    for _ in range(completions):
        server.serve(1)
        clock[0] = server.now
    return growth.size


@pytest.mark.parametrize(("slots", "size"), [(40, 64), (64, 64), (300, 512), (1000, 1024), (100_000, 4096)])
def test_requests_in_flight_grow_while_throughput_does(slots: int, size: int) -> None:
    assert grown(slots) == size


def test_a_given_number_does_not_grow() -> None:
    assert grown(100_000, first=16, most=16) == 16


def test_a_size_is_measured_for_a_while_before_it_changes() -> None:
    clock = [0.0]
    growth = Growth(4, 64, seconds=10.0, clock=lambda: clock[0])
    for _ in range(100):
        growth.add(1)
    assert growth.size == 4  # many completions, and no time has passed
    clock[0] = 10.0
    growth.add(1)
    assert growth.size == 8
    for _ in range(3):
        clock[0] += 100
        growth.add(1)
    assert growth.size == 8  # much time, and fewer completions than twice the size


def test_without_any_finished_sample_a_share_of_max_tokens_is_assumed(draw: Draw) -> None:
    assumed = assumed_length([draw])
    assert assumed == 0.15 * draw.task.decoding.max_tokens
    limit = Capacity(most=256, lengths=InFlightLength((), assumed))
    assert limit.of(Sized(int(10 * assumed))) == 10 + QUEUED
    assert assumed_length([]) is None


def test_what_is_in_flight_makes_up_for_the_short_samples_that_end_first(draw: Draw) -> None:
    """A hundred samples of exponential length begin together. The mean of the first 20 is far too small."""
    lengths = sorted(-1000 * math.log(1 - (place + 0.5) / 100) for place in range(100))
    ids = [SampleId("t", "a", place) for place in range(100)]
    unfinished, now = Unfinished(), lengths[19]
    for sample in ids:
        unfinished.begin(sample, 0.0)
    for sample, length in zip(ids[:20], lengths[:20], strict=True):
        unfinished.end(sample, length, finished=True)
    seen = sum(lengths[:20]) / 20
    assert seen < 150
    assert 600 < seen * unfinished.factor(now) < 1000


def test_a_sample_that_was_taken_back_does_not_count_as_finished() -> None:
    unfinished = Unfinished()
    for place in range(3):
        unfinished.begin(SampleId("t", "a", place), 0.0)
    unfinished.end(SampleId("t", "a", 0), 5.0, finished=False)
    assert unfinished.factor(10.0) == 1.0


def test_with_more_finished_than_in_flight_the_window_decides() -> None:
    unfinished = Unfinished()
    for place in range(5):
        unfinished.begin(SampleId("t", "a", place), 0.0)
    for place in range(3):
        unfinished.end(SampleId("t", "a", place), 1.0, finished=True)
    assert unfinished.factor(100.0) == 1.0
