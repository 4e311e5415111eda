"""What every command prints with; rooms below are imported when a verb is called."""

from __future__ import annotations

import json
import shlex
import sys
from importlib import import_module
from typing import Any


def verbs(module: str) -> Any:
    """A room below, imported when its verb is called: --help must not pay for it."""
    return import_module(f"genbench.{module}")


def command_line() -> str:
    return " ".join(["genbench", *(shlex.quote(argument) for argument in sys.argv[1:])])


def say_written(lines: Any, to_stderr: bool) -> None:
    """Where something went; beside JSON, which has stdout to itself, on stderr."""
    for line in lines:
        print(line, file=sys.stderr if to_stderr else sys.stdout)


def print_results(results: Any, folders: Any, as_json: bool) -> None:
    if as_json:
        folders = {name: str(path) for name, path in folders.items()}
        print_json({"folders": folders, "models": results})
    else:
        print(verbs("reports.safe").printable(verbs("reports.text").run_table(results, folders)))


def print_checks(checks: list[Any], as_json: bool) -> None:
    if as_json:
        print_json([{"state": item.state, "what": item.what, "detail": item.detail} for item in checks])
    else:
        print_lines(str(item) for item in checks)


def print_record(record: Any, room: str, as_json: bool) -> None:
    """A record as JSON, or as the text that report/<room>.py makes of it."""
    if as_json:
        print_json(record)
    else:
        print(getattr(verbs(f"reports.{room}"), room)(record))


def print_json(record: Any) -> None:
    print(json.dumps(record, indent=2, ensure_ascii=True))


def print_lines(lines: Any) -> None:
    for line in lines:
        print(line)
