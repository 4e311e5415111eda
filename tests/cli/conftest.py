"""Runs the command line in this process, as `genbench ARGUMENTS` would."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


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
