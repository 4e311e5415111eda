"""Nights as a cron line would run them, from ready responses: a planted drop is found, and its mending."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path

import pytest

from genbench.ledger.add import add
from genbench.ledger.database import open_ledger
from genbench.pipeline import RunOptions, run
from genbench.trend.compose import trend

pytestmark = pytest.mark.slow
SUITE = """\
name: nightly
track: nightly
models:
  tuned: {path: ./tuned}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - name: sums
    kind: exact
    data: {path: rows.jsonl, fields: {id: id, question: question, reference: answer}}
    prompt: "{question}"
    k: 2
    gating: true
"""
PROBLEMS, CALM, DROPPED, NIGHTS = 24, 8, 2, 12
MONDAY = date(2026, 11, 2)


def draw(place: Path, number: int) -> Path:
    """Score the responses of one night. In the nights of the drop every second problem is wrong."""
    worse = CALM <= number < CALM + DROPPED
    lines = [
        {
            "task": "sums",
            "problem_id": f"p{problem}",
            "sample_index": sample,
            "text": "two" if (problem * 7 + number + sample) % 5 and not (worse and problem % 2) else "three",
        }
        for problem in range(PROBLEMS)
        for sample in range(2)
    ]
    responses = place / f"night{number}.jsonl"
    responses.write_text("".join(json.dumps(line) + "\n" for line in lines))
    options = RunOptions(
        suite=str(place / "suite.yaml"),
        responses=responses,
        run_dir=place / "runs" / f"{number:02}",
        night_of=(MONDAY + timedelta(days=number)).isoformat(),
        quiet=True,
    )
    return run(options).folders["tuned"]


def test_a_planted_drop_opens_on_its_night_and_recovers_when_mended(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(SUITE)
    rows = [{"id": f"p{at}", "question": f"{at}?", "answer": "two"} for at in range(PROBLEMS)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    states = []
    with open_ledger(tmp_path / "ledger.sqlite3") as ledger:
        for number in range(NIGHTS):
            add(ledger, [draw(tmp_path, number)])
            record = trend(ledger, "nightly")
            states.append([change.state for change in record.changes])
    change = record.changes[0]
    assert states[:CALM] == [[]] * CALM
    assert states[CALM] == ["open"]
    assert states[-1] == ["recovered"]
    assert change.first.label == (MONDAY + timedelta(days=CALM)).isoformat()
    assert change.closed is not None
    assert change.closed.label == (MONDAY + timedelta(days=CALM + DROPPED)).isoformat()
