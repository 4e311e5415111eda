"""Sums and counts of problems as blobs: nothing is lost, and damage is found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genbench.errors import InputError
from genbench.nights.ledger.vectors import Vector, pack, unpack, unpack_all

COUNTS = st.lists(st.integers(0, 70_000), max_size=40)


@settings(max_examples=30, deadline=None)
@given(COUNTS)
def test_whole_sums_and_counts_come_back_exactly(counts: list[int]) -> None:
    vector = Vector(np.array(counts, dtype=np.float64) // 2, np.array(counts, dtype=np.int64))
    again = unpack(pack(vector))
    assert np.array_equal(again.sums, vector.sums) and np.array_equal(again.counts, vector.counts)
    assert again.squares is None


def test_fractions_come_back_to_seven_digits_with_their_squares() -> None:
    sums = np.array([1 / 3, 2.5, 0.0])
    vector = Vector(sums, np.array([3, 4, 2]), sums**2)
    again = unpack(pack(vector))
    assert again.sums == pytest.approx(sums, abs=1e-7)
    assert again.squares == pytest.approx(sums**2, abs=1e-6)


def test_a_typical_task_takes_under_a_byte_for_each_problem() -> None:
    sums = np.random.default_rng(0).binomial(4, 0.6, 200).astype(np.float64)
    assert len(pack(Vector(sums, np.full(200, 4)))) < 120


def test_a_problem_without_samples_has_no_mean() -> None:
    means = Vector(np.array([1.0, 0.0]), np.array([2, 0])).means
    assert means[0] == 0.5 and np.isnan(means[1])


@pytest.mark.parametrize("data", [b"", b"text", pack(Vector(np.ones(9), np.arange(9)))[:-6]])
def test_damaged_bytes_are_an_error_with_the_remedy(data: bytes) -> None:
    with pytest.raises(InputError, match="genbench ledger rebuild"):
        unpack(data)


@pytest.mark.parametrize("what", ["alike", "another count", "other counts", "fractions", "squares", "one"])
def test_many_vectors_are_read_as_each_alone(what: str) -> None:
    rng = np.random.default_rng(1)
    vectors = [Vector(rng.integers(0, 5, 30).astype(np.float64), np.full(30, 4)) for _ in range(9)]
    if what == "another count":
        vectors[3] = Vector(vectors[3].sums, np.full(30, 6))
    elif what == "other counts":
        vectors[3] = Vector(vectors[3].sums, rng.integers(0, 5, 30))
    elif what == "fractions":
        vectors[3] = Vector(vectors[3].sums / 3, np.full(30, 4))
    elif what == "squares":
        vectors[3] = Vector(vectors[3].sums, np.full(30, 4), vectors[3].sums / 2)
    blobs = [pack(vector) for vector in vectors[: 1 if what == "one" else None]]
    sums, counts = unpack_all(blobs)
    for blob, own_sums, own_counts in zip(blobs, sums, counts, strict=True):
        alone = unpack(blob)
        assert own_sums.tolist() == alone.sums.tolist() and own_counts.tolist() == alone.counts.tolist()


def test_one_damaged_vector_among_many_is_an_error() -> None:
    whole = pack(Vector(np.zeros(3), np.ones(3, dtype=np.int64)))
    for damaged in (b"", whole[:-3], b"\x00" * 9):
        with pytest.raises(InputError, match="the ledger has a damaged row"):
            unpack_all([whole, damaged])
