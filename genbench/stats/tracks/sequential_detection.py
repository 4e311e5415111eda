"""A walk along a track that opens a change when the evidence passes a threshold, and closes it again."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from genbench.stats.scores import Bools, Floats, Ints
from genbench.stats.tracks.changepoints import (
    HISTORY,
    MIN_HISTORY,
    NOISE_NIGHTS,
    PRIOR_NIGHTS,
    STRETCHES,
    WINDOWS,
    SplitTests,
    TaskNights,
    lasting_variance,
    night_variances,
    pooled_tests,
    with_night_noise,
)

Direction = Literal["drop", "rise"]
ChangeState = Literal["open", "explained", "dismissed", "recovered"]
FADED = 2.0
"""A change whose nights together no longer reach this z against the nights before is closed."""
SUSPECT_MARGIN = 2.0
"""Splits whose z^2 is within this of the best are possible first nights of a change."""
PLACE_MARGIN = 4.0
"""A change is placed at a split whose z^2 is within this of the best. Its z stays well above 2."""
RECENT = 14
"""After a rise, the stretch before a possible drop has only this many nights."""
MOVED = 4.0
"""A rise is one of the last RECENT nights whose z against the nights before them is at least this."""
_AHEAD = 64


@dataclass(frozen=True, slots=True)
class DetectedChange:
    """A change of one series. Nights are indices of the track.

    `first` is the first night after the change and `last_before` the night before it. `found` is the night
    at which z passed the threshold, and `z` is the largest over all places. `size` is after minus before, as
    a fraction of 1, and `interval` its 95 % paired interval. The place was searched for, so `size` is too
    large on average.
    `suspects` are the nights at which the change may have begun. `closed` is the newest night when the state
    left "open".
    """

    direction: Direction
    first: int
    last_before: int
    found: int
    z: float
    threshold: float
    size: float
    interval: tuple[float, float]
    suspects: tuple[int, ...]
    state: ChangeState = "open"
    closed: int | None = None


class NightTests:
    """Tests over the nights of one series that have values, made when they are first asked for.

    The walks for drops and for rises over the same values share them.

    Args:
        values: problem means of each task of the series, (nights, problems), see `TaskNights`. Several tasks
            are pooled.
        groups: the cluster of each problem, by task.
        nights: only these nights. None means all that have a value.
        threshold: the z value that opens a change. Smaller ones of the windows are not exact.
    """

    def __init__(
        self,
        values: Sequence[Floats],
        groups: Sequence[Sequence[str | None] | None] | None = None,
        nights: Sequence[int] | None = None,
        threshold: float = 0.0,
    ) -> None:
        self.values, self.groups = values, groups or [None] * len(values)
        self._threshold = threshold
        if nights is None:
            usable = ~np.isnan(values[0]).all(axis=1)
            for own in values[1:]:
                usable |= ~np.isnan(own).all(axis=1)
            nights = np.flatnonzero(usable).tolist()
        self.nights = tuple(nights)
        rows = np.array(nights, dtype=np.int64)
        self._tasks = [
            TaskNights(own if len(rows) == len(own) else own[rows], clusters)
            for own, clusters in zip(values, self.groups, strict=True)
        ]
        self._windows: dict[int, Floats] = {}
        self._most: dict[int, tuple[float, float]] = {}
        self._steps = np.full((2, max(0, len(rows) - 1)), np.nan)
        self._own = np.full(len(rows), np.nan)
        self._moved = np.full(len(rows) + 1, np.nan)
        self._stretches = {length: np.full((2, len(rows) + 1), np.nan) for length in STRETCHES}
        self._lasting: dict[tuple[int, int], float] = {}

    def of(self, nights: Sequence[int]) -> NightTests:
        """Return tests of the same values over these nights only."""
        return NightTests(self.values, self.groups, nights, self._threshold)

    def tests(
        self, splits: Ints, ends: Ints, oldest: int = 0, *, sign: float = 0.0, least: float = 0.0
    ) -> SplitTests:
        """Test the nights from each split to its end against those before it, see `lows`.

        The errors contain the noise of the nights themselves, as far as it is known at the end.

        Args:
            oldest: see `lows`.
            sign: see `lows`.
            least: a z whose size is below this need not be exact.
        """
        lows = self.lows(splits, oldest, sign)
        found = self._over_problems(lows, splits, ends)
        single = self._single_noise(splits - lows, ends - splits, ends)
        tests = with_night_noise(found, [single], least=least)
        far = np.abs(np.nan_to_num(tests.z)) >= least
        if not far.any():  # noise that lasts makes z smaller, so it is only estimated where z is large
            return tests
        lasting = self._lasting_noise(splits - lows, ends - splits, np.where(far, splits, 0))
        return with_night_noise(found, [single, lasting], least=least)

    def lows(self, splits: Ints, oldest: int = 0, sign: float = 0.0) -> Ints:
        """Return the first night of the stretch before each split: of up to HISTORY nights.

        On a track that rises, the mean of 60 nights lies far below the newest level. A drop from that level
        is not below the mean. So after a rise the stretch has RECENT nights.

        Args:
            oldest: no earlier night.
            sign: -1 if a drop is looked for, and 1 for a rise, of which the same is mirrored. 0 is neither.
        """
        lows = np.maximum(splits - HISTORY, oldest)
        if not sign:
            return lows
        return np.where(sign * self._moved_before(splits) <= -MOVED, splits - RECENT, lows)

    @property
    def night_variance(self) -> float:
        """What nights vary by themselves, as it is known at the newest night. See `night_variances`."""
        return float(self._night_variances(np.array([len(self.nights)]))[0]) if self.nights else 0.0

    def _moved_before(self, splits: Ints) -> Floats:
        """Return z of the last RECENT nights before each split minus those before them, 0 if it has none."""
        ends = np.unique(splits[np.isnan(self._moved[splits])])
        self._moved[ends] = 0.0
        ends = ends[ends >= RECENT + MIN_HISTORY]
        if len(ends):
            middles, lows = ends - RECENT, np.maximum(ends - HISTORY, 0)
            found = self._over_problems(lows, middles, ends)
            single = self._single_noise(middles - lows, ends - middles, ends)
            self._moved[ends] = np.nan_to_num(with_night_noise(found, [single], least=MOVED).z)
        return self._moved[splits]

    def _single_noise(self, before: Ints, after: Ints, ends: Ints) -> tuple[Floats, Floats]:
        """Return what the noise of single nights adds to a difference of stretches of so many nights.

        Successive differences of n nights have 2/3 n degrees of freedom (von Neumann 1941), and the nights of
        the prior count.
        """
        nights = np.minimum(ends - 1, NOISE_NIGHTS) + PRIOR_NIGHTS
        return self._night_variances(ends) * (1 / after + 1 / before), 2 / 3 * nights

    def _lasting_noise(self, before: Ints, after: Ints, splits: Ints) -> tuple[Floats, Floats]:
        """Return what noise that lasts adds to such a difference, see `lasting_variance`.

        It is known from the nights before each split, so that a change is not taken for noise. The length of
        stretches that shows most of it counts. A mean over fewer nights varies at least as much.
        """
        found, dof = np.zeros(len(splits)), np.ones(len(splits))
        for length in STRETCHES:
            own = np.array([self._lasting_variance(length, split) for split in splits.tolist()])
            added = own * (np.minimum(1, length / after) + np.minimum(1, length / before))
            dof = np.where(added > found, np.minimum(splits, NOISE_NIGHTS) / length, dof)
            found = np.maximum(found, added)
        return found, dof

    def _lasting_variance(self, length: int, split: int) -> float:
        """Return what noise that lasts adds to a mean over `length` nights, as it is known before a split."""
        oldest = max(0, split - NOISE_NIGHTS)
        if split - oldest < 3 * length:
            return 0.0
        if (length, split) not in self._lasting:
            ends = np.arange(oldest + 2 * length, split + 1)
            steps = self._stretches[length]
            missing = ends[np.isnan(steps[1, ends])]
            if len(missing):
                tests = self._over_problems(missing - 2 * length, missing - length, missing)
                steps[:, missing] = np.nan_to_num([tests.differences, tests.errors**2])
            single = 2 * float(self._night_variances(np.array([split]))[0]) / length
            self._lasting[length, split] = lasting_variance(steps[0, ends], steps[1, ends] + single, length)
        return self._lasting[length, split]

    def _night_variances(self, ends: Ints) -> Floats:
        """Return the variance of the nights themselves at the last night before each end."""
        first, last = int(ends.min(initial=len(self._own))), int(ends.max(initial=0))
        if np.isnan(self._own[first - 1 : last]).any():
            oldest = max(0, first - 1 - NOISE_NIGHTS)
            steps = self._steps[:, oldest : last - 1]
            missing = np.flatnonzero(np.isnan(steps[1]))
            if len(missing):
                own = oldest + missing
                tests = self._over_problems(own, own + 1, own + 2)
                steps[:, missing] = tests.differences, tests.errors**2
            self._own[first - 1 : last] = night_variances(steps[0], steps[1], first - 1 - oldest)
        return self._own[ends - 1]

    def _over_problems(self, lows: Ints, splits: Ints, ends: Ints) -> SplitTests:
        """Test nights [split, end) against nights [low, split) over the problems only. z is not exact."""
        found = [task.tests(lows, splits, ends, least=np.inf) for task in self._tasks]
        return found[0] if len(found) == 1 else pooled_tests(found, np.inf)

    def windows(self, place: int, sign: float) -> Floats:
        """Return z of each window that ends with a night, (windows,). NaN cannot be tested.

        Args:
            sign: -1 if a drop is looked for, and 1 for a rise.
        """
        if place not in self._windows:
            self._look_ahead(place)
        found: Floats = self._windows[place][int(sign > 0)]
        return found

    def most(self, place: int, sign: float) -> float:
        """Return the largest z of the windows in one direction. Minus infinity if none can be tested."""
        if place not in self._most:
            self._look_ahead(place)
        return self._most[place][sign > 0]

    def _look_ahead(self, place: int) -> None:
        """Test _AHEAD nights at a time: one call for many splits costs far less than many calls."""
        ends = np.arange(place + 1, min(place + _AHEAD, len(self.nights)) + 1)
        splits = ends[:, None] - np.array(WINDOWS)
        usable = splits >= MIN_HISTORY
        own, splits = np.broadcast_to(ends[:, None], splits.shape)[usable], splits[usable]
        z = np.full((2, *usable.shape), np.nan)
        z[:, usable] = self.tests(splits, own, least=self._threshold).z
        for row, sign in enumerate((-1.0, 1.0)):
            short = self.lows(splits, sign=sign) != self.lows(splits)
            if short.any():
                tests = self.tests(splits[short], own[short], sign=sign, least=self._threshold)
                z[row].ravel()[np.flatnonzero(usable)[short]] = tests.z
        drops = np.where(np.isnan(z[0]), -np.inf, -z[0]).max(axis=1).tolist()
        rises = np.where(np.isnan(z[1]), -np.inf, z[1]).max(axis=1).tolist()
        for at, pair in enumerate(zip(drops, rises, strict=True)):
            self._windows[place + at], self._most[place + at] = z[:, at], pair


def walk_changes(
    values: Sequence[Floats],
    *,
    threshold: float,
    direction: Direction = "drop",
    groups: Sequence[Sequence[str | None] | None] | None = None,
    known: Sequence[DetectedChange] = (),
    start: int = 0,
    tests: NightTests | None = None,
) -> list[DetectedChange]:
    """Return the changes of one series, in the order in which they were found.

    Every night is looked at as if it were the newest. While a change is open the series is quiet. A change is
    recovered when the level steps back, by a test at the same threshold, or when its nights together no
    longer differ from those before (z below 2). The nights of a change that was mended leave the history.
    After a change that is explained the history begins with it. After one that is dismissed nothing is cut.
    Later changes begin after the night of closing.

    Args:
        values: problem means of each task of the series, (nights, problems), see `TaskNights`. Several tasks
            are pooled.
        threshold: the z value to pass, see `alarm_threshold`.
        groups: the cluster of each problem, by task.
        known: changes that were found before. They are taken over as they are: opened on their night `found`
            and closed on their night `closed`. None is opened in their place between their night
            `last_before` and `found`, as nights that came later might ask for.
        start: the first night to look at. Earlier nights open and close nothing but what is known.
        tests: tests of these values and groups that another walk has made.
    """
    made = tests or NightTests(values, groups, threshold=threshold)
    return _Walk(made, threshold, direction, known).run(start)


class _Walk:
    """The state of a walk between two nights: usable nights, earliest new split, open and closed changes."""

    def __init__(
        self, tests: NightTests, threshold: float, direction: Direction, known: Sequence[DetectedChange]
    ) -> None:
        self._tests = tests
        self._threshold = threshold
        self._direction: Direction = direction
        self._sign = -1.0 if direction == "drop" else 1.0
        self._known = {change.found: change for change in known if change.direction == direction}
        self._usable: list[int] = []
        self._earliest = 0
        self._open: DetectedChange | None = None
        self._closed: list[DetectedChange] = []

    def run(self, start: int) -> list[DetectedChange]:
        """Walk over the nights, and return all changes."""
        nights = self._tests.nights
        for place, night in enumerate(nights):
            self._usable.append(night)
            closed = len(self._closed)
            if self._open is not None:
                self._look_at_open(self._open, night, replay=night < start)
            elif (known := self._known_between(nights[place - 1] if place else -1, night)) is not None:
                self._open = replace(known, state="open", closed=None)
            elif night >= start and not self._is_before_known(night):
                self._open = self._opening(night)
            if len(self._closed) > closed:
                self._tests = self._tests.of([*self._usable, *nights[place + 1 :]])
        opened = [] if self._open is None else [self._open]
        return sorted([*self._closed, *opened], key=lambda change: change.found)

    def _known_between(self, before: int, night: int) -> DetectedChange | None:
        """Return the known change that was found after `before` and up to a night, which may lack values."""
        if not self._known:
            return None
        return next((change for found, change in self._known.items() if before < found <= night), None)

    def _is_before_known(self, night: int) -> bool:
        """Return whether a known change has begun by a night, or may have, and is found after it."""
        return any(change.last_before < night < found for found, change in self._known.items())

    def _opening(self, night: int) -> DetectedChange | None:
        """Return the change that tonight's evidence opens, if any."""
        place = len(self._usable) - 1
        if self._tests.most(place, self._sign) < self._threshold:
            return None
        tonight = self._evidence(self._tests.windows(place, self._sign))
        fresh = len(self._usable) - self._splits(WINDOWS)
        if tonight[np.isin(WINDOWS, fresh)].max(initial=-np.inf) < self._threshold:
            return None
        splits = self._splits(range(1, max(WINDOWS) + 1))
        tests = self._test(splits)
        evidence = self._evidence(tests.z)
        best = int(np.argmax(evidence))
        behind = np.where(evidence > 0, evidence[best] ** 2 - evidence**2, np.inf)
        at = self._least_squares(splits, tests, behind <= PLACE_MARGIN)
        suspects = {self._usable[split] for split in splits[behind <= SUSPECT_MARGIN]}
        return DetectedChange(
            self._direction,
            first=self._usable[splits[at]],
            last_before=self._usable[splits[at] - 1],
            found=night,
            z=float(tests.z[best]),
            threshold=self._threshold,
            size=float(tests.differences[at]),
            interval=tests.interval(at),
            suspects=tuple(sorted(suspects | {self._usable[splits[at]]})),
        )

    def _least_squares(self, splits: Ints, tests: SplitTests, allowed: Bools) -> int:
        """Return which of the allowed splits leaves the smallest squares of the nights' means.

        Two levels, with n1 nights before and n2 nights after, explain n1 n2 / (n1 + n2) d^2 of the squares.
        z cannot place a change if nights hardly differ, as with equal seeds. It compares problems, and a
        stretch that begins too early shrinks each problem's difference and its error alike.
        """
        before = splits - self._tests.lows(splits, sign=self._sign)
        after = len(self._usable) - splits
        explained = before * after / (before + after) * tests.differences**2
        return int(np.argmax(np.where(allowed, explained, -np.inf)))

    def _splits(self, windows: Sequence[int]) -> Ints:
        """Return the places of the splits that may open a change: late enough, with enough nights before."""
        end = len(self._usable)
        places = np.array([end - window for window in windows if end - window >= MIN_HISTORY], dtype=np.int64)
        if self._earliest:
            places = places[np.array(self._usable)[places] >= self._earliest]
        return places

    def _test(self, splits: Ints, oldest: int = 0) -> SplitTests:
        """Test the usable nights from each split on against those before it, see `NightTests.lows`."""
        sign = 0.0 if oldest else self._sign
        return self._tests.tests(splits, np.full(len(splits), len(self._usable)), oldest, sign=sign)

    def _evidence(self, z: Floats) -> Floats:
        """Return z in the direction of the walk, and minus infinity if a split cannot be tested."""
        return np.asarray(np.nan_to_num(self._sign * z, nan=-np.inf))

    def _look_at_open(self, change: DetectedChange, night: int, *, replay: bool) -> None:
        """Close the open change if it is settled, mended or no longer supported."""
        known = self._known.get(change.found)
        if known is not None and known.closed is not None and known.closed <= night:
            self._close(replace(change, state=known.state, closed=night))
        elif not replay and (self._resumed(change) is not None or self._has_faded(change)):
            self._close(replace(change, state="recovered", closed=night))

    def _close(self, change: DetectedChange) -> None:
        """Move a change to the closed ones, and take out of the history what its state says."""
        at = self._place(change)
        resumed = self._resumed(change) if change.state == "recovered" else None
        if change.state == "explained":
            self._usable = self._usable[at:]
        elif resumed is not None:
            self._usable = self._usable[:at] + self._usable[resumed:]
        assert change.closed is not None
        self._earliest = change.closed + 1
        self._closed.append(change)
        self._open = None

    def _resumed(self, change: DetectedChange) -> int | None:
        """Return the place from which the level has stepped back since the change, if it has."""
        start, end = self._place(change), len(self._usable)
        splits = np.arange(max(start + 1, end - max(WINDOWS)), end)
        if not len(splits):
            return None
        evidence = np.nan_to_num(-self._sign * self._test(splits, start).z, nan=-np.inf)
        best = int(np.argmax(evidence))
        return int(splits[best]) if evidence[best] >= self._threshold else None

    def _has_faded(self, change: DetectedChange) -> bool:
        """Return whether the nights since the change together no longer differ from those before."""
        start = np.array([self._place(change)], dtype=np.int64)
        return bool(self._sign * self._test(start).z[0] < FADED)

    def _place(self, change: DetectedChange) -> int:
        """Return the place of the first usable night after a change."""
        return min(bisect_left(self._usable, change.first), len(self._usable) - 1)


def join_epochs(values: Sequence[Floats], bases: Sequence[Floats | None]) -> tuple[Floats, int]:
    """Return one series (nights, problems) over all epochs, and its first night.

    In several epochs a night's means are taken minus its epoch's base, problem by problem. So the error of
    each base enters every difference across epochs. One epoch stays as it is. An epoch without a base, or
    with other problems, cannot be joined with the newer ones: it and all older nights are left out.

    Args:
        values: problem means of each epoch, old to new, each (nights, problems).
        bases: problem means of the base under the terms of each epoch, (problems,), or None.
    """
    kept = len(values) - 1
    while kept > 0 and bases[kept] is not None and bases[kept - 1] is not None:
        if values[kept - 1].shape[1] != values[-1].shape[1]:
            break
        kept -= 1
    first = sum(len(epoch) for epoch in values[:kept])
    if kept == len(values) - 1:
        return values[-1], first
    pairs = zip(values[kept:], bases[kept:], strict=True)
    return np.concatenate([epoch - base for epoch, base in pairs if base is not None]), first
