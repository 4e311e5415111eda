"""Ready responses checked against a suite's tasks: every line by its number, every problem by its name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genbench.engines.kind import ModelSource
from genbench.errors import ResponsesError
from genbench.models.responses import Responses, read_responses
from genbench.suite.config import Decoding, ModelConfig
from genbench.suite.suitefile import read_suite
from genbench.tasks.loaded_task import LoadedTask
from genbench.tasks.loading import load_task

SUITE = """\
models: {m: {path: x}, n: {path: y}}
tasks:
  - name: t
    kind: exact
    data: {path: rows.jsonl, fields: {id: id, question: question, reference: a}}
    prompt: "{question}"
    k: 2
"""


@pytest.fixture
def task(tmp_path: Path) -> LoadedTask:
    """Three problems, of which a limit of two leaves out one."""
    (tmp_path / "s.yaml").write_text(SUITE)
    rows = [{"id": f"q{i}", "question": f"{i}?", "a": "x"} for i in range(3)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    suite = read_suite(tmp_path / "s.yaml")
    return load_task(suite, suite.config.tasks[0], None, 2)


def line(problem: str, index: int = 0, **more: Any) -> dict[str, Any]:
    return {"task": "t", "problem_id": problem, "sample_index": index, "text": "x", **more}


def whole(task: LoadedTask) -> list[dict[str, Any]]:
    return [line(problem.problem_id, index) for problem in task.problems for index in range(task.k)]


def read(
    place: Path,
    task: LoadedTask,
    records: list[dict[str, Any]],
    *,
    subset: bool = False,
    several: bool = False,
) -> Responses:
    path = place / "responses.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    models = ["m", "n"] if several else ["m"]
    return read_responses(path, [task], "m", models, subset=subset, other_tasks=["other"])


def test_a_whole_file_answers_every_problem(tmp_path: Path, task: LoadedTask) -> None:
    found = read(tmp_path, task, whole(task))
    assert found.problems == {"t": {problem.problem_id for problem in task.problems}}
    assert all(found.engine.index["t"].is_whole(name) for name in found.problems["t"])


def test_lines_beyond_the_limit_and_of_other_tasks_are_ignored(tmp_path: Path, task: LoadedTask) -> None:
    (beyond,) = task.left_out
    extra = [line(beyond), {"task": "other", "anything": 1}]
    assert beyond not in read(tmp_path, task, extra + whole(task)).problems["t"]


def test_lines_of_another_model_are_ignored(tmp_path: Path, task: LoadedTask) -> None:
    records = [{**record, "model": name} for record in whole(task) for name in ("n", "m")]
    found = read(tmp_path, task, records, several=True)
    assert len(found.problems["t"]) == 2


def test_the_lines_of_a_picked_model_are_its_own_and_those_without_a_model(
    tmp_path: Path, task: LoadedTask
) -> None:
    path = tmp_path / "responses.jsonl"
    mine, other = whole(task), [record | {"model": "n"} for record in whole(task)]
    path.write_text("".join(json.dumps(record) + "\n" for record in mine + other))
    found = read_responses(path, [task], "m", ["m", "n"], subset=False, picked=True)
    assert len(found.problems["t"]) == 2


def test_a_subset_leaves_out_what_has_no_line(tmp_path: Path, task: LoadedTask) -> None:
    name = task.problems[0].problem_id
    found = read(tmp_path, task, [line(name, 0), line(name, 1)], subset=True)
    assert found.problems == {"t": {name}}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"task": "tt"}, r":5: unknown task 'tt'; did you mean 't'\?"),
        ({"problem_id": "q9"}, r":5: task t has no problem 'q9'"),
        ({"sample_index": 2}, r":5: sample_index 2, but task t has k = 2 \(indices count from 0\)"),
        ({"turn": 1}, r":5: turn 1, but the problem has 1 turn"),
        ({"text": None}, r":5: 'text' is NoneType, wanted text; a line is \{"),
        ({}, r":5: a second line for task t, problem q\d, sample 0; remove one of them"),
    ],
)
def test_a_wrong_line_is_named_by_its_number(
    tmp_path: Path, task: LoadedTask, more: dict[str, Any], said: str
) -> None:
    wrong = line(task.problems[0].problem_id) | more
    with pytest.raises(ResponsesError, match=said):
        read(tmp_path, task, [*whole(task), wrong])


@pytest.mark.parametrize(
    ("model", "said"),
    [(None, r":1: the suite has the models m, n: add 'model'"), ("o", ":1: unknown model 'o'")],
)
def test_with_several_models_each_line_names_its_own(
    tmp_path: Path, task: LoadedTask, model: str | None, said: str
) -> None:
    records = [record | ({"model": model} if model else {}) for record in whole(task)]
    with pytest.raises(ResponsesError, match=said):
        read(tmp_path, task, records, several=True)


def test_a_missing_field_is_named(tmp_path: Path, task: LoadedTask) -> None:
    with pytest.raises(ResponsesError, match=r":1: 'problem_id' is missing"):
        read(tmp_path, task, [{"task": "t", "sample_index": 0, "text": ""}])


def test_problems_without_all_samples_are_counted_and_named(tmp_path: Path, task: LoadedTask) -> None:
    with pytest.raises(ResponsesError, match=r"1 of 2 problems lack some of their 2 samples: .*--subset"):
        read(tmp_path, task, whole(task)[:-1])
    with pytest.raises(ResponsesError, match=r"1 of 1 problems lack some of their 2 samples: q\d$"):
        read(tmp_path, task, whole(task)[:1], subset=True)


def identity(found: Responses, model: str = "m") -> str:
    source = ModelSource(model, ModelConfig(path="x"), Path(), {"t": Decoding()})
    return found.engine.find(source).identity


def test_several_models_of_one_file_have_an_identity_each(tmp_path: Path, task: LoadedTask) -> None:
    first = [record | {"model": "m"} for record in whole(task)]
    second = [record | {"model": "n", "text": "y"} for record in whole(task)]
    both = read(tmp_path, task, first + second, several=True)
    path = tmp_path / "responses.jsonl"
    other = read_responses(path, [task], "n", ["m", "n"], subset=False)
    assert identity(both) != identity(other, "n")
    assert identity(both).startswith("responses:m@") and identity(other, "n").startswith("responses:n@")
    alone = read(tmp_path, task, first, several=True)
    assert identity(alone) == identity(both)
    changed = read(tmp_path, task, [first[0] | {"text": "z"}, *first[1:]], several=True)
    assert identity(changed) != identity(both)
