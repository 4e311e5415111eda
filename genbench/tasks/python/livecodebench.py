"""LiveCodeBench: contest problems with hidden tests, by release and contest date (Jain et al. 2024)."""

from __future__ import annotations

import calendar
import datetime
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from genbench.data.packed_tests import unpack
from genbench.errors import ConfigError, DataError, nearest
from genbench.protocols import Row
from genbench.sandbox.compare import check_tests
from genbench.sandbox.programs import Check
from genbench.tasks.base import RowProblems, SingleTurn
from genbench.tasks.page.task import built_in_info, built_in_page
from genbench.types import Ask, Message, Problem

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


_DEFAULT = "v4_v5"
_DATES = {"since": "from", "until": "to"}
"""Older names of the two dates."""

ERRATA = {
    "several right answers": [
        *("abc311_c", "abc326_d", "abc327_b", "abc333_e", "abc343_a", "abc343_e", "abc362_c", "arc185_c"),
        *("find-words-containing-character", "find-the-peaks"),
        "generate-binary-strings-without-adjacent-zeros",
    ],
    "interactive": ["abc337_e", "abc355_e"],
    "wrong tests": ["abc350_c", "apply-operations-to-make-string-empty", "most-frequent-ids", "arc189_a"],
}
"""Problems that the benchmark's own ERRATA.md lists, by what is wrong. They are scored all the same, and
form a stratum."""

_SYSTEM = (
    "You are an expert Python programmer. You will be given a question (problem specification) and will "
    "generate a correct Python program that matches the specification and passes all tests."
)
_WITH_STARTER = (
    "You will use the following starter code to write the solution to the problem and enclose your code "
    "within delimiters."
)
_WITHOUT_STARTER = (
    "Read the inputs from stdin solve the problem and write the answer to stdout (do not directly test on "
    "the sample inputs). Enclose your code within delimiters as follows. Ensure that when the python program "
    "runs, it reads the inputs, runs the algorithm and writes output to STDOUT."
)
_PROMPT = (
    "### Question:\n{question}\n\n### Format: {format}\n```python\n{code}\n```\n\n"
    "### Answer: (use the provided format with backticks)\n\n"
)
_LIMITS = {"wall_s": 6.0, "memory_mib": 4096}
"""Seconds of wall time, as in the official evaluator (parser.py:93). Its comment names 4 GB, which it does
not enforce."""


@dataclass(frozen=True, slots=True)
class LiveCodeBench(SingleTurn):
    """A release, cut to a window of contest dates."""

    window: Window | None = None

    def read_rows(self, rows: Sequence[Row]) -> RowProblems:
        """Return the problems of the window.

        Raises:
            DataError: two rows have one id, a date cannot be read, or no row is in the window.
        """
        inside = [row for row in rows if self.window is None or self.window.has(_date(row))]
        if not inside:
            raise DataError(f"task livecodebench: no problem of {len(rows)} is in {self.window}")
        return SingleTurn.read_rows(self, inside)


def livecodebench(
    release: str | None = None, *, window: str | None = None, config: str | None = None, **dates: Any
) -> SingleTurn:
    """Return the task of one release of LiveCodeBench, or of a window of contest dates of it.

    Args:
        release: `release_v1` … `release_v6` have all problems up to then, `v1` … `v6` those that one added,
            `v4_v5` those of several. (release_v4 has 713 problems, v4 has 101.) Default: `v4_v5`.
        window: a window that reports use, such as `2410-2502`, instead of release and dates.
        config: the folder of a mirror, if it is not named like the release.
        dates: `from` and `to`, first and last contest date, YYYY-MM-DD or YYYY-MM. Both are inclusive.

    Raises:
        ConfigError: there is no such release, window or option, or a date is not valid.
    """
    given = {_DATES.get(name, name): value for name, value in dates.items()}
    for name in given:
        if name not in ("from", "to"):
            options = ("release", "from", "to", "window", "config")
            raise ConfigError(f"livecodebench: no option '{name}'{nearest(name, options)}")
    chosen = read_window(release, given.get("from"), given.get("to"), window, _DEFAULT)
    about = {
        "config": config or chosen.release,
        "rows": chosen.rows if config is None else None,
        "files": chosen.files,
    }
    dataset = built_in_page("livecodebench").page.hub.model_copy(update=about)
    info = built_in_info(
        "livecodebench",
        {"release": chosen.release, "window": _named(chosen)},
        asks_alike=True,
        version=_version(chosen),
        summary=f"LiveCodeBench {chosen}: contest problems with hidden tests",
        dataset=dataset,
        k=16,
        verifier="code",
        verifier_options={"mode": "lcb-compat"},
        metrics=("avg@k", "pass@k"),
    )
    return LiveCodeBench(info, _read, _pose, dataset.columns, chosen)


