"""Printing: tables or JSON on stdout, and nothing else there when JSON is asked for."""

from __future__ import annotations

import json
import sys

import pytest

from genbench.cli import output
from genbench.reports.terminal.show import status_text
from genbench.runs.execution.preflight import Check
from genbench.runs.stored.status import RunsStatus


def test_the_typed_command_is_quoted_for_a_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/usr/bin/genbench", "run", "my suite.yaml", "--set", "a=$b"])
    assert output.command_line() == "genbench run 'my suite.yaml' --set 'a=$b'"


@pytest.mark.parametrize("to_stderr", [False, True])
def test_written_paths_leave_stdout_to_json(capsys: pytest.CaptureFixture[str], to_stderr: bool) -> None:
    output.say_written(["report: a.html"], to_stderr)
    captured = capsys.readouterr()
    assert (captured.err if to_stderr else captured.out) == "report: a.html\n"
    assert (captured.out if to_stderr else captured.err) == ""


def test_json_is_ascii_and_reads_back(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_json({"text": "grün\u202e", "value": None})
    text = capsys.readouterr().out
    assert text.isascii()
    assert json.loads(text) == {"text": "grün\u202e", "value": None}


def test_checks_are_lines_or_a_json_list(capsys: pytest.CaptureFixture[str]) -> None:
    found = [Check("ok", "python", "3.11"), Check("error", "data", "missing")]
    output.print_checks(found, as_json=False)
    assert capsys.readouterr().out == "ok       python: 3.11\nerror    data: missing\n"
    output.print_checks(found, as_json=True)
    assert json.loads(capsys.readouterr().out)[1] == {"state": "error", "what": "data", "detail": "missing"}


def test_a_record_is_printed_as_json_or_as_a_text(capsys: pytest.CaptureFixture[str]) -> None:
    record = RunsStatus(format=1, runs=())
    output.print_record(record, status_text, as_json=True)
    assert json.loads(capsys.readouterr().out) == {"format": 1, "runs": []}
    output.print_record(record, status_text, as_json=False)
    assert "{" not in capsys.readouterr().out


def test_lines_are_printed_as_they_are_made(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_lines(str(number) for number in range(3))
    assert capsys.readouterr().out == "0\n1\n2\n"
