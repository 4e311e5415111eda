"""The simulated services against the official ones: results and verdicts of answers that are made of mutants.

official.jsonl was made with the package bfcl-eval 2025.7.9, whose rows are those of commit faa6bdc6. A line
has a row's verdicts on its mutants, and a digest of the results of all their calls. Padded results have
none, because genbench's padding is its own.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from genbench.tools.bfcl.world import World
from genbench.types import Answer, Case, SampleId
from genbench.verifiers.tools.conversations import ToolLoopVerifier
from tests.tools.bfcl.mutants import Steps, mutants

REPO = Path("data/hub/gorilla-llm/Berkeley-Function-Calling-Leaderboard")
CATEGORIES = ("base", "miss_func", "miss_param", "long_context")
EVERY = int(os.environ.get("GENBENCH_BFCL_EVERY", "16"))
"""One row of so many has all its mutants checked. All 6,388 answers take 26 s."""


def rows(shared: Path) -> list[dict[str, Any]]:
    files = [shared / REPO / f"multi_turn_{name}" / "v3.jsonl" for name in CATEGORIES]
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def official() -> dict[str, dict[str, Any]]:
    lines = (Path(__file__).parent / "official.jsonl").read_text().splitlines()
    return {item["id"]: item for item in map(json.loads, lines)}


def world(row: dict[str, Any]) -> World:
    return World(row["involved_classes"], row["initial_config"], padded="long_context" in row["id"])


def results(row: dict[str, Any], turns: Steps) -> list[list[str]]:
    own = world(row)
    return [[own.call(own.read(text)) for text in step] for turn in turns for step in turn]


def verdict(row: dict[str, Any], turns: Steps) -> dict[str, float]:
    """Return the parts of the verdict on a conversation with some calls, written as tool calls."""
    own = world(row)
    replies = []
    for turn in turns:
        for step in turn:
            calls = [json.dumps(own.read(text).record) for text in step]
            replies.append("\n".join(f"<tool_call>\n{call}\n</tool_call>" for call in calls))
        replies.append("Done.")
    reference = {
        "functions": {
            "services": row["involved_classes"],
            "padded": "long_context" in row["id"],
            "release": "v3",
        },
        "state": row["initial_config"],
        "question": ["?"] * len(row["ground_truth"]),
        "calls": [[own.read(text).record for text in turn] for turn in row["ground_truth"]],
        "steps": 50,
        "parser": "hermes",
    }
    answers = tuple(Answer(text, "absent", "", False) for text in replies)
    return dict(ToolLoopVerifier().verify(Case(SampleId("t", row["id"], 0), answers, reference)).parts)


@pytest.mark.slow
@pytest.mark.gold
def test_every_accepted_answer_is_right(shared: Path) -> None:
    all_rows = rows(shared)
    assert len(all_rows) == 800
    wrong = []
    for row in all_rows[:: min(EVERY, 5)]:
        turns = [[[call] for call in turn] for turn in row["ground_truth"]]
        if verdict(row, turns) != {"strict": 1.0, "official": 1.0}:
            wrong.append(row["id"])
    assert wrong == []


@pytest.mark.gold
@pytest.mark.slow
def test_results_and_verdicts_of_wrong_and_right_answers_are_the_official_ones(shared: Path) -> None:
    known = official()
    differing = []
    for row in rows(shared)[::EVERY]:
        expected, made = known[row["id"]], list(mutants(row["ground_truth"], row["id"]))
        told = json.dumps([results(row, turns) for _, turns in made]).encode()
        if expected["results"] not in (None, hashlib.sha256(told).hexdigest()[:12]):
            differing.append(f"{row['id']}: results")
        valid = "".join(str(int(verdict(row, turns)["official"])) for _, turns in made)
        if valid != expected["valid"]:
            differing.append(f"{row['id']}: {valid} for {expected['valid']}")
    assert differing == []