def _version(window: Window) -> str:
    """Return the version, which differs for every window, so that two of them are never compared."""
    dates = "" if window.is_whole else f"-{window.first or ''}..{window.last or ''}"
    return f"1{dates}" if window.release == _DEFAULT else f"1-{window.release}{dates}"


def _named(window: Window) -> str | bool:
    """Return which published scores belong to a window: those of its name, or of the whole release."""
    return window.name or not window.is_whole


def _date(row: Row) -> datetime.date:
    """Return the contest's day. Parquet has it as a time, JSON as ISO text."""
    value = row["contest_date"]
    if isinstance(value, datetime.datetime):
        return value.date()
    try:
        return datetime.datetime.fromisoformat(str(value)).date()
    except ValueError:
        raise DataError(f"livecodebench, problem {row['question_id']}: contest_date is {value!r}") from None


def _read(place: int, row: Row) -> Problem:
    problem_id = str(row["question_id"])
    try:
        fn_name = json.loads(row["metadata"]).get("func_name")
    except (ValueError, TypeError, AttributeError):
        raise DataError(f"livecodebench, problem {problem_id}: metadata is {row['metadata']!r}") from None
    _check_calls(problem_id, fn_name, row)
    kept = {
        "question": row["question_content"],
        "starter": row["starter_code"],
        "fn_name": fn_name,
        "public": row["public_test_cases"],
        "private": row["private_test_cases"],
    }
    strata = {"difficulty": str(row["difficulty"]), "platform": str(row["platform"])}
    return Problem("livecodebench", problem_id, kept, strata | {"errata": _erratum(row)})


def _check_calls(problem_id: str, fn_name: str | None, row: Row) -> None:
    """Raise DataError if a function's tests cannot be read. One such test would fail every program.

    Tests of programs that read and print are megabytes of text. They are not read here. The verifier
    unpacks them once before a run (CodeVerifier.check).
    """
    if not fn_name:
        return
    try:
        tests = unpack(row["public_test_cases"], row["private_test_cases"])
        check_tests("functional", [Check(given, wanted) for given, wanted in tests])
    except DataError as error:
        raise DataError(f"livecodebench, problem {problem_id}: {error}") from None


def _erratum(row: Row) -> str:
    """Return what the benchmark itself says is wrong with the problem. Sites use different ids."""
    names = {str(row["question_id"]), "-".join(re.findall(r"[a-z0-9]+", str(row["question_title"]).lower()))}
    return next((what for what, listed in ERRATA.items() if names & set(listed)), "none")


def _pose(problem: Problem, sample_index: int) -> Ask:
    row = problem.row
    text = _PROMPT.format(
        question=row["question"],
        format=_WITH_STARTER if row["starter"] else _WITHOUT_STARTER,
        code=row["starter"] or "# YOUR CODE HERE",
    )
    reference = {
        "kind": "functional" if row["fn_name"] else "stdio",
        "fn_name": row["fn_name"],
        "tests": {"public": row["public"], "private": row["private"]},
        "limits": _LIMITS,
    }
    return Ask((Message("system", _SYSTEM), Message("user", text)), reference)
