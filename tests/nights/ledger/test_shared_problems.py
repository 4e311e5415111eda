"""Tasks whose problems changed a little: their series and their base stay if 95 % are common."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from genbench.errors import InputError
from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.differences import CommonProblems, KeyProblems, alike_keys, read_problems, spread
from genbench.nights.ledger.history import track_history
from genbench.nights.ledger.ingest import add, rebuild
from genbench.nights.ledger.run_facts import read_facts
from genbench.nights.ledger.vectors import Vector
from genbench.nights.trend.detect import aligned_tasks
from genbench.store.sums import asked_digests
from tests.nights.ledger.equality import all_rows
from tests.nights.ledger.synthetic import flat, make_run


def key(*names: str, digest: str = "a", terms: str = "t") -> KeyProblems:
    """Return a key with problems of these names. What is asked follows a colon, if it is another text."""
    ids, asked = zip(*((name.partition(":")[0], name) for name in names), strict=True)
    return KeyProblems(digest, "math", terms, ids, None, asked)


NAMES = tuple(f"p{number}" for number in range(40))


def test_common_problems_are_those_with_equal_ids_and_questions() -> None:
    newest = key(*NAMES)
    other = key("new", *NAMES[39:0:-1], digest="b")
    common = CommonProblems(newest)
    assert common.take(other)
    assert common.ids == NAMES[1:]
    assert other.ids[common.places_in(other)[0]] == "p1"  # type: ignore[index]
    edited = key(*(f"{name}:edited" if name == "p7" else name for name in NAMES), digest="c")
    assert common.take(edited)
    assert common.count == 38
    assert "p7" not in common.ids


def test_a_key_of_the_same_data_is_taken_even_if_it_does_not_tell_what_was_asked() -> None:
    common = CommonProblems(key(*NAMES))
    assert common.take(replace(key(*NAMES), asked=None)) and common.count == 40


@pytest.mark.parametrize(
    "other",
    [
        key(*NAMES[3:], digest="b"),
        key(*NAMES, "x", "y", "z", digest="b"),
        key(*NAMES[1:], digest="b", terms="another temperature"),
        replace(key(*NAMES, digest="b"), asked=None),
    ],
    ids=["fewer", "more", "other terms", "an older version"],
)
def test_too_few_common_problems_or_other_terms_are_not_compared(other: KeyProblems) -> None:
    common = CommonProblems(key(*NAMES))
    assert not common.take(other)
    assert common.count == 40


def test_small_losses_do_not_add_up_to_a_large_one() -> None:
    common = CommonProblems(key(*NAMES))
    assert common.take(key(*NAMES[2:], digest="b"))
    assert not common.take(key(*NAMES[:-1], digest="c"))


def test_sums_are_put_into_the_order_of_the_other_key() -> None:
    sums = np.arange(39, dtype=np.float64)
    source, target = key(*NAMES[:0:-1], digest="b"), key(*NAMES)
    moved, shared = spread(Vector(sums, np.full(39, 2), sums), source, target)
    assert moved.sums.tolist() == [0.0, *range(38, -1, -1)]
    assert moved.counts.tolist() == [0] + [2] * 39
    assert shared.tolist() == [False] + [True] * 39


@pytest.fixture
def changed(ledger: Ledger, tmp_path: Path) -> Ledger:
    """A base and two nights with 100 problems, then nights with 98 of them, then one with 80."""
    runs = tmp_path / "runs"
    make_run(runs / "base", {"math": flat(100, 2, seed=1)}, role="anchor", model="base", position=20_000)
    for number, n in enumerate((100, 100, 98, 98, 80)):
        make_run(runs / f"n{number}", {"math": flat(n, 2, seed=number)}, position=20_000 + number)
    add(ledger, [runs])
    return ledger


def test_a_series_goes_on_over_common_problems_and_breaks_if_these_are_few(changed: Ledger) -> None:
    series = track_history(changed, "nightly").series["math"]
    first, second = series.epochs
    assert (len(first.uids), len(first.problem_ids)) == (4, 98)
    assert first.sums[0].tolist() == [sum(row) for row in flat(100, 2, seed=0)[:98]]
    assert first.base_sums is not None
    assert first.base_sums.tolist() == [sum(row) for row in flat(100, 2, seed=1)[:98]]
    assert (len(second.problem_ids), second.base_sums) == (80, None)
    assert len(set(series.keys)) == 3  # the page still marks the night on which the problems changed


def test_the_difference_to_base_is_that_of_the_common_problems(changed: Ledger) -> None:
    series = track_history(changed, "nightly").series["math"]
    own, base = np.array(flat(98, 2, seed=2)), np.array(flat(100, 2, seed=1)[:98])
    assert series.difference[2] == pytest.approx(own.mean() - base.mean())
    assert np.isnan(series.difference[4])


def test_the_order_of_adding_makes_no_difference(changed: Ledger, tmp_path: Path) -> None:
    wanted = all_rows(changed)
    rebuild(changed)
    assert all_rows(changed) == wanted


@pytest.mark.slow
def test_an_anchor_under_a_like_key_gives_the_others_their_base(ledger: Ledger, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    make_run(runs / "base", {"math": flat(10, 2)}, role="anchor", model="base", position=20_000)
    make_run(runs / "night", {"math": flat(98, 2)}, position=20_001)
    add(ledger, [runs])
    assert np.isnan(track_history(ledger, "nightly").series["math"].difference).all()
    add(
        ledger,
        [make_run(runs / "again", {"math": flat(100, 2)}, role="anchor", model="base", position=20_002)],
    )
    assert track_history(ledger, "nightly").series["math"].difference.tolist() == [0.0]


def test_nights_before_and_after_are_aligned_by_problem(changed: Ledger) -> None:
    values = aligned_tasks(track_history(changed, "nightly"))["math"].values
    assert values.shape == (5, 80)
    assert np.isnan(values[:4]).all()  # without a base under the newest key, older epochs cannot be joined


def test_keys_of_the_ledger_name_what_each_problem_asks(changed: Ledger, tmp_path: Path) -> None:
    facts = read_facts(tmp_path / "runs" / "n2").tasks["math"]
    with changed.read() as connection:
        problems = read_problems(connection, [1, 2, 3])
        assert alike_keys(connection, [2]) == [1, 2]
        assert alike_keys(connection, [3]) == [3]
    assert problems[2].asked == facts.asked
    assert len(problems[1].ids) == 100
    assert problems[1].terms == problems[3].terms


def test_digests_of_problems_differ_by_prompt_and_reference() -> None:
    lines = [{"prompt_digest": "a", "reference_digest": "b"}, {"prompt_digest": "a", "reference_digest": "c"}]
    first, second = asked_digests(lines)
    assert first != second
    assert asked_digests(lines[:1]) == (first,)


def test_a_track_that_is_not_there_is_still_refused(changed: Ledger) -> None:
    with pytest.raises(InputError, match="no track"):
        track_history(changed, "other")
