"""Releases of LiveCodeBench, windows of contest dates, and the windows that reports use by name."""

from __future__ import annotations

import calendar
import datetime
import re
from dataclasses import dataclass

from genbench.errors import ConfigError, nearest

ADDED = (400, 111, 101, 101, 167, 175)
"""Problems that each release added to the one before, v1 to v6. Each increment is one file of the dataset."""

Date = str | datetime.date
"""A date as a suite has it. YAML reads 2024-08-31 as a date already."""
_RELEASES = range(1, len(ADDED) + 1)


@dataclass(frozen=True, slots=True)
class Published:
    """A window that reports use: a release and its first and last month, with the number of problems."""

    release: str
    first: str
    last: str
    problems: int
    used_by: str


PUBLISHED: dict[str, Published] = {
    "2407-2412": Published("release_v5", "2024-07", "2024-12", 315, "Artificial Analysis, NeMo-Skills"),
    "2408-2501": Published("release_v5", "2024-08", "2025-01", 279, "DeepSeek-R1"),
    "2409-2501": Published("release_v5", "2024-09", "2025-01", 213, ""),
    "2410-2502": Published("release_v5", "2024-10", "2025-02", 166, "Qwen3, NeMo-Skills"),
    "v6_2408_2502": Published("release_v6", "2024-08", "2025-02", 374, "NeMo-Skills"),
    "v6_2410_2502": Published("release_v6", "2024-10", "2025-02", 261, "NeMo-Skills"),
    "v6_2410_2504": Published("release_v6", "2024-10", "2025-04", 341, "NeMo-Skills"),
}
"""Windows by name.

Those of release_v5 were counted on a submission of all 880 problems, whose last contest was on 2025-01-04.
Those of release_v6 are as NeMo-Skills states them."""


@dataclass(frozen=True, slots=True)
class Window:
    """A release, its increments, and the first and last contest date, both inclusive. None means no limit."""

    release: str
    increments: tuple[int, int]
    first: datetime.date | None
    last: datetime.date | None
    name: str | None = None
    """The name of a published window."""

    @property
    def is_whole(self) -> bool:
        """Return whether no date limits the release."""
        return self.first is None and self.last is None

    @property
    def rows(self) -> int:
        """Return how many rows the release has, before dates are looked at."""
        first, last = self.increments
        return sum(ADDED[first - 1 : last])

    @property
    def files(self) -> tuple[str, ...]:
        """Return the dataset's files of the release."""
        first, last = self.increments
        return tuple(
            "test.jsonl" if number == 1 else f"test{number}.jsonl" for number in range(first, last + 1)
        )

    def has(self, day: datetime.date) -> bool:
        """Return whether a contest of that day is inside."""
        return (self.first is None or self.first <= day) and (self.last is None or day <= self.last)

    def __str__(self) -> str:
        dates = "" if self.is_whole else f" from {self.first or 'the beginning'} to {self.last or 'the end'}"
        return f"{self.release}{dates}"


def read_window(
    release: str | None, first: Date | None, last: Date | None, name: str | None, default: str
) -> Window:
    """Return the window that a suite asks for.

    Args:
        release: `release_v1` … `release_v6`, `v1` … `v6`, or several such as `v4_v5`. None means the default,
        or
            that of the named window.
        first, last: YYYY-MM-DD or YYYY-MM.
        name: a published window, instead of the others.

    Raises:
        ConfigError: there is no such release or window, a date is not valid, or the last is before the first.
    """
    if name is not None:
        if name not in PUBLISHED:
            raise ConfigError(f"livecodebench: window is '{name}'{nearest(str(name), PUBLISHED)}")
        if release is not None or first is not None or last is not None:
            raise ConfigError(
                f"livecodebench: window '{name}' has its own release and dates; give only the window"
            )
        known = PUBLISHED[name]
        release, first, last = known.release, known.first, known.last
    release = default if release is None else release
    found = Window(
        release, _increments(release), _day(first, "from", last=False), _day(last, "to", last=True), name
    )
    if found.first is not None and found.last is not None and found.last < found.first:
        raise ConfigError(
            f"livecodebench: the window ends on {found.last}, before it begins on {found.first}"
        )
    return found


def _increments(release: str) -> tuple[int, int]:
    """Return the first and last increment of a release."""
    spans = {f"release_v{last}": (1, last) for last in _RELEASES}
    spans |= {f"v{one}": (one, one) for one in _RELEASES}
    spans |= {f"v{first}_v{last}": (first, last) for first in _RELEASES for last in _RELEASES if first < last}
    if release not in spans:
        raise ConfigError(f"livecodebench: release is '{release}'{nearest(str(release), spans)}")
    return spans[release]


def _day(text: Date | None, name: str, *, last: bool) -> datetime.date | None:
    """Return a date, or the first or last day of a month."""
    if text is None or isinstance(text, datetime.date):
        return text
    try:
        if re.fullmatch(r"\d{4}-\d{2}", text):
            month = datetime.date.fromisoformat(f"{text}-01")
            return month.replace(day=calendar.monthrange(month.year, month.month)[1] if last else 1)
        return datetime.date.fromisoformat(text)
    except (ValueError, TypeError):
        raise ConfigError(f"livecodebench: {name} is '{text}', no date like 2024-08 or 2024-08-31") from None
