"""The progress line keeps the terminal while descriptor 2 leads to an engine's log."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from genbench.draw.progress import OwnStderr, ProgressLine, own_stderr


def test_what_is_written_goes_to_where_the_descriptor_led_before(tmp_path: Path) -> None:
    before, later = tmp_path / "before", tmp_path / "later"
    with before.open("wb") as first, later.open("wb") as second:
        own = OwnStderr(first.fileno())
        os.dup2(second.fileno(), first.fileno())
        own.write("the progress")
        own.flush()
        assert not own.isatty()
    assert before.read_text() == "the progress" and later.read_text() == ""


def test_a_progress_line_is_not_written_into_the_log_of_an_engine(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    line = ProgressLine("m", total=2, done=0)
    saved = os.dup(2)
    with (tmp_path / "engine.log").open("wb") as log:
        os.dup2(log.fileno(), 2)
        line.say("loading")
        os.dup2(saved, 2)
    os.close(saved)
    assert (tmp_path / "engine.log").read_bytes() == b"" and capfd.readouterr().err == "loading\n"


def test_a_stderr_that_is_no_file_is_taken_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = io.StringIO()
    monkeypatch.setattr(sys, "stderr", notebook)
    own_stderr().write("text")
    assert notebook.getvalue() == "text"


def test_a_reader_that_is_gone_is_no_error() -> None:
    reader, writer = os.pipe()
    own = OwnStderr(writer)
    os.close(reader)
    os.close(writer)
    own.write("nobody reads this")
