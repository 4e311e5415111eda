"""The progress line: what it counts, what it shows, and where."""

from __future__ import annotations

import io
import re

import pytest

from genbench.draw.progress import ProgressLine, clock, fitted
from genbench.types import Completion, SampleId, Status, Verdict

SAMPLE = SampleId("t", "p", 0)


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def completion(tokens: int | None) -> Completion:
    return Completion(SAMPLE, 0, 1, "", "x", "stop", 1, tokens, 0, 9, 1, None)


def verdict(status: Status) -> Verdict:
    return Verdict(SAMPLE, 1.0, status, None, {}, {}, "v", "absent", False)


def test_the_line_has_samples_rate_time_left_and_statuses() -> None:
    line = ProgressLine("base", total=10, done=4, quiet=True)
    assert line.line() == "base 4/10 samples  starting" and line.left_s is None
    line.begin()
    line.completion(completion(1000))
    line.completion(completion(None))
    line.sample("t")
    for status in ("correct", "correct", "wrong"):
        line.verdict(verdict(status))
    pattern = r"base 5/10 samples  [\d,]+ tok/s  \d+:\d\d(:\d\d)? left  correct 2, wrong 1"
    assert re.fullmatch(pattern, line.line())
    assert line.state == "drawing" and line.drawn_of == {"t": 1} and line.tokens == 1000


def test_a_finished_line_has_no_time_left() -> None:
    line = ProgressLine("base", total=1, done=1, quiet=True)
    assert line.line() == "base 1/1 samples"


def test_a_terminal_gets_one_line_that_is_redrawn() -> None:
    stream = Terminal()
    line = ProgressLine("base", total=2, done=0, stream=stream)
    line.say("loading")
    line.close()
    assert stream.getvalue() == "\r\x1b[Kloading\n\r\x1b[Kbase 0/2 samples  starting\n"


def test_a_log_gets_whole_lines_and_no_control_characters() -> None:
    stream = io.StringIO()
    line = ProgressLine("base", total=2, done=0, stream=stream)
    for _ in range(100):
        line.sample("t")
    assert stream.getvalue() == ""
    line.say("loading")
    line.close()
    assert "\r" not in stream.getvalue() and stream.getvalue().startswith("loading\nbase 100/2 samples")


def test_a_quiet_line_writes_nothing() -> None:
    stream = Terminal()
    line = ProgressLine("base", total=2, done=0, quiet=True, stream=stream)
    line.sample("t")
    line.say("loading")
    line.close()
    assert stream.getvalue() == "" and line.drawn == 1


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0:00"), (42, "0:42"), (59.6, "1:00"), (3909, "1:05:09"), (36000, "10:00:00")]
)
def test_a_duration_is_minutes_and_seconds(seconds: float, text: str) -> None:
    assert clock(seconds) == text


@pytest.mark.parametrize("columns", [2, 20, 79, 80])
def test_a_line_is_never_wider_than_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    stream = Terminal()
    line = ProgressLine("a-long-name-of-a-model" * 5, total=2, done=0, stream=stream)
    line.close()
    shown = stream.getvalue().removeprefix("\r\x1b[K").removesuffix("\n")
    assert len(shown) < columns and shown.endswith("…")
    assert fitted("short", 80) == "short"
