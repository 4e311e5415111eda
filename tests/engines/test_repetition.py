"""Exact repetition at the end of a text: stored loops of real models, what is none, and hostile texts."""

from __future__ import annotations

import gzip
import itertools
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from genbench.engines.repetition import (
    CHECKED_EVERY,
    DRAWN,
    LOOP,
    Loop,
    Signs,
    ends_in_loop,
    loop_of,
    period_of,
)
from tests.conftest import shared_dir
from tests.table import each_row

STEPS = "\n".join(f"Step {number}: Determine the answer.\nThe answer is Yes.\n" for number in range(1, 60))
"""After a reply of SmolLM2-135M-Instruct to a task of BBH, which counts its steps."""


@each_row(
    "text, found",
    [
        ("Yes. " * 30, Loop(period=5, place=0, times=30)),
        ("So:\n" + '\n- "List"' * 20 + '\n- "Li', Loop(period=9, place=4, times=20)),
        ("Let me see. " + STEPS[:900], Loop(period=50, place=12, times=17)),
        ("a" * 200, Loop(period=1, place=0, times=200)),
    ],
)
def test_a_loop_is_found_with_its_unit_and_its_place(text: str, found: Loop) -> None:
    assert loop_of(text) == found


def test_the_place_is_that_of_the_text_before_its_numbers_were_folded() -> None:
    begin = "1234 apples and 99 pears make 1333 fruits, and 1333 - 99 = 1234. "
    loop = loop_of(begin + STEPS)
    assert loop is not None and STEPS.startswith((begin + STEPS)[loop.place :][:6])


@each_row(
    "text",
    [
        "",
        "The answer is 42.",
        "Yes. " * 20,  # 100 characters
        ", ".join(map(str, range(2000))),  # counting has no letter in its unit
        "\n".join(f"| {n} | {n * n} |" for n in range(300)),
        "".join(f"{word} " for word in itertools.islice(itertools.cycle(["a", "b"]), 20))
        + "and then it ends.",
        "x" * 500 + "y" * 40,
    ],
)
def test_what_does_not_repeat_or_only_counts_is_no_loop(text: str) -> None:
    assert loop_of(text) is None


@each_row(
    "text",
    [
        "a" * 2_000_000,
        "1234567890" * 200_000,
        ("a" * 39 + "b") * 50_000 + "a",
        ("x" * 500 + "y") * 4_000,
        "".join(f"Step {number}: do it.\n" for number in range(100_000)),
        "é\ud800" * 500_000,
    ],
)
def test_hostile_texts_take_linear_time(text: str) -> None:
    started = time.process_time()
    loop_of(text)
    assert time.process_time() - started < 2.0  # 0.1 s on a quiet machine


def real_replies() -> list[dict[str, Any]]:
    place = shared_dir()
    assert place is not None
    return [json.loads(line) for line in gzip.open(place / "gold" / "real" / "loops.jsonl.gz", "rt")]


@pytest.mark.gold
def test_all_real_loops_are_named_and_no_reply_that_ended_is() -> None:
    replies = real_replies()
    loops = [reply for reply in replies if reply["loop"]]
    ended = [reply for reply in replies if reply["loop"] is False]
    assert (len(loops), len(ended)) == (67, 266)
    assert [reply["id"] for reply in loops if loop_of(reply["text"]) is None] == []
    assert [reply["id"] for reply in ended if loop_of(reply["text"]) is not None] == []


def tokens(text: str) -> tuple[str, Signs]:
    """Return a text as signs, one for each word, digit or mark, as tokens are, with what is known of them."""
    numbers: dict[str, int] = {}
    parts = re.findall(r"\d| *[^\W\d]+| *\W", text)
    signs = "".join(chr(numbers.setdefault(part, len(numbers))) for part in parts)
    return signs, Signs.of(numbers)


def ended_after(text: str, known: Signs) -> int | None:
    """Return after how many signs a reply is ended that is drawn, or None."""
    places = range(CHECKED_EVERY, len(text) + 1, CHECKED_EVERY)
    return next((at for at in places if ends_in_loop(text[:at], known)), None)


SHEEP = "{0}. So, 1 sheep * 2 sheep = 2 sheep.\n{1}. Now, we can find out how many sheep she has.\n"
"""After a reply of SmolLM2-135M-Instruct to a problem of GSM8K, which counts its lines."""


@each_row(
    "text, is_ended",
    [
        ("Let me see. " + STEPS, True),
        ("".join(SHEEP.format(n, n + 1) for n in range(15, 95, 2)), True),
        ("".join(SHEEP.format(n, 3 * n) for n in range(15, 95, 2)), False),  # two counters of their own
        ("".join(f"Row {n}: 12 x {n} = {12 * n}\n" for n in range(1, 145)), False),
        ("".join(f"{n}, " for n in range(1000)), False),
        ("".join(f"| {n} | {n + 1} | {n + 2} |\n" for n in range(300)), False),
        ("".join(f"Page {n}, " for n in range(400)), False),
        ("".join(f"fib({n}) -> {n * n % 9973} and so on\n" for n in range(200)), False),
        (
            "".join(f"Step {n}: Ask {'odd' if n.bit_count() % 2 else 'even'} ones.\n" for n in range(90)),
            False,
        ),
    ],
)
def test_a_reply_that_counts_its_repetitions_is_ended_and_a_table_is_not(text: str, is_ended: bool) -> None:
    place = ended_after(*tokens(text))
    assert (place is not None) == is_ended
    assert place is None or place <= DRAWN.least * 1.4


@pytest.mark.gold
def test_no_reply_that_ended_would_have_been_ended_while_it_was_drawn() -> None:
    signs = {reply["id"]: tokens(reply["text"]) for reply in real_replies() if reply["loop"] is False}
    cut = [name for name, (text, known) in signs.items() if ended_after(text, known) is not None]
    assert len(signs) == 266 and cut == []


@each_row(
    "unit, times, is_ended",
    [
        (1, 639, False),  # 500 zeros, as a matrix has
        (1, 640, True),
        (128, 7, False),
        (128, 8, True),
        (129, 50, False),
        (17, 38, True),
    ],
)
def test_only_a_long_stretch_of_equal_units_ends_a_reply(unit: int, times: int, is_ended: bool) -> None:
    text = "begin " + "".join(map(chr, range(100, 100 + unit))) * times
    assert (period_of(text, DRAWN) is not None) == is_ended


def test_a_list_that_repeats_and_goes_on_otherwise_is_no_loop_any_more() -> None:
    row = "".join(map(chr, range(100, 120)))
    assert period_of(row * 40, DRAWN) == 20
    assert period_of(row * 40 + "]", DRAWN) is None and period_of(row * 40 + "]", LOOP) is None


def test_stored_texts_of_the_package_itself_are_no_loops() -> None:
    root = Path(__file__).resolve().parents[2]
    texts = [path.read_text() for path in sorted((root / "docs").glob("*.md"))]
    assert len(texts) > 20 and not any(map(loop_of, texts))
