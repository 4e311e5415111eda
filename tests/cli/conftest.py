"""The command line in this process or in a new one, and suites with ready responses to run with it."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer

from genbench.cli.app import app


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


def command(*arguments: str) -> list[str]:
    """Return the command line of `genbench ARGUMENTS` for a new process."""
    return [sys.executable, "-m", "genbench", *arguments]


def leaves(name: str, found: Any) -> Iterator[tuple[str, Any]]:
    """Yield what can be run below a command or a group, with its full name, such as `judge check`."""
    below = getattr(found, "commands", {})
    if not below or (found.invoke_without_command and name):
        yield name, found
    for inner, one in below.items():
        yield from leaves(f"{name} {inner}".strip(), one)


def all_commands() -> dict[str, Any]:
    """Return every command by its full name."""
    root: Any = typer.main.get_command(app)
    root.list_commands(None)  # those of annexes too
    return dict(leaves("", root))


def ready_suite(place: Path, kind: str, problems: int, text: Callable[[int, int], str]) -> None:
    """Write suite.yaml, its rows, and r.jsonl with two responses per problem: `text` of problem and sample.

    The model is `m`, the task `mine`, and the reference of problem p7 is 7.
    """
    (place / "suite.yaml").write_text(
        "models:\n"
        "  m: {path: ./none}\n"
        "tasks:\n"
        "  - name: mine\n"
        f"    kind: {kind}\n"
        "    data: {path: rows.jsonl, fields: {id: id, question: question, reference: answer}}\n"
        '    prompt: "{question}"\n'
        "    k: 2\n"
    )
    rows = [{"id": f"p{i}", "question": "?", "answer": str(i)} for i in range(problems)]
    answers = [
        {"task": "mine", "problem_id": f"p{i}", "sample_index": j, "text": text(i, j)}
        for i in range(problems)
        for j in range(2)
    ]
    for name, records in (("rows.jsonl", rows), ("r.jsonl", answers)):
        (place / name).write_text("".join(json.dumps(record) + "\n" for record in records))


@pytest.fixture(scope="session", autouse=True)
def commands_made_once() -> Iterator[None]:
    """Typer makes all commands from their type hints at each call, which takes 60 ms."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", functools.cache(typer.main.get_command))
        yield


@pytest.fixture
def genbench(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    def call(*arguments: object) -> Outcome:
        from genbench.cli import main

        monkeypatch.setattr(sys, "argv", ["genbench", *map(str, arguments)])
        monkeypatch.delenv("GENBENCH_DATA_DIR", raising=False)
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call
