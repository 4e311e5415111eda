"""A suite's tasks are found, checked and limited before anything is drawn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from genbench.errors import ConfigError
from genbench.suite.suitefile import Suite, read_suite
from genbench.tasks.loading import load_all, load_task, selected_entries

HEAD = "models:\n  m: {path: ./model}\ntasks:\n"


def suite_of(folder: Path, *tasks: str) -> Suite:
    rows = [{"question": f"{i}?", "reference": str(i)} for i in range(10)]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "suite.yaml").write_text(HEAD + "".join(f"  - {task}\n" for task in tasks))
    return read_suite(folder / "suite.yaml")


OWN = "{name: own, kind: exact, data: {path: rows.jsonl}, k: 2"


def test_a_task_knows_its_place_in_the_suite(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, OWN + "}")
    task = load_task(suite, suite.config.tasks[0], None, None)
    assert task.where.endswith("suite.yaml:4: task 'own'")
    assert (len(task.problems), task.k, task.folder) == (10, 2, str(tmp_path))


def test_a_limit_keeps_the_same_problems_of_a_larger_one(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, OWN + ", limit: 6}")
    six = load_task(suite, suite.config.tasks[0], None, None)
    three = load_task(suite, suite.config.tasks[0], None, 3)
    assert len(six.problems) == 6 and len(three.left_out) == 7
    assert {item.problem_id for item in three.problems} < {item.problem_id for item in six.problems}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (", metrics: [accuracy]}", "suite.yaml:4: task 'own': metrics: unknown metric 'accuracy'"),
        (", metrics: [pass@16]}", "'pass@16' needs 16 samples of every problem, but k is 2"),
        (", verifier: {use: exakt}}", "unknown verifier 'exakt'; did you mean 'exact'?"),
        (", reference: {model: X}}", "no score of 'X' is known"),
    ],
)
def test_what_is_wrong_is_named_before_the_rows_are_read(tmp_path: Path, more: str, message: str) -> None:
    suite = suite_of(tmp_path, OWN + more)
    (tmp_path / "rows.jsonl").unlink()
    with pytest.raises(ConfigError) as caught:
        load_task(suite, suite.config.tasks[0], None, None)
    assert message in str(caught.value)


def test_a_plug_in_next_to_the_suite_is_a_task(tmp_path: Path) -> None:
    (tmp_path / "task_of_a_test.py").write_text("class Nothing: pass\n")
    suite = suite_of(tmp_path, "{task: 'task_of_a_test:Nothing', k: 2}")
    with pytest.raises(ConfigError, match=r"suite\.yaml:4: task .*'info' is None, wanted"):
        load_task(suite, suite.config.tasks[0], None, None)


def test_test_tasks_run_only_on_request(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, OWN + ", role: test}", OWN.replace("own", "other") + "}")
    assert [entry.label for entry in selected_entries(suite, (), False)] == ["other"]
    assert [entry.label for entry in selected_entries(suite, (), True)] == ["own", "other"]
    with pytest.raises(ConfigError, match="add --with-test"):
        selected_entries(suite, ("own",), False)
    with pytest.raises(ConfigError, match=r"no task 'ohter'; did you mean 'other'\?"):
        selected_entries(suite, ("ohter",), False)


def test_tasks_of_one_file_share_its_texts(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, OWN + "}", OWN.replace("own", "again") + "}")
    first, second = load_all(suite, suite.config.tasks, None, None)
    assert [item.row for item in first.problems] == [item.row for item in second.problems]
    assert all(
        one.row["shown"]["question"] is two.row["shown"]["question"]
        for one, two in zip(first.problems, second.problems, strict=True)
    )
    assert first.provenance == second.provenance


def test_tasks_of_a_suite_have_one_budget_for_what_they_asked(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, OWN + "}", OWN.replace("own", "again") + ', prompt: "Say {question}"}')
    first, second = load_all(suite, suite.config.tasks, None, None)
    assert first.asked is second.asked
    asks = [task.ask(task.problems[0], 0, []) for task in (first, second)]
    assert [ask.messages[0].content for ask in asks if ask] == ["0?", "Say 0?"]


def test_a_task_knows_the_row_of_each_problem(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, OWN + "}")
    task = load_task(suite, suite.config.tasks[0], None, 3)
    assert list(task.rows.values()) == list(range(1, 11))
