"""The walk along a track: when a change opens, where it is placed, and what closes it."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from genbench.stats.scores import Floats, Ints
from genbench.stats.tracks.changepoints import (
    MIN_HISTORY,
    WINDOWS,
    SplitTests,
    TaskNights,
    alarm_threshold,
    night_variances,
    pooled_tests,
)
from genbench.stats.tracks.sequential_detection import (
    RECENT,
    DetectedChange,
    Direction,
    NightTests,
    join_epochs,
    walk_changes,
)

H = alarm_threshold(6)


def line(losses: Floats, problems: int = 200, k: int = 8, seed: int = 1) -> Floats:
    """Return problem means of a redrawn checkpoint whose rates are lowered by a share of themselves."""
    rng = np.random.default_rng(seed)
    rates = rng.beta(0.8, 0.8, size=problems)
    return np.asarray(rng.binomial(k, rates * (1 - losses[:, None])) / k)


def dropped(nights: int, start: int, stop: int | None = None, share: float = 0.12, **how: int) -> Floats:
    losses = np.zeros(nights)
    losses[start:stop] = share
    return line(losses, **how)


def only(changes: list[DetectedChange]) -> DetectedChange:
    assert len(changes) == 1
    return changes[0]


def test_a_drop_is_found_at_its_first_night() -> None:
    change = only(walk_changes([dropped(60, 40)], threshold=H))
    assert (change.direction, change.first, change.last_before) == ("drop", 40, 39)
    assert 40 <= change.found <= 43
    assert change.z < -H
    assert (change.state, change.closed) == ("open", None)


def test_the_size_of_a_drop_is_after_minus_before_with_a_paired_interval() -> None:
    values = dropped(41, 40, share=0.3)
    change = only(walk_changes([values], threshold=H))
    assert change.size == pytest.approx(values[40].mean() - values[:40].mean())
    low, high = change.interval
    assert low < change.size < high < 0


@pytest.mark.parametrize("night", [0, 2])
def test_a_drop_at_equal_seeds_is_placed_on_its_first_night_with_its_whole_size(night: int) -> None:
    """Equal seeds: nights differ only by what the change does, and in one problem now and then."""
    values = np.tile(np.repeat([1.0, 0.5], [98, 2]), (14, 1))
    values[5, 0] = 0.5
    values[10:13, 20:48] = 0.0
    change = only(walk_changes([values[: 11 + night]], threshold=alarm_threshold(1)))
    assert (change.first, change.last_before, change.found) == (10, 9, 10)
    assert change.size == pytest.approx(-0.28, abs=0.001)
    assert change.interval[0] < -0.28 < change.interval[1] < 0
    assert 10 in change.suspects


def test_a_drop_at_equal_seeds_that_is_mended_is_recovered_in_that_night() -> None:
    values = np.ones((14, 100))
    values[10:13, 20:48] = 0.0
    change = only(walk_changes([values], threshold=alarm_threshold(1)))
    assert (change.first, change.state, change.closed) == (10, "recovered", 13)


def test_the_place_of_a_change_is_one_of_its_suspects() -> None:
    for seed in range(5):
        change = only(walk_changes([dropped(60, 40, share=0.1, seed=seed)], threshold=H))
        assert change.first in change.suspects


def test_a_line_without_a_change_has_none() -> None:
    assert walk_changes([line(np.zeros(200))], threshold=H) == []


def test_a_rise_is_the_mirror_image_of_a_drop() -> None:
    values = dropped(60, 40)
    drop = only(walk_changes([values], threshold=H))
    rise = only(walk_changes([1 - values], threshold=H, direction="rise"))
    assert (rise.first, rise.found) == (drop.first, drop.found)
    assert rise.size == pytest.approx(-drop.size)
    assert rise.z == pytest.approx(-drop.z)


def test_a_rise_is_no_drop() -> None:
    assert walk_changes([1 - dropped(60, 40, seed=2)], threshold=H, direction="drop") == []


def test_no_change_opens_before_seven_nights_of_history() -> None:
    assert walk_changes([dropped(MIN_HISTORY, MIN_HISTORY - 1, share=0.5)], threshold=H) == []


def test_the_first_testable_night_can_open_a_change() -> None:
    values = dropped(MIN_HISTORY + 1, MIN_HISTORY, share=0.5)
    assert only(walk_changes([values], threshold=H)).found == MIN_HISTORY


def test_a_slow_bleed_is_found() -> None:
    losses = np.concatenate([np.zeros(40), np.linspace(0, 0.15, 40)])
    change = only(walk_changes([line(losses)], threshold=H))
    assert 40 < change.first <= change.found < 80


def test_a_mended_drop_is_recovered_on_the_night_that_shows_it() -> None:
    change = only(walk_changes([dropped(80, 40, 55, share=0.3)], threshold=H))
    assert change.state == "recovered"
    assert change.closed is not None
    assert 55 <= change.closed <= 57


def test_a_second_drop_after_a_recovery_is_a_second_change() -> None:
    losses = np.zeros(100)
    losses[40:50] = losses[70:] = 0.3
    first, second = walk_changes([line(losses)], threshold=H)
    assert (first.first, first.state) == (40, "recovered")
    assert (second.first, second.state) == (70, "open")


def test_nights_of_a_mended_drop_leave_the_history() -> None:
    losses = np.zeros(100)
    losses[40:70] = 0.3
    losses[80:] = 0.3
    values = line(losses)
    second = walk_changes([values], threshold=H)[1]
    calm = np.concatenate([values[second.first - 10 - 30 - 10 : 40], values[70:80]])
    assert second.size == pytest.approx(values[80 : second.found + 1].mean() - calm[-60:].mean(), abs=0.01)


def test_a_drop_that_stays_is_reported_once() -> None:
    assert only(walk_changes([dropped(300, 40, share=0.3)], threshold=H)).state == "open"


def test_a_change_whose_evidence_fades_is_closed() -> None:
    values = dropped(120, 40, 41, share=0.35)
    change = only(walk_changes([values], threshold=H))
    assert change.state == "recovered"
    assert change.closed is not None
    assert change.closed < 80


def test_an_explained_change_cuts_the_history_before_it() -> None:
    values = dropped(120, 40, share=0.3)
    open_change = only(walk_changes([values], threshold=H))
    explained = replace(open_change, state="explained", closed=50)
    changes = walk_changes([values], threshold=H, known=[explained])
    assert only(changes) == explained


def test_a_second_drop_below_an_explained_level_is_found() -> None:
    losses = np.zeros(120)
    losses[40:], losses[80:] = 0.2, 0.4
    values = line(losses)
    found = only(walk_changes([values[:60]], threshold=H))
    explained = replace(found, state="explained", closed=59)
    second = walk_changes([values], threshold=H, known=[explained])[1]
    assert second.first == 80


def test_a_dismissed_change_does_not_come_back_for_the_same_nights() -> None:
    values = dropped(60, 40, 47, share=0.3)
    found = only(walk_changes([values[:46]], threshold=H))
    dismissed = replace(found, state="dismissed", closed=46)
    assert only(walk_changes([values], threshold=H, known=[dismissed])) == dismissed


def test_a_note_holds_from_its_night_on() -> None:
    values = dropped(60, 40, share=0.3)
    found = only(walk_changes([values], threshold=H))
    late = replace(found, state="explained", closed=90)
    assert only(walk_changes([values], threshold=H, known=[late])).state == "open"


@pytest.mark.parametrize("direction", ["drop", "rise"])
def test_walking_night_by_night_finds_what_one_walk_finds(direction: Direction) -> None:
    losses = np.zeros(110)
    losses[30:45] = losses[70:90] = 0.25
    values = line(losses)
    at_once = walk_changes([values], threshold=H, direction=direction)
    known: list[DetectedChange] = []
    for night in range(len(values)):
        known = walk_changes(
            [values[: night + 1]], threshold=H, direction=direction, known=known, start=night
        )
    assert known == at_once


def test_known_changes_of_earlier_nights_are_taken_over() -> None:
    values = dropped(80, 40, share=0.3)
    found = only(walk_changes([values], threshold=H))
    assert walk_changes([values], threshold=H, known=[found], start=79) == [found]


def test_nights_before_the_start_open_nothing() -> None:
    values = dropped(120, 20, 24, share=0.3)
    assert walk_changes([values], threshold=H)
    assert walk_changes([values], threshold=H, start=100) == []


def test_the_pooled_series_finds_what_no_task_shows_alone() -> None:
    tasks = [dropped(70, 40, share=0.05, seed=seed, problems=150) for seed in range(6)]
    pooled = only(walk_changes(tasks, threshold=H))
    waits = [walk_changes([task], threshold=H) for task in tasks]
    assert 40 <= pooled.found < min(changes[0].found if changes else 99 for changes in waits)


def test_tasks_of_a_pooled_series_may_miss_nights() -> None:
    tasks = [dropped(70, 40, share=0.2, seed=seed) for seed in (1, 2)]
    tasks[1][35:50] = np.nan
    change = only(walk_changes(tasks, threshold=H))
    assert 40 <= change.first <= change.found <= 44


def test_nights_without_any_value_are_passed_over() -> None:
    values = np.insert(dropped(60, 40, share=0.3), [10, 40], np.nan, axis=0)
    change = only(walk_changes([values], threshold=H))
    assert (change.first, change.last_before) == (42, 40)


def test_suspects_contain_the_first_night() -> None:
    change = only(walk_changes([dropped(60, 40, share=0.06)], threshold=H))
    assert change.first in change.suspects
    assert all(night <= change.found for night in change.suspects)


def test_clusters_that_move_together_are_weaker_evidence() -> None:
    rng = np.random.default_rng(0)
    passages = rng.normal(0, 0.15, size=(60, 10)).repeat(20, axis=1)
    values = np.clip(0.5 + passages, 0, 1)
    groups = [str(at // 20) for at in range(200)]
    splits = np.arange(MIN_HISTORY, 60)
    lows, ends = np.zeros_like(splits), splits + 1
    alone, together = (np.abs(TaskNights(values, own).tests(lows, splits, ends).z) for own in (None, groups))
    assert alone.max() > H > together.max()
    assert walk_changes([values], threshold=H, groups=[groups]) == []


def test_tasks_with_few_problems_open_nothing() -> None:
    assert walk_changes([dropped(60, 40, problems=15, share=0.9)], threshold=H) == []


def test_one_epoch_is_joined_as_it_is() -> None:
    values = line(np.zeros(10))
    joined, first = join_epochs([values], [None])
    assert first == 0
    np.testing.assert_array_equal(joined, values)


def test_epochs_are_joined_by_their_bases() -> None:
    old, new = line(np.zeros(20)), line(np.zeros(10), seed=2)
    bases = [old.mean(axis=0), new.mean(axis=0)]
    joined, first = join_epochs([old, new], bases)
    assert first == 0
    np.testing.assert_allclose(joined[20:], new - bases[1])


def test_a_jump_that_base_and_model_share_is_no_change() -> None:
    values = line(np.zeros(80))
    values[40:] *= 0.6
    base = line(np.zeros(80), seed=1)[0]
    assert walk_changes([values], threshold=H)
    joined, _ = join_epochs([values[:40], values[40:]], [base, base * 0.6])
    assert walk_changes([joined], threshold=H) == []


def test_a_drop_across_epochs_is_found() -> None:
    values = dropped(80, 45, share=0.3)
    base = line(np.zeros(60)).mean(axis=0)
    joined, _ = join_epochs([values[:40], values[40:]], [base, base])
    assert only(walk_changes([joined], threshold=H)).first == 45


def test_an_epoch_without_a_base_cannot_be_joined() -> None:
    values = line(np.zeros(40))
    base = values.mean(axis=0)
    joined, first = join_epochs([values[:10], values[10:25], values[25:]], [None, base, base])
    assert first == 10
    assert len(joined) == 30


def test_an_epoch_with_other_problems_cannot_be_joined() -> None:
    old, new = line(np.zeros(10), problems=50), line(np.zeros(10))
    joined, first = join_epochs([old, new], [old.mean(axis=0), new.mean(axis=0)])
    assert first == 10
    np.testing.assert_array_equal(joined, new)


def test_unchanged_lines_alarm_about_as_often_as_promised() -> None:
    """At h = 2.5 the law promises 5.5 alarms a year of one series: 27 in five years."""
    count = sum(
        len(walk_changes([line(np.zeros(365), problems=60, seed=seed)], threshold=2.5)) for seed in range(5)
    )
    assert 12 <= count <= 45


def test_a_known_change_whose_first_night_lost_its_values_is_kept() -> None:
    values = dropped(80, 40, share=0.3)
    found = only(walk_changes([values], threshold=H))
    values[found.first] = np.nan
    kept = only(walk_changes([values], threshold=H, known=[found], start=79))
    assert (kept.first, kept.state) == (found.first, "open") and 38 <= found.first <= 42


@pytest.mark.slow
def test_walks_in_both_directions_may_share_their_tests() -> None:
    losses = np.full(160, 0.3)
    losses[40:80], losses[120:] = 0.5, 0.1
    gap = line(losses, seed=4)
    gap[30] = np.nan
    for parts in ([line(losses)], [line(losses), line(losses, seed=3)], [gap]):
        shared, found = NightTests(parts, threshold=H), []
        for direction in get_args(Direction):
            alone = walk_changes(parts, threshold=H, direction=direction)
            found += walk_changes(parts, threshold=H, direction=direction, tests=shared)
            assert found[len(found) - len(alone) :] == alone
        assert {change.direction for change in found} == {"drop", "rise"}


def test_a_night_is_tested_once_for_both_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    own = TaskNights.tests

    def counted(task: TaskNights, lows: Ints, splits: Ints, ends: Ints, *, least: float = 0.0) -> SplitTests:
        asked.append(len(splits))
        return own(task, lows, splits, ends, least=least)

    monkeypatch.setattr(TaskNights, "tests", counted)
    quiet, least = [line(np.zeros(200))], 9.0
    shared = NightTests(quiet, threshold=least)
    for direction in get_args(Direction):
        assert walk_changes(quiet, threshold=least, direction=direction, tests=shared) == []
    steps = 199  # from each night to the next: the noise that nights have by themselves
    windows = sum(end - window >= MIN_HISTORY for end in range(1, 201) for window in WINDOWS)
    rises = sum(split >= RECENT + MIN_HISTORY for split in range(200))  # whether the level moved before
    assert sum(asked) == windows + steps + rises


def shifted(size: float, nights: int, seed: int) -> list[Floats]:
    """Return two tasks whose problems all move together each night, by a standard deviation of `size`."""
    rng = np.random.default_rng(seed)
    shifts = rng.normal(0, size, size=nights)
    rates = np.clip(rng.uniform(0.3, 0.7, size=(2, 1, 300)) + shifts[:, None], 0, 1)
    return list(np.asarray(rng.binomial(4, rates) / 4))


def test_nights_that_move_by_themselves_open_few_changes() -> None:
    """No test over problems has this noise: without it in the error these years have 7, 5 and 3 changes."""
    threshold = alarm_threshold(3)
    for seed in range(3):
        found = walk_changes(shifted(0.01, 365, seed), threshold=threshold)
        assert len(found) <= 1


def lasting(sd: float, nights: int, seed: int) -> Floats:
    """Return problem means with a common shift that keeps nine tenths of itself from night to night."""
    rng = np.random.default_rng(seed)
    shifts = rng.normal(0, sd, size=nights)
    for night in range(1, nights):
        shifts[night] = 0.9 * shifts[night - 1] + np.sqrt(1 - 0.9**2) * shifts[night]
    return np.asarray(0.5 + shifts[:, None] + rng.normal(0, 0.023, size=(nights, 60)))


def test_noise_that_lasts_opens_few_changes() -> None:
    """Without it in the error these three years have 20 changes."""
    assert sum(len(walk_changes([lasting(0.005, 365, seed)], threshold=H)) for seed in range(3)) <= 10


@pytest.mark.parametrize(
    ("rises", "falls"),
    [
        pytest.param(np.linspace(0, 0.2, 100), 0.04, id="0.2 points a night, then 4"),
        pytest.param(np.repeat([0.0, 0.08], [70, 30]), 0.04, id="8 points in one night, then 4"),
    ],
)
def test_a_fall_from_a_level_that_rose_is_found(rises: Floats, falls: float) -> None:
    level = np.concatenate([rises, np.full(5, rises[-1] - falls)])
    values = 0.4 + level[:, None] + np.random.default_rng(1).normal(0, 0.03, size=(105, 100))
    drop = only(walk_changes([values], threshold=H))
    assert (drop.first, drop.state) == (100, "open")
    assert drop.size == pytest.approx(-falls, abs=0.02)
    mirrored = only(walk_changes([1 - values], threshold=H, direction="rise"))
    assert mirrored.first == drop.first
    assert mirrored.size == pytest.approx(-drop.size)
    assert walk_changes([values], threshold=H, direction="rise")[0].first < 100


def test_the_noise_of_nights_is_estimated_and_no_later_night_is_in_it() -> None:
    values = shifted(0.02, 150, 0)
    whole = NightTests(values)
    # The prior of no noise takes 6 %, and 100 successive nights tell a variance to 17 %.
    assert 0.014 < whole.night_variance**0.5 < 0.023
    assert NightTests(shifted(0.0, 150, 7)).night_variance ** 0.5 < 0.004
    splits, ends = np.array([70, 75]), np.array([80, 80])
    early = NightTests(values, nights=range(80))
    assert whole.tests(splits, ends).errors == pytest.approx(early.tests(splits, ends).errors)
    assert early.night_variance == NightTests([part[:80] for part in values]).night_variance


def test_the_noise_of_nights_does_not_depend_on_which_nights_were_asked_for_first() -> None:
    """More than the 200 nights from which it is estimated, so that some are left out at the end."""
    values = shifted(0.01, 300, 4)
    steps = np.arange(299)
    moved = pooled_tests([TaskNights(part).tests(steps, steps + 1, steps + 2) for part in values])
    whole = night_variances(moved.differences, moved.errors**2)
    assert NightTests(values).night_variance == pytest.approx(whole[-1])
    tests = NightTests(values)
    for end in (290, 40, 250, 300):
        split = np.array([end - 5])
        plain = pooled_tests(
            [TaskNights(part).tests(np.maximum(split - 60, 0), split, split + 5) for part in values]
        )
        wider = tests.tests(split, split + 5).errors ** 2 - plain.errors**2
        assert wider == pytest.approx(whole[end - 1] * (1 / 5 + 1 / min(60, end - 5)))
