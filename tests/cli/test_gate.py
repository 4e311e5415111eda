"""`genbench gate`: exit codes 0, 1 and 2, and its JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.nights.ledger.synthetic import flat, make_run

from .conftest import Outcome

Cli = Callable[..., Outcome]
GOOD, BAD = {"math": flat(60, 4, 0.6, 1)}, {"math": flat(60, 4, 0.1, 1)}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, genbench: Cli) -> Path:
    monkeypatch.setenv("GENBENCH_LEDGER", str(tmp_path / "ledger.sqlite3"))
    make_run(tmp_path / "runs" / "base", GOOD, role="anchor", model="base")
    assert genbench("ledger", "add", tmp_path / "runs").code == 0
    return tmp_path


def test_a_good_night_passes_and_a_bad_one_fails_with_its_reason(genbench: Cli, place: Path) -> None:
    good = make_run(place / "runs" / "good", {"math": flat(60, 4, 0.6, 2)}, position=20_001)
    passed = genbench("gate", good)
    assert passed.code == 0 and passed.out.startswith("PASS: tuned of 2024-10-05")
    bad = make_run(place / "runs" / "bad", BAD, position=20_002)
    failed = genbench("gate", bad, "--track", "nightly", "--json")
    record = json.loads(failed.out)
    assert failed.code == 1 == record["exit_code"] and record["verdict"] == "fail"
    assert record["reasons"][0].startswith("math: -")


def test_a_policy_by_name_or_file_decides(genbench: Cli, place: Path) -> None:
    bad = make_run(place / "runs" / "bad", BAD, position=20_002)
    assert genbench("gate", bad, "--policy", "by-suite").code == 1
    (place / "mine.yaml").write_text("name: mine\ntasks:\n  math: {tier: critical, margin: 90}\n")
    assert genbench("gate", bad, "--policy", place / "mine.yaml").code == 0


def test_what_cannot_be_asked_has_exit_code_2(genbench: Cli, place: Path) -> None:
    assert genbench("gate", place / "nowhere").code == 2
    assert "is an anchor" in genbench("gate", place / "runs" / "base").err
    wrong = genbench("gate", place / "runs" / "base", "--policy", "strictest")
    assert wrong.code == 2 and "no shipped policy" in wrong.err
