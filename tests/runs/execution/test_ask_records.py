"""The lines of asks.jsonl: prompts as rendered, and references as text."""

from __future__ import annotations

from genbench.runs.execution.prompt_records import REFERENCE_CHARS, ask_records, merged_asks, reference_text
from genbench.types import Request, SampleId


def request(index: int, prompt: str) -> Request:
    return Request(SampleId("t", "p", index), 0, (), 1, 16, f"digest of {prompt}", prompt)


def test_samples_of_one_prompt_share_a_line() -> None:
    requests = [request(0, "A or B?"), request(1, "B or A?"), request(2, "A or B?")]
    lines = ask_records("p", ["A", "B", "A"], requests)
    assert [(line["prompt"], line["samples"], line["reference"]) for line in lines] == [
        ("A or B?", [0, 2], "A"),
        ("B or A?", [1], "B"),
    ]


def test_a_sample_without_a_request_has_no_line() -> None:
    assert ask_records("p", ["A"], [None]) == []


def test_a_continued_folder_keeps_the_asks_of_problems_that_are_left_out() -> None:
    old = {"p": [{"problem_id": "p", "prompt": "old"}], "q": [{"problem_id": "q", "prompt": "kept"}]}
    merged = merged_asks(old, [{"problem_id": "p", "prompt": "new"}])
    assert [(ask["problem_id"], ask["prompt"]) for ask in merged] == [("q", "kept"), ("p", "new")]


def test_a_reference_is_shown_as_text() -> None:
    assert reference_text("4") == "4"
    assert reference_text({"a": ["é", 1]}) == '{"a": ["é", 1]}'


def test_a_long_reference_is_cut_and_says_by_how_much() -> None:
    text = reference_text("x" * (REFERENCE_CHARS + 1234))
    assert text.endswith(" … (1,234 more characters)") and text.startswith("x" * REFERENCE_CHARS)
