"""A suite with one task of two turns, and ready responses to it."""

from __future__ import annotations

import json
from pathlib import Path

TALK = 3
"""Problems. Each has two samples of two turns, of 3 prompt and 5 completion tokens."""
_SUITE = """\
models:
  m: {path: ./model}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - name: talk_x
    kind: exact
    data: {path: rows.jsonl, fields: {id: id, question: problem, reference: answer, strata: [level]}}
    prompt: "{question}"
    turns: ["Again."]
    k: 2
"""
_LAST = ("2", "3", "no idea \ud800")


def write_talk(place: Path) -> None:
    """Write suite.yaml, rows.jsonl and r.jsonl. The last replies are right, wrong, or half of a pair."""
    rows = [{"id": f"p{i}", "problem": f"{i}?", "answer": "2", "level": "easy"} for i in range(TALK)]
    tokens = {"prompt_tokens": 3, "completion_tokens": 5, "trace_tokens": 2}
    lines = [
        {
            "task": "talk_x",
            "problem_id": f"p{i}",
            "sample_index": j,
            "turn": turn,
            "text": _LAST[i] if turn else "<think>1+1</think>first",
            **tokens,
        }
        for i in range(TALK)
        for j in range(2)
        for turn in range(2)
    ]
    (place / "suite.yaml").write_text(_SUITE)
    for name, records in (("rows.jsonl", rows), ("r.jsonl", lines)):
        (place / name).write_text("".join(json.dumps(record) + "\n" for record in records))
