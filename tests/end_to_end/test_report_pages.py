"""Every page that reports of 2026 table, on the real engine: the tiny pair, a kill in the middle, a judge."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from genbench import registry
from tests.judges.conftest import COMMIT, Server
from tests.tasks.shapes import PARTS, SHAPES, write_mirror

from .conftest import Place, descendants, lines
from .test_killed_runs import assert_gone, wait_until

pytestmark = [pytest.mark.engine, pytest.mark.slow]
SCORED, WITH_PYTHON = "uncheatable_eval", "imo_python"
NAMES = (*SHAPES, WITH_PYTHON)
MOST = 4
"""Problems of a page. One row of BFCL has 26, and polymath 16."""


@pytest.fixture
def judge() -> Iterator[Server]:
    """A judge that grades as it likes, and each answer always alike."""
    made = Server()

    def grade(prompt: str) -> str:
        known = ("EQUAL", "DIFFERENT", "CORRECT", "INCORRECT", "NOT_ATTEMPTED")
        labels = [label for label in known if label in prompt]
        return labels[hashlib.sha256(prompt.encode()).digest()[0] % len(labels)]

    made.grade = grade
    yield made
    made.close()


def pages(folder: Path, judge: Server) -> Place:
    """Write a suite of all pages with their rows."""
    tasks: list[dict[str, Any]] = []
    for name, rows in SHAPES.items():
        options = PARTS.get(name, {})
        data = registry.load("task", name)(**options).info.dataset
        write_mirror(folder / "mirror", data, rows)
        tasks.append({"task": name, "options": dict(options), "k": 1, "limit": MOST})
    rule = {"grading": "rule", "tools": "python"}
    tasks.append({"task": "imo_answerbench", "name": WITH_PYTHON, "options": rule, "k": 1})
    server = {"base_url": judge.url, "model": "grader", "revision": COMMIT}
    suite = {
        "name": "pages",
        "models": {
            name: {"path": f"shipped:checkpoints/tiny-{name}", "dtype": "float32"}
            for name in ("base", "tuned")
        },
        "engine": {"max_num_seqs": 4},
        "decoding": {"temperature": 0.8, "max_tokens": 16, "seed": 2},
        "judge": {"server": server},
        "tasks": tasks,
    }
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite))
    return Place(folder)


def completions(folder: Path) -> dict[tuple[str, str, int, int], Any]:
    """Return text or scores by identity. A second line for an identity fails."""
    found: dict[tuple[str, str, int, int], Any] = {}
    for name in NAMES:
        for line in lines(folder, name, "completions"):
            key = (name, line["problem_id"], line["sample_index"], line["turn"])
            assert key not in found
            found[key] = line["text"] or line.get("choices")
    return found


def test_every_page_of_2026_runs_with_the_tiny_pair_and_ends_alike_after_a_kill(
    tmp_path: Path, judge: Server
) -> None:
    place = pages(tmp_path, judge)
    more = ("--data-dir", "mirror")
    whole = place.results("--run-dir", "whole", *more)["models"]
    for model in whole.values():
        assert set(model["tasks"]) == set(NAMES)
        assert all(task["value"] is not None for task in model["tasks"].values())
    undisturbed = completions(tmp_path / "whole" / "tuned")

    folder = tmp_path / "killed" / "tuned"
    process = place.start("run", "suite.yaml", "--run-dir", "killed", "--model", "tuned", *more)
    wait_until(lambda: len(completions(folder)) > len(undisturbed) // 3, process)
    family = descendants(process.pid)
    process.kill()
    process.communicate()
    assert_gone(family)
    before = completions(folder)
    assert 0 < len(before) < len(undisturbed)
    time.sleep(0.1)

    again = place.results("--run-dir", "killed", "--model", "tuned", *more)["models"]["tuned"]
    assert before.items() <= completions(folder).items()
    assert completions(folder) == undisturbed
    manifest = json.loads((folder / "manifest.json").read_text())
    assert len(manifest["attempts"]) == 2
    assert "python tool 1, tier " in manifest["terms"]["decoding"][WITH_PYTHON]["tools"]
    for name, task in whole["tuned"]["tasks"].items():
        same = again["tasks"][name]
        figures = ("value", "ci", "status_counts", "macro", "judge")
        assert {key: same.get(key) for key in figures} == {key: task.get(key) for key in figures}, name
