"""How many samples an engine has in flight: what fits, and growth for a server of unknown size."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from genbench.draw.capacity import QUEUED, Capacity, Growth, InFlightLength, expected_lengths
from genbench.draw.queue import Draw
from genbench.suite.suitefile import read_suite
from genbench.tasks.load import load_task
from genbench.types import Completion, Request, SampleId

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


class Sized:
    """An engine that tells the size of its KV cache."""

    def __init__(self, kv_tokens: int | None) -> None:
        self.kv_tokens = kv_tokens

    def has_begun(self, sample: SampleId) -> bool:
        return True

    async def start(self) -> None: ...

    async def generate(self, request: Request, attempt: int) -> Completion:
        raise AssertionError

    async def close(self) -> None: ...


class Plain:
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


def test_an_engine_gets_at_least_one_sample(draw: Draw) -> None:
    limit = Capacity(most=0)
    assert limit.of(Plain()) == 1


def test_completions_without_counts_change_nothing(draw: Draw) -> None:
    limit = Capacity(most=8, growth=Growth(2, 8))
    for _ in range(50):
        limit.note(draw, completion(None, None))
    assert limit.lengths.mean is None and limit.of(Plain()) == 2


def test_expected_lengths_are_those_of_the_stored_run(draw: Draw) -> None:
    class Stored:
        def of(self, task: str, problem_id: str, max_tokens: int) -> float:
            return min(70.0 if (task, problem_id) == ("t", "a") else 0.0, max_tokens)

    assert expected_lengths([draw, replace(draw, sample_index=1)], Stored()) == [70.0, 70.0]
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
