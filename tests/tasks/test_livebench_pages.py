"""LiveBench's six categories, from rows of its own columns to what each asks and how it is scored."""

from __future__ import annotations

import json
from typing import Any

import pytest

from genbench.errors import DataError
from genbench.protocols import Row
from genbench.registry import load
from genbench.types import Answer, Case, SampleId
from tests.tasks.test_mirrored_pages import verifier_of

DATES = {"livebench_release_date": "2024-08-31T00:00:00", "livebench_removal_date": ""}
CASE = json.dumps([{"input": "1\n", "output": "2\n", "testtype": "stdin"}])
ROWS: dict[str, Row] = {
    "livebench_math": {"task": "math_comp", "subtask": "2023_amc_12a", "ground_truth": "B"}
    | {"turns": ["Which? $\\textbf{(A)}\\ 1 \\qquad \\textbf{(B)}\\ 20$"]},
    "livebench_reasoning": {"task": "zebra_puzzle", "ground_truth": "three", "turns": ["Who?"]},
    "livebench_language": {"task": "typos", "ground_truth": "The cat sat.", "turns": ["Mend: The cta sat."]},
    "livebench_data_analysis": {"task": "cta", "ground_truth": "ISO Code", "turns": ["Which column?"]},
    "livebench_instruction_following": {"task": "paraphrase", "turns": ["Say it again without commas."]}
    | {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]},
    "livebench_coding": {"task": "LCB_generation", "turns": ["Add one."], "partial_solution": ""}
    | {"public_test_cases": CASE, "private_test_cases": CASE, "original_json": {"metadata": "{}"}},
}
RIGHT_AND_WRONG = {
    "livebench_math": ("BBBBB", "AAAAA"),
    "livebench_reasoning": ("It is ***three***.", "It is ***four***."),
    "livebench_language": ("<solution>The cat sat.</solution>", "<solution>The cta sat.</solution>"),
    "livebench_data_analysis": ("ISO Code", "Country"),
    "livebench_instruction_following": ("No commas here.", "Commas, here."),
    "livebench_coding": ("```python\nprint(int(input()) + 1)\n```", "```python\nprint(0)\n```"),
}
NAMES = frozenset(ROWS)


def row_of(name: str, **changes: Any) -> Row:
    return {"question_id": f"{name}-1", **DATES, **ROWS[name], **changes}


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_right_answer_scores_and_a_wrong_one_does_not(name: str) -> None:
    task: Any = load("task", name)()
    [problem] = task.problems([row_of(name)])
    ask = task.ask(problem, 0, ())
    assert ask.messages[-1].content == ROWS[name]["turns"][0]
    assert problem.group == problem.strata["task"] == ROWS[name]["task"]
    verifier = verifier_of(task)
    try:
        cases = [
            Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), ask.reference)
            for text in RIGHT_AND_WRONG[name]
        ]
        scores = [verifier.verify(case).score for case in cases]
    finally:
        getattr(verifier, "close", lambda: None)()  # that of programs has a sandbox
    assert scores == [1.0, 0.0]


def test_a_release_has_what_was_published_by_then_and_not_yet_removed() -> None:
    rows = [
        row_of("livebench_reasoning", question_id="kept"),
        row_of("livebench_reasoning", question_id="later", livebench_release_date="2025-04-25"),
        row_of("livebench_reasoning", question_id="gone", livebench_removal_date="2024-11-25"),
        row_of("livebench_reasoning", question_id="leaves later", livebench_removal_date="2025-04-02"),
    ]

    def ids(**options: str) -> list[str]:
        task: Any = load("task", "livebench_reasoning")(**options)
        return [problem.problem_id for problem in task.problems(rows)]

    assert ids() == ["kept", "leaves later"]
    assert ids(release="2024-08-31") == ["kept", "gone", "leaves later"]
    assert ids(release="2025-04-25") == ["kept", "later"]


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("livebench_math", {"subtask": "newmath"}, "no rule is known for 'newmath'"),
        ("livebench_reasoning", {"turns": ["a", "b"]}, "wanted a list of one question"),
        ("livebench_coding", {"private_test_cases": ""}, "it has no public and private test cases"),
    ],
)
def test_rows_without_a_rule_are_refused(name: str, changes: dict[str, Any], words: str) -> None:
    task: Any = load("task", name)()
    with pytest.raises(DataError, match=words):
        task.problems([row_of(name, **changes)])
