"""The process of verifiers, spoken to over its frames as the pool does."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO, cast

import pytest

from genbench.types import Answer, Case, SampleId
from genbench.verifiers.pool import worker
from genbench.verifiers.pool.worker import case_to_record, frame, read_frame
from genbench.verifiers.text.exact import ExactVerifier


class Process:
    """A worker and the two ends of its frames."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", worker.__name__, "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def ask(self, record: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(frame(record))
        self.process.stdin.flush()
        return self.reply()

    def reply(self) -> dict[str, Any]:
        found = read_frame(cast(BinaryIO, self.process.stdout))
        assert found is not None
        return found

    def verify(self, text: str, key: int = 1) -> dict[str, Any]:
        case = Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), "yes")
        told = self.ask({"key": key, "case": case_to_record(case)})
        if "limit_s" not in told:
            return told
        assert told["limit_s"] > 0
        return self.reply()

    def end(self) -> int:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        code = self.process.wait(timeout=60)
        self.process.stdout.close()
        return code


@pytest.fixture(scope="module")
def process() -> Iterator[Process]:
    found = Process()
    assert found.ask({"load": "exact", "key": 1, "options": {}, "folder": None})["version"]
    yield found
    assert found.end() == 0


def test_a_loaded_verifier_finds_right_and_wrong(process: Process) -> None:
    assert process.verify("yes")["score"] == 1.0
    assert process.verify("no")["score"] == 0.0


def test_a_time_limit_is_told_when_it_changes_and_is_longer_where_many_processes_want_a_core(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = case_to_record(Case(SampleId("t", "p", 0), (Answer("yes", "absent", "", False),), "yes"))
    told: dict[int, float] = {}
    sink = io.BytesIO()
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    for load in (0.1, 3.9, 6.0, 100.0):
        monkeypatch.setattr(os, "getloadavg", partial(tuple, [load, 0.0, 0.0]))
        worker._verify({1: ExactVerifier()}, {"key": 1, "case": case}, sink, told)
    sink.seek(0)
    limits = [cast(dict[str, Any], read_frame(sink))["limit_s"] for _ in range(3)]
    assert read_frame(sink) is None
    assert [limit / ExactVerifier.limit_s for limit in limits] == [1, 3, 4]


def test_a_verifier_that_does_not_exist_is_refused_and_the_process_goes_on(process: Process) -> None:
    reply = process.ask({"load": "exakt", "key": 2, "options": {}, "folder": None})
    assert "did you mean 'exact'" in reply["refused"]
    assert process.verify("yes")["score"] == 1.0


def test_wrong_options_are_refused(process: Process) -> None:
    reply = process.ask({"load": "exact", "key": 3, "options": {"ignore_caze": True}, "folder": None})
    assert "ignore_caze" in reply["refused"]


def test_a_defect_is_a_finding_that_is_never_scored(process: Process) -> None:
    finding = process.verify("yes", key=99)
    assert finding["reason"] == "verifier_error" and "KeyError" in finding["detail"]["why"]
