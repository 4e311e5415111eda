"""Frames between pool and workers."""

from __future__ import annotations

import io

from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.pool.worker import (
    HEADER,
    case_from_record,
    case_to_record,
    finding_from_record,
    finding_to_record,
    frame,
    read_frame,
)


def test_a_record_comes_back_whole() -> None:
    record = {"text": "ä\u2028\ud800", "n": [1, None, 2.5]}
    assert read_frame(io.BytesIO(frame(record))) == record


def test_records_come_back_one_at_a_time() -> None:
    stream = io.BytesIO(frame({"a": 1}) + frame({"b": 2}))
    assert [read_frame(stream), read_frame(stream), read_frame(stream)] == [{"a": 1}, {"b": 2}, None]


def test_a_frame_that_is_cut_off_is_the_end() -> None:
    whole = frame({"a": 1})
    assert read_frame(io.BytesIO(whole[:-1])) is None
    assert read_frame(io.BytesIO(whole[: HEADER.size - 1])) is None


def test_a_case_crosses_without_its_traces() -> None:
    answers = (Answer("a", "closed", "secret", False), Answer("b", "absent", "", True))
    found = case_from_record(case_to_record(Case(SampleId("t", "p", 3), answers, {"x": 1}, "q")))
    assert (found.sample, found.reference, found.question) == (SampleId("t", "p", 3), {"x": 1}, "q")
    assert [(item.text, item.trace_status, item.truncated, item.trace) for item in found.answers] == [
        ("a", "closed", False, ""),
        ("b", "absent", True, ""),
    ]


def test_a_finding_comes_back_whole() -> None:
    finding = Finding(0.5, "wrong", "x", {"why": "y"}, {"part": 1.0})
    assert finding_from_record(finding_to_record(finding)) == finding
