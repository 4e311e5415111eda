"""Printing: what every command writes to stdout and stderr."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

if TYPE_CHECKING:
    from genbench.analysis.results.record import Results
    from genbench.json_record import JsonRecord
    from genbench.pipeline import RunReport
    from genbench.runs.execution.preflight import Check

P = ParamSpec("P")
RecordT = TypeVar("RecordT", bound="JsonRecord")


def command_line() -> str:
    """Return the command that the user typed, quoted for a shell."""
    return " ".join(["genbench", *(shlex.quote(argument) for argument in sys.argv[1:])])


def say_written(lines: Iterable[object], to_stderr: bool) -> None:
    """Print the paths that were written. Use stderr when stdout is reserved for JSON."""
    for line in lines:
        print(_safe(line), file=sys.stderr if to_stderr else sys.stdout)


def print_results(
    results: Mapping[str, Results], folders: Mapping[str, Path], as_json: bool, *, brief: bool = False
) -> None:
    """Print the results of each model as a table, or as JSON with the run folders.

    Args:
        brief: leave out what `genbench show` and the report say as well, so that a run ends on one screen.
    """
    from genbench.reports.terminal.run import run_table

    if as_json:
        models = {name: record.to_json() for name, record in results.items()}
        print_json({"folders": {name: str(path) for name, path in folders.items()}, "models": models})
    else:
        width = terminal_width()
        _print_text(run_table(results, folders, brief=brief, width=width))


def print_report(report: RunReport, as_json: bool) -> None:
    """Print the results of a run, then where its report is or why there is none."""
    print_results(report.results, report.folders, as_json, brief=True)
    if report.efforts is not None and not as_json:
        from genbench.reports.efforts import efforts_text

        _print_text(f"\n{efforts_text(report.efforts, width=terminal_width())}\n")
    say_written([*report.notes, *([f"report: {report.page}"] if report.page else [])], as_json)


def print_checks(checks: Sequence[Check], as_json: bool) -> None:
    """Print the findings of `check` or `doctor`, one per line, or as a JSON list."""
    if as_json:
        print_json(_check_records(checks))
    else:
        print_lines(str(item) for item in checks)


def print_suites_checked(found: Mapping[str, Sequence[Check]]) -> None:
    """Print the findings of `check` as a JSON list, or by suite if there are several."""
    if len(found) == 1:
        print_checks(next(iter(found.values())), as_json=True)
        return
    print_json({name: _check_records(checks) for name, checks in found.items()})


def _check_records(checks: Sequence[Check]) -> list[dict[str, str]]:
    return [{"state": item.state, "what": item.what, "detail": item.detail} for item in checks]


def print_record(
    record: RecordT,
    text: Callable[Concatenate[RecordT, P], str],
    as_json: bool,
    *args: P.args,
    **kwargs: P.kwargs,
) -> None:
    """Print a record as JSON, or as the text that a function makes of it.

    Args:
        args, kwargs: further arguments of the function that makes the text.
    """
    if as_json:
        print_json(record.to_json())
    else:
        _print_text(text(record, *args, **kwargs))


def terminal_width() -> int | None:
    """Return the columns of the terminal, or None if stdout is none: a file keeps its long lines."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _print_text(text: str) -> None:
    """Print a text. In a terminal long lines are broken between words."""
    from genbench.reports.table import folded

    width, safe = terminal_width(), _safe(text)
    print(safe if width is None else folded(safe, width))


def print_json(record: Any) -> None:
    """Print one JSON value. Characters beyond ASCII are escaped, so any terminal can show it."""
    print(json.dumps(record, indent=2, ensure_ascii=True))


def print_lines(lines: Iterable[object]) -> None:
    """Print each line as soon as it is made."""
    for line in lines:
        print(_safe(line))


def _safe(text: object) -> str:
    """Return a text with control characters as visible escapes. It may name things of a stranger."""
    from genbench.safetext.printable import printable

    return printable(str(text))


class CountLine:
    """A counter on stderr while its block runs. It is silent if stderr is not a terminal.

    Args:
        what: what is counted, such as `folders`.
    """

    def __init__(self, what: str) -> None:
        self._what, self._shown = what, 0.0

    def __enter__(self) -> Callable[[int, int], None] | None:
        return self._show if sys.stderr.isatty() else None

    def _show(self, done: int, total: int) -> None:
        if done == total or time.monotonic() - self._shown > 0.2:
            self._shown = time.monotonic()
            print(f"\r{done:,} of {total:,} {self._what}", end="", file=sys.stderr, flush=True)

    def __exit__(self, *_: object) -> None:
        if self._shown:
            print(file=sys.stderr)
