"""Rollouts on the real engine: replies that get lost are drawn once, and change no token of the others."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import Place, lines

pytestmark = [pytest.mark.engine, pytest.mark.slow]
AGENT = Path(__file__).resolve().parents[1] / "agents" / "gateway" / "agent.py"
PROBLEMS, K, TURNS = 5, 2, 3
SUITE = """\
name: agents
models:
  tuned: {{path: "shipped:checkpoints/tiny-tuned", dtype: float32}}
engine: {{max_num_seqs: 4}}
decoding: {{temperature: 0.8, max_tokens: 24, seed: 1}}
tasks:
  - task: agent
    k: {k}
    options: {options}
"""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A folder with problems for the small agent."""
    rows = [{"id": f"p{n}", "instruction": f"Compute {n} + 4.", "answer": "4"} for n in range(PROBLEMS)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    place = Place(tmp_path)
    yield place
    place.end_all()


def drawn(place: Place, name: str, settings: dict[str, Any]) -> dict[tuple[str, int, int], tuple[Any, ...]]:
    """The seed, the prompt and the text of each turn of a new run."""
    options = {
        "source": "rows.jsonl",
        "command": [sys.executable, str(AGENT)],
        "settings": settings,
        "limits": {"turns": 8, "concurrent": 4},
    }
    (place.path / "suite.yaml").write_text(SUITE.format(k=K, options=json.dumps(options)))
    report = place.results("--run-dir", name)
    task = report["models"]["tuned"]["tasks"]["agent"]
    assert task["samples"] == PROBLEMS * K
    assert task["excluded"] == 0
    found = {}
    for line in lines(place.path / name / "tuned", "agent", "completions"):
        if not line.get("final"):
            key = line["problem_id"], line["sample_index"], line["turn"]
            assert key not in found
            found[key] = line["seed"], line["prompt_digest"], line["text"]
    return found


def test_a_quarter_of_the_requests_sent_again_changes_no_draw(place: Place) -> None:
    whole = drawn(place, "whole", {})
    assert len(whole) == PROBLEMS * K * TURNS
    assert len({text for _, _, text in whole.values()}) > PROBLEMS
    assert drawn(place, "faulty", {"faults": 0.25}) == whole
