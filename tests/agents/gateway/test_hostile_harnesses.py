"""Harnesses that attack: each own rollout gets a status that is not credit, and all others go on."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.agents.gateway.hostile_harnesses import rows
from tests.agents.gateway.test_gateway import SUITE, command, harnesses, lines, listening, run

COUNT = 300 if os.environ.get("GENBENCH_CHAOS") == "full" else 30
EACH = 3
"""The attacks for which there is one honest rollout, which is drawn next to them."""
HONEST = "result(1.0)"


def write_suite(folder: Path, problems: list[dict[str, Any]]) -> Path:
    folder.mkdir(parents=True)
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in problems))
    options = {
        "source": "rows.jsonl",
        "command": command(folder, "hostile_agent.py"),
        "limits": {"turns": 8, "wall_s": 60, "concurrent": 3},
    }
    (folder / "suite.yaml").write_text(
        SUITE.format(k=1, seconds=0.0, finish="stop", options=json.dumps(options))
    )
    return folder


def honest(number: int) -> dict[str, Any]:
    return {"id": f"ok{number}", "instruction": f"Be honest, {number}.", "do": HONEST}


@pytest.mark.slow
@pytest.mark.timeout(3600 if COUNT > 30 else 300)
def test_a_hostile_harness_harms_no_other_rollout_and_gets_no_credit(tmp_path: Path) -> None:
    with listening() as (port, met):
        attacks = list(rows(COUNT, port=port))
        problems = [
            row
            for number, attack in enumerate(attacks)
            for row in ((attack, honest(number)) if number % EACH == 0 else (attack,))
        ]
        place = run(write_suite(tmp_path / "s", problems))
        assert met == []
    verdicts = {line["problem_id"]: line for line in lines(place, "verdicts")}
    assert len(verdicts) == COUNT + COUNT // EACH
    told = {row["id"]: row["instruction"] for row in problems}
    lost = [told[name] for name, line in verdicts.items() if name[0] == "o" and line["status"] != "correct"]
    credited = [told[name] for name, line in verdicts.items() if name[0] == "h" and line["score"]]
    reached = {
        told[name]: found for name, line in verdicts.items() if (found := line["detail"].get("reached"))
    }
    assert (lost, credited, reached) == ([], [], {})
    assert harnesses(tmp_path / "s") == []
    kinds = {stat.S_IFMT(path.lstat().st_mode) for path in place.rglob("*")}
    assert kinds == {stat.S_IFREG, stat.S_IFDIR}
    deepest = max(len(path.relative_to(place).parts) for path in place.rglob("*"))
    assert deepest == 5  # engine, agents, task, rollout, log
