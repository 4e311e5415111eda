"""Expected lengths from a stored run."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.draw.draw_queue import Lengths, read_lengths
from genbench.errors import InputError
from tests.ready_runs import RIGHT, MakeRun


@pytest.mark.slow
def test_lengths_are_the_mean_tokens_of_a_problems_samples(make_run: MakeRun) -> None:
    path = make_run("stored", lambda i: [RIGHT] * 4, n=3, extra={"completion_tokens": 40})
    found = read_lengths(path)
    assert found.tokens == {"sums": {"p00": 40.0, "p01": 40.0, "p02": 40.0}} and found.model == "m"
    assert found.of("sums", "p00", 100) == 40.0


def test_an_unknown_problem_counts_as_the_longest_and_none_exceeds_its_limit() -> None:
    lengths = Lengths(Path("run"), "id", "m", {"t": {"a": 500.0}})
    assert lengths.of("t", "b", 64) == 64.0 and lengths.of("u", "a", 64) == 64.0
    assert lengths.of("t", "a", 64) == 64.0 and lengths.of("t", "a", 1000) == 500.0


def test_equal_lengths_have_equal_records() -> None:
    first = Lengths(Path("run"), "id", "m", {"t": {"a": 1.01, "b": 2.0}})
    second = Lengths(Path("elsewhere"), "id", "m", {"t": {"b": 2.0, "a": 1.02}})
    assert first.record == second.record
    assert first.record != Lengths(Path("run"), "id", "m", {"t": {"a": 9.0}}).record


def test_a_run_whose_tokens_were_not_counted_is_refused(make_run: MakeRun) -> None:
    path = make_run("stored", lambda i: [RIGHT] * 4, n=3)
    with pytest.raises(InputError, match="no completion whose tokens were counted; name another run"):
        read_lengths(path)
