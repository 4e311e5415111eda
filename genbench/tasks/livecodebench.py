"""LiveCodeBench: contest problems with hidden tests, by release and contest date (Jain et al. 2024)."""

from __future__ import annotations

import calendar
import datetime
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from genbench.data.packed_tests import unpack
from genbench.errors import ConfigError, DataError, nearest
from genbench.protocols import HubDataset, Row, TaskInfo
from genbench.sandbox.programs import Check
from genbench.sandbox.readable import check_tests
from genbench.tasks.pagetask import page_facts
from genbench.tasks.single_turn import SingleTurn
from genbench.types import Ask, Message, Problem

_COLUMNS = (
    "question_title",
    "question_content",
    "platform",
    "question_id",
    "contest_date",
    "starter_code",
    "difficulty",
    "public_test_cases",
    "private_test_cases",
    "metadata",
)
_ADDED = (400, 111, 101, 101, 167, 175)
"""Problems that each release added to the one before, v1 to v6. Each increment is one file of the dataset."""

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
    """A release, cut to a window of contest dates. Both ends are inclusive. None means no limit."""

    window: tuple[datetime.date | None, datetime.date | None] = (None, None)

    def problems(self, rows: Sequence[Row]) -> list[Problem]:
        """Return the problems of the window.

        Raises:
            DataError: two rows have one id, a row cannot be read, or no row is in the window.
        """
        first, last = self.window
        inside = [row for row in rows if _is_between(_date(row), first, last)]
        if not inside:
            raise DataError(
                f"task livecodebench: no problem of {len(rows)} is of {first or '…'} to {last or '…'}"
            )
        return SingleTurn.problems(self, inside)


def livecodebench(
    release: str = "v4_v5", *, since: str | None = None, until: str | None = None, config: str | None = None
) -> SingleTurn:
    """Return the task of one release of LiveCodeBench, or of a window of contest dates of it.

    Args:
        release: `release_v1` … `release_v6` have all problems up to then, `v1` … `v6` those that one added,
            `v4_v5` those of several. (release_v4 has 713 problems, v4 has 101.)
        since, until: first and last contest date, YYYY-MM-DD or YYYY-MM. Both are inclusive.
        config: the folder of a mirror, if it is not named like the release.

    Raises:
        ConfigError: there is no such release, or a date is not valid.
    """
    first, last = _span(release)
    window = (_day(since, "since", last=False), _day(until, "until", last=True))
    files = tuple("test.jsonl" if number == 1 else f"test{number}.jsonl" for number in range(first, last + 1))
    info = TaskInfo(
        name="livecodebench",
        asks_alike=True,
        version="1",
        summary=f"LiveCodeBench {release}: contest problems with hidden tests",
        dataset=HubDataset(
            repo="livecodebench/code_generation_lite",
            config=config or release,
            split="test",
            columns=_COLUMNS,
            rows=sum(_ADDED[first - 1 : last]) if config is None else None,
            files=files,
        ),
        k=16,
        verifier="code",
        verifier_options={"mode": "lcb-compat"},
        **page_facts("livecodebench", {"release": release, "window": window != (None, None)}),
        metrics=("avg@k", "pass@k"),
    )
    return LiveCodeBench(info, _read, _pose, _COLUMNS, window)


def _span(release: str) -> tuple[int, int]:
    """Return the first and last increment of a release."""
    numbers = range(1, len(_ADDED) + 1)
    spans = {f"release_v{last}": (1, last) for last in numbers}
    spans |= {f"v{one}": (one, one) for one in numbers}
    spans |= {f"v{first}_v{last}": (first, last) for first in numbers for last in numbers if first < last}
    if release not in spans:
        raise ConfigError(f"livecodebench: release is '{release}'{nearest(release, spans)}")
    return spans[release]


def _day(text: str | None, name: str, *, last: bool) -> datetime.date | None:
    """Return a date, or the first or last day of a month."""
    if text is None:
        return None
    try:
        if re.fullmatch(r"\d{4}-\d{2}", text):
            month = datetime.date.fromisoformat(f"{text}-01")
            return month.replace(day=calendar.monthrange(month.year, month.month)[1] if last else 1)
        return datetime.date.fromisoformat(text)
    except (ValueError, TypeError):
        raise ConfigError(f"livecodebench: {name} is '{text}', no date like 2024-08 or 2024-08-31") from None


def _is_between(day: datetime.date, first: datetime.date | None, last: datetime.date | None) -> bool:
    return (first is None or first <= day) and (last is None or day <= last)


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
