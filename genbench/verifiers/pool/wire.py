"""The frames between the verifier pool and its workers: a length and JSON. Nothing is unpickled."""

from __future__ import annotations

import json
import struct
from dataclasses import asdict, astuple
from typing import Any, BinaryIO

from genbench.types import Answer, Case, ChoiceScore, Finding, SampleId

HEADER = struct.Struct("<I")
"""The length of the body in bytes."""
MOST_BYTES = 256 << 20
"""Longest body that is read from a worker."""


def frame(record: object) -> bytes:
    """Return a record as a frame. Escapes keep lone surrogates, which models can print."""
    body = json.dumps(record, separators=(",", ":")).encode()
    return HEADER.pack(len(body)) + body


def read_frame(stream: BinaryIO) -> dict[str, Any] | None:
    """Return the next record, or None at the end of the stream."""
    head = stream.read(HEADER.size)
    if len(head) < HEADER.size:
        return None
    (size,) = HEADER.unpack(head)
    body = stream.read(size)
    record: dict[str, Any] | None = json.loads(body) if len(body) == size else None
    return record


def case_to_record(case: Case) -> dict[str, Any]:
    """Return a case as JSON, without the traces: no verifier may see them."""
    return {
        "sample": [case.sample.task, case.sample.problem_id, case.sample.sample_index],
        "answers": [[answer.text, answer.trace_status, answer.truncated] for answer in case.answers],
        "reference": case.reference,
        "question": case.question,
        **({"choices": [astuple(choice) for choice in case.answer.choices]} if case.answer.choices else {}),
    }


def without_answers(body: bytes) -> bytes:
    """Return a case's record in JSON with the texts of its answers replaced by empty ones."""
    record = json.loads(body)
    answers = [["", *rest] for _, *rest in record["answers"]]
    return json.dumps(record | {"answers": answers}, separators=(",", ":")).encode()


def case_from_record(record: dict[str, Any]) -> Case:
    """Return the case that `case_to_record` wrote. Its traces are empty."""
    choices = tuple(ChoiceScore(*choice) for choice in record.get("choices", ()))
    answers = tuple(
        Answer(text, status, "", truncated, choices) for text, status, truncated in record["answers"]
    )
    return Case(SampleId(*record["sample"]), answers, record["reference"], record["question"])


def finding_to_record(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON."""
    return asdict(finding)


def finding_from_record(record: dict[str, Any]) -> Finding:
    """Return the finding that `finding_to_record` wrote."""
    return Finding(**record)
