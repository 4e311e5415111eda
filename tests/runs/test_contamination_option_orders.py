"""The orders of stored samples: tasks and sides for which they are not known."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.analysis.sides.loading import open_side
from genbench.runs.contamination import OrderRecord, order_record
from genbench.runs.stored.trust import Kind
from tests.ready_runs import RIGHT, WRONG, MakeRun, score_responses, write_lines


@pytest.fixture
def run(make_run: MakeRun) -> Path:
    return make_run("r", lambda i: [RIGHT, WRONG] * 2, n=3)


def found(path: Path) -> OrderRecord:
    side = open_side(path)
    (task,) = side.tasks.values()
    return order_record(side, task, task, None, ())


@pytest.mark.slow
def test_a_task_without_options_has_no_order(run: Path) -> None:
    assert found(run).missing == "it shows no options"


@pytest.mark.slow
def test_options_in_one_order_say_how_to_draw_them(tmp_path: Path) -> None:
    suite = (
        "models:\n  m: {path: ./model}\ntasks:\n  - name: picks\n    kind: choice\n    k: 2\n"
        "    data: {path: rows.jsonl, fields: {id: id, question: q, options: options, reference: answer}}\n"
        '    prompt: "{question} {options}"\n'
    )
    (tmp_path / "suite.yaml").write_text(suite)
    write_lines(tmp_path / "rows.jsonl", [{"id": "1", "q": "?", "options": ["a", "b"], "answer": "A"}])
    line = {"task": "picks", "problem_id": "1", "text": "Answer: A"}
    write_lines(tmp_path / "responses.jsonl", [{**line, "sample_index": index} for index in (0, 1)])
    told = found(score_responses(tmp_path)).missing
    assert told == "its samples show the options in one order; draw it with options: {order: per_sample}"


def test_a_score_file_has_no_order(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('{"task": "t", "problem_id": "1", "sample_index": 0, "score": 1}\n')
    assert found(path).missing == "a score file has no questions"


def test_data_that_are_gone_are_said(run: Path) -> None:
    rows = run.parent.parent / "rows.jsonl"
    side = open_side(run)
    assert side.manifest is not None
    config = side.manifest.suite.config
    (entry,) = config["tasks"]
    entry["data"]["path"] = str(rows.with_name("gone.jsonl"))
    (task,) = side.tasks.values()
    trusted: tuple[Kind, ...] = ("files",)
    assert "gone.jsonl" in str(order_record(side, task, task, None, trusted).missing)
