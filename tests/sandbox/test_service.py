"""The JSON Lines service: programs in, verdicts out."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from typing import Any

import pytest

from genbench.errors import InputError
from genbench.sandbox.service import grade_stream

GOOD: dict[str, Any] = {
    "id": "mine",
    "kind": "stdio",
    "fn_name": None,
    "tests": [{"input": "1 2\n", "output": "3\n"}],
    "limits": {"wall_s": 2, "memory_mib": 256},
    "program": "print(sum(map(int, input().split())))",
}


def lines(*records: object) -> io.BytesIO:
    return io.BytesIO(b"".join(json.dumps(record).encode() + b"\n" for record in records))


def verdicts(stream: io.BytesIO) -> dict[int, dict[str, Any]]:
    found = [json.loads(line) for line in stream.getvalue().splitlines()]
    return {record["i"]: record for record in found}


@pytest.mark.slow
def test_every_program_has_one_verdict_under_its_line_number() -> None:
    wrong, called = GOOD | {"program": "print(4)"}, GOOD | {"kind": "functional", "fn_name": "f"}
    called |= {"program": "def f(x): return x", "tests": [{"input": "1", "output": "1"}]}
    out = io.BytesIO()
    grade_stream(lines(GOOD, wrong, GOOD | {"program": None}, called), out, workers=2)
    found = verdicts(out)
    assert [found[i]["verdict"] for i in range(4)] == ["pass", "wrong", "no_code", "pass"]
    assert found[1]["detail"] | {"why": ""} == {
        "tier": "a",
        "mode": "real",
        "test": 0,
        "actual": "4\n",
        "why": "",
    }
    assert found[0].keys() == {"i", "verdict", "detail", "wall_s"}


@pytest.mark.slow
def test_the_mode_decides_where_the_two_differ() -> None:
    both = []
    for mode in ("real", "lcb-compat"):
        out = io.BytesIO()
        grade_stream(
            lines(GOOD | {"program": "print(sum(map(int, open(0).read().split())))"}), out, mode=mode
        )
        both.append(verdicts(out)[0]["verdict"])
    assert both == ["pass", "wrong"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "line 2"),
        (b'{"kind": "stdio", "tests": []}', "lacks 'program'"),
        (json.dumps(GOOD | {"kind": "exec"}).encode(), "kind 'exec' is not one of"),
        (json.dumps(GOOD | {"limits": {"walls": 2}}).encode(), "walls"),
        (json.dumps(GOOD | {"program": 5}).encode(), "program is a text"),
        (
            json.dumps(GOOD | {"kind": "functional", "tests": [{"input": "1", "output": "x"}]}).encode(),
            "line 2",
        ),
    ],
)
@pytest.mark.slow
def test_a_line_of_another_form_is_refused_by_its_number(line: bytes, message: str) -> None:
    out = io.BytesIO()
    with pytest.raises(InputError, match=message):
        grade_stream(io.BytesIO(json.dumps(GOOD).encode() + b"\n" + line + b"\n"), out)
    assert verdicts(out)[0]["verdict"] == "pass"


@pytest.mark.slow
def test_the_module_runs_on_its_own() -> None:
    command = [sys.executable, "-m", "genbench.sandbox", "--workers", "1", "--tier", "b"]
    done = subprocess.run(command, input=json.dumps(GOOD).encode(), capture_output=True, check=True)
    assert json.loads(done.stdout)["verdict"] == "pass"
    assert done.stderr == b""
