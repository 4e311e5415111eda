"""LiveBench's pages: rows in the hub's layout, releases, references, and tasks that count alike."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from genbench import registry
from genbench.data.hub import load_rows
from genbench.protocols import Row
from genbench.stats.macro import mean_over_parts
from genbench.types import Answer, Case, Problem, SampleId
from genbench.verifiers.code import CodeVerifier, check_reference

CHOICES = "Which? $\\textbf{(A)}\\ 1 \\qquad \\textbf{(B)}\\ 2$"
CASES = json.dumps([{"input": "2\n", "output": "4\n", "testtype": "stdin"}])
ADDED: dict[str, Any] = {"livebench_release_date": "2024-06-24", "livebench_removal_date": ""}


def row(number: int, task: str, truth: Any = None, question: str = "What?", **columns: Any) -> Row:
    return {
        "question_id": f"q{number}",
        "task": task,
        "turns": [question],
        "ground_truth": truth,
        **ADDED,
    } | columns


NEWER: dict[str, Any] = {"livebench_release_date": "2024-11-25T00:00:00"}
ROWS: dict[str, tuple[list[Row], list[str]]] = {
    "livebench_math": (
        [
            row(0, "math_comp", "B", CHOICES, subtask="amc_12a"),
            row(1, "math_comp", "042", subtask="aime_i_2024"),
            row(2, "olympiad", "3,1,2", subtask="usamo"),
            row(3, "AMPS_Hard", "x^2", subtask="integral_amps_hard"),
        ],
        ["BBBBB", "\\boxed{042}", "Answer: 3,1,2", "\\boxed{x^2}"],
    ),
    "livebench_reasoning": (
        [
            row(0, "zebra_puzzle", "three"),
            row(1, "zebra_puzzle", "red,2", **NEWER),
            row(2, "web_of_lies_v2", "yes, no, yes"),
            row(3, "spatial", "square"),
        ],
        ["***three***", "<solution>red, 2</solution>", "**yes, no, yes**", "**square**"],
    ),
    "livebench_language": (
        [
            row(0, "connections", "a,b,c,d"),
            row(1, "connections", "a,b,c,d", **NEWER),
            row(2, "typos", "The cat."),
            row(3, "plot_unscrambling", "A man ran. He fell."),
        ],
        ["**a,b,c,d**", "<solution>a,b,c,d</solution>", "The cat.", "A man ran. He fell."],
    ),
    "livebench_data_analysis": (
        [
            row(0, "cta", "Name"),
            row(1, "tablejoin", "{'a': 'b'}"),
            row(
                2,
                "tablereformat",
                "a,b\n1,2",
                "Please convert the Input Table from JSON format to CSV format.",
            ),
        ],
        ["name", "{'a': 'b'}", "a,b\n1,2"],
    ),
    "livebench_instruction_following": (
        [
            row(n, task, instruction_id_list=["punctuation:no_comma"], kwargs=[{}])
            for n, task in enumerate(("paraphrase", "simplify"))
        ],
        ["No comma here.", "Nor here."],
    ),
}
CODE: dict[str, Any] = {
    "public_test_cases": CASES,
    "private_test_cases": CASES,
    "original_json": {"metadata": "{}"},
    "partial_solution": "",
}
PROGRAMS = [
    row(0, "LCB_generation", **CODE),
    row(1, "coding_completion", **CODE | {"partial_solution": "n = int(input())"}),
]


def mirrored(folder: Path, name: str, rows: Sequence[Row], **options: Any) -> tuple[Any, list[Problem]]:
    task = registry.load("task", name)(**options)
    place = folder / task.info.dataset.repo / "default" / "test.jsonl"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("".join(json.dumps(one) + "\n" for one in rows))
    found, _ = load_rows(task.info.dataset, folder)
    return task, list(task.problems(found))


@pytest.mark.parametrize("name", sorted(ROWS))
def test_an_answer_is_right_for_its_row_and_no_answer_is_not(name: str, tmp_path: Path) -> None:
    rows, answers = ROWS[name]
    task, problems = mirrored(tmp_path, name, rows)
    verifier = registry.load("verifier", task.info.verifier)(**task.info.verifier_options)
    for problem, text in zip(problems, answers, strict=True):
        reference = task.ask(problem, 0, ()).reference
        verifier.check(reference)
        for given, wanted in ((text, 1.0), ("", 0.0)):
            case = Case(SampleId("t", "p", 0), (Answer(given, "absent", "", False),), reference)
            assert (problem.problem_id, verifier.verify(case).score) == (problem.problem_id, wanted)


def test_programs_are_completed_unless_the_answer_has_the_beginning(tmp_path: Path) -> None:
    task, (_, problem) = mirrored(tmp_path, "livebench_coding", PROGRAMS)
    reference = task.ask(problem, 0, ()).reference
    check_reference(reference)
    verifier = CodeVerifier(**task.info.verifier_options)
    try:
        for code, wanted in (("print(2 * n)", 1), ("n = int(input())\nprint(2 * n)", 1), ("print(n)", 0)):
            answer = Answer(f"```python\n{code}\n```", "absent", "", False)
            assert verifier.verify(Case(SampleId("t", "p", 0), (answer,), reference)).score == wanted
    finally:
        verifier.close()


def test_a_release_has_the_questions_that_were_added_and_not_yet_removed(tmp_path: Path) -> None:
    rows = [
        row(0, "cta", "a"),
        row(1, "cta", "a", livebench_removal_date="2024-08-31"),
        row(2, "cta", "a", livebench_removal_date="2024-11-25"),
        row(3, "cta", "a", livebench_removal_date="2025-04-25"),
        row(4, "cta", "a", livebench_release_date="2025-04-02T00:00:00"),
    ]
    wanted = {"2024-07-26": ["q0", "q1", "q2", "q3"], "2024-11-25": ["q0", "q3"], "2025-04-25": ["q0", "q4"]}
    for release, ids in wanted.items():
        _, found = mirrored(tmp_path, "livebench_data_analysis", rows, release=release)
        assert [problem.problem_id for problem in found] == ids
    assert len(mirrored(tmp_path, "livebench_data_analysis", rows)[1]) == len(wanted["2024-11-25"])


def test_a_task_without_a_known_rule_cannot_be_asked(tmp_path: Path) -> None:
    task, _ = mirrored(tmp_path, "livebench_reasoning", ROWS["livebench_reasoning"][0])
    found = task.read_rows([row(0, "riddles", "a"), row(1, "spatial", "square")])
    assert "no rule is known for 'riddles'" in found.unusable[0] and len(found.problems) == 1


def test_tasks_are_the_clusters_and_their_means_make_the_interval() -> None:
    values = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0])
    tasks = ["a", "a", "b", "b", "c", "c", "c", "c"]
    found = mean_over_parts(values, tasks, tasks)
    means = np.array([0.5, 1.0, 0.25])
    assert found.value == pytest.approx(means.mean())
    assert found.se == pytest.approx(means.std(ddof=1) / np.sqrt(len(means)))
