"""The progress line: what it counts, what it shows, and where."""

from __future__ import annotations

import io
import re
from typing import cast

import pytest

from genbench.draw.progress import ProgressLine, Together, clock, fitted
from genbench.protocols import Engine
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
    assert line.line() == "base 4/10 samples  starting 0:00" and line.left_s is None
    line.begin()
    for index in range(3):
        line.began(SampleId("t", "p", index))
        line.sample("t", SampleId("t", "p", index))
    line.completion(completion(1000))
    line.completion(completion(None))
    for status in ("correct", "correct", "wrong"):
        line.verdict(verdict(status))
    pattern = r"base 7/10 samples  [\d,]+ tok/s  \d+:\d\d(:\d\d)? left  correct 2, wrong 1"
    assert re.fullmatch(pattern, line.line())
    assert line.state == "drawing" and line.drawn_of == {"t": 3} and line.tokens == 1000


def test_a_finished_line_has_no_time_left() -> None:
    line = ProgressLine("base", total=1, done=1, quiet=True)
    assert line.line() == "base 1/1 samples"


def test_a_terminal_gets_one_line_that_is_redrawn() -> None:
    stream = Terminal()
    line = ProgressLine("base", total=2, done=0, stream=stream)
    line.say("loading")
    line.close()
    assert stream.getvalue() == "\r\x1b[Kloading\n\r\x1b[Kbase 0/2 samples  starting 0:00\n"


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


def test_wide_and_hidden_characters_are_counted_as_the_terminal_shows_them() -> None:
    assert fitted("模" * 20, 39) == "模" * 18 + "…"
    assert fitted("a\nb\x1b[2K", 80) == "a b\\x1b[2K"


class Counting:  # only what is asked here
    """An engine that counts the tokens of running requests."""

    tokens_made = 0


def test_tokens_of_running_samples_count_from_the_start() -> None:
    line, engine = ProgressLine("m", total=10, done=0, quiet=True), Counting()
    engine.tokens_made = 500  # of a model that was drawn before with the same engine
    line.begin(cast(Engine, engine))
    assert line.tokens_per_s is None
    engine.tokens_made = 900
    line.begin(cast(Engine, engine))
    line.begin(cast(Engine, other := Counting()))
    other.tokens_made = 100
    line._started -= 100  # so that the time of the test itself does not matter
    assert line.tokens_per_s == pytest.approx(500 / 100, rel=0.05)


def test_running_samples_are_shown_until_the_time_left_is_known() -> None:
    line = ProgressLine("m", total=10, done=0, quiet=True)
    line.begin()
    for index in range(5):
        line.began(SampleId("t", "p", index))
    assert line.line() == "m 0/10 samples  5 running"


def test_verifying_has_a_rate_and_a_time_of_its_own() -> None:
    line = ProgressLine("m", total=4, done=4, quiet=True)
    line.verdict(verdict("correct"))
    line.step("verifying")
    assert line.line() == "m verifying  1/4 verdicts  correct 1"
    line.verdict(verdict("wrong"))
    assert re.fullmatch(
        r"m verifying  2/4 verdicts  [\d,]+ a (second|minute)  \d+:\d\d left  correct 1, wrong 1", line.line()
    )


def test_merging_counts_what_is_copied() -> None:
    line = ProgressLine("m", total=0, done=0, quiet=True)
    line.step("merging")
    for _ in range(1200):
        line.copied()
    assert line.line() == "m merging  1,200 completions"


def test_loading_shows_how_long_it_has_taken() -> None:
    stream = Terminal()
    line = ProgressLine("m", total=4, done=0, stream=stream)
    line.step("loading the engine")
    line.tick()
    assert stream.getvalue() == "\r\x1b[Km 0/4 samples  loading the engine 0:00" * 2


def test_nothing_is_left_of_a_line_on_which_nothing_was_counted() -> None:
    stream = Terminal()
    line = ProgressLine("m", total=4, done=4, stream=stream)
    line.say("m: all 4 samples are on disk, nothing is drawn")
    line.step("verifying")
    line.close()
    assert stream.getvalue().endswith("\r\x1b[Km verifying\r\x1b[K")


def test_one_line_has_all_models_that_draw_and_the_time_left_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("genbench.draw.progress.time.monotonic", lambda: now[0])
    together = Together({"a": 4, "b": 4, "c": 8})
    a = ProgressLine("a", total=4, done=2, quiet=True, together=together)
    b = ProgressLine("b", total=4, done=0, quiet=True, together=together)
    for line in (a, b):
        line.begin()
    assert together.line() == "a 2/4  b 0/4  all 2/16 samples"
    now[0] += 10
    a.sample("t")
    b.sample("t")
    assert together.line() == "a 3/4  b 1/4  all 4/16 samples"  # too few to tell
    a.sample("t")
    a.close()
    assert together.line() == "b 1/4  all 5/16 samples  0:37 left in all"
