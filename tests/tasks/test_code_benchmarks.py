"""LiveCodeBench's releases and windows, HumanEval and MBPP: what is asked, and what it is checked against."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import ConfigError, DataError
from genbench.protocols import Task
from genbench.tasks.python.humaneval_mbpp import humaneval, humaneval_plus, mbpp, mbpp_plus
from genbench.tasks.python.livecodebench import livecodebench
from genbench.types import Answer, Ask, Case, Problem, SampleId
from genbench.verifiers.code import CodeVerifier
from tests.table import each_row

LCB = {
    "question_title": "Sum of two",
    "question_content": "Add {two} numbers.",
    "platform": "atcoder",
    "question_id": "abc1_a",
    "contest_date": "2024-09-07T00:00:00",
    "starter_code": "",
    "difficulty": "easy",
    "public_test_cases": '[{"input": "1 2\\n", "output": "3\\n", "testtype": "stdin"}]',
    "private_test_cases": '[{"input": "3 4\\n", "output": "7\\n", "testtype": "stdin"}]',
    "metadata": "{}",
}
STARTED = LCB | {
    "question_id": "3000",
    "question_title": "find-the-peaks",
    "platform": "leetcode",
    "starter_code": "class Solution:\n    def f(self, x: int) -> int:\n        ",
    "metadata": '{"func_name": "f"}',
    "public_test_cases": '[{"input": "1", "output": "2", "testtype": "functional"}]',
    "private_test_cases": "[]",
    "contest_date": "2025-01-04T00:00:00",
}
HUMANEVAL = {
    "task_id": "HumanEval/0",
    "prompt": "\ndef twice(x):\n    '''Twice x.'''\n",
    "entry_point": "twice",
    "test": "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(0.5) == 1\n",
}
MBPP = {
    "task_id": 11,
    "text": "Write a function to double.",
    "test_list": ["assert twice(2) == 4"],
    "test_setup_code": "",
}


def ask(task: Task, problem: Problem) -> Ask:
    found = task.ask(problem, 0, ())
    assert found is not None
    return found


def score(task: Task, row: dict[str, Any], answer: str) -> float:
    """What the task's own verifier says of an answer to its only problem."""
    (problem,) = task.problems([row])
    verifier = CodeVerifier(**task.info.verifier_options)
    try:
        case = Case(
            SampleId("t", "p", 0), (Answer(answer, "absent", "", False),), ask(task, problem).reference
        )
        return verifier.verify(case).score
    finally:
        verifier.close()


@each_row(
    "release, rows, files",
    [
        ("release_v1", 400, ["test.jsonl"]),
        ("release_v4", 713, ["test.jsonl", "test2.jsonl", "test3.jsonl", "test4.jsonl"]),
        ("v4", 101, ["test4.jsonl"]),
        ("v5", 167, ["test5.jsonl"]),
        ("v6", 175, ["test6.jsonl"]),
        ("v4_v5", 268, ["test4.jsonl", "test5.jsonl"]),
        ("v5_v6", 342, ["test5.jsonl", "test6.jsonl"]),
        ("release_v6", 1055, ["test.jsonl", *(f"test{n}.jsonl" for n in range(2, 7))]),
    ],
)
def test_a_release_is_cumulative_and_an_increment_is_not(release: str, rows: int, files: list[str]) -> None:
    dataset = livecodebench(release).info.dataset
    assert dataset is not None
    assert (dataset.rows, list(dataset.files), dataset.config) == (rows, files, release)


@each_row(
    "options, message",
    [
        ({"release": "v7"}, "release is 'v7'"),
        ({"release": "v5_v4"}, "release is"),
        ({"since": "2024-13"}, "from is '2024-13'"),
        ({"until": "soon"}, "to is 'soon'"),
        ({"to": "soon"}, "to is 'soon'"),
        (
            {"from": "2024-09", "to": "2024-08"},
            "the window ends on 2024-08-31, before it begins on 2024-09-01",
        ),
        ({"window": "2410"}, "window is '2410'; did you mean '2410-2502'"),
        ({"window": "2410-2502", "release": "v5"}, "give only the window"),
        ({"form": "2024-09"}, "no option 'form'; did you mean 'from'"),
    ],
)
def test_an_unknown_release_or_date_is_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        livecodebench(**options)


@pytest.mark.parametrize(
    ("since", "until", "ids"),
    [
        (None, None, ["abc1_a", "3000"]),
        ("2024-09", "2024-09", ["abc1_a"]),
        ("2024-09-07", "2025-01-04", ["abc1_a", "3000"]),
        ("2024-09-08", None, ["3000"]),
        (None, "2025-01-03", ["abc1_a"]),
    ],
)
def test_a_window_includes_both_its_ends(since: str | None, until: str | None, ids: list[str]) -> None:
    problems = livecodebench(since=since, until=until).problems([LCB, STARTED])
    assert [problem.problem_id for problem in problems] == ids


def test_an_empty_window_is_an_error() -> None:
    with pytest.raises(DataError, match="no problem of 2"):
        livecodebench(since="2030-01").problems([LCB, STARTED])


def test_livecodebench_is_asked_in_the_official_words() -> None:
    task = livecodebench()
    plain, started = task.problems([LCB, STARTED])
    system, user = ask(task, plain).messages
    assert system.content.startswith("You are an expert Python programmer.")
    assert user.content.startswith(
        "### Question:\nAdd {two} numbers.\n\n### Format: Read the inputs from stdin"
    )
    assert user.content.endswith(
        "```python\n# YOUR CODE HERE\n```\n\n### Answer: (use the provided format with backticks)\n\n"
    )
    assert f"```python\n{STARTED['starter_code']}\n```" in ask(task, started).messages[1].content


def test_livecodebench_strata_name_what_is_wrong_with_a_problem() -> None:
    plain, started = livecodebench().problems([LCB, STARTED])
    assert plain.strata == {"difficulty": "easy", "platform": "atcoder", "errata": "none"}
    assert started.strata["errata"] == "several right answers"


def test_livecodebench_references_stay_packed() -> None:
    task = livecodebench()
    plain, started = task.problems([LCB, STARTED])
    assert ask(task, plain).reference["tests"]["private"] is LCB["private_test_cases"]
    assert ask(task, started).reference["fn_name"] == "f"
    assert task.info.verifier_options == {"mode": "lcb-compat"}


@pytest.mark.slow
def test_livecodebench_answers_are_run_on_public_and_private_tests() -> None:
    assert score(livecodebench(), LCB, "```python\nprint(sum(map(int, input().split())))\n```") == 1.0
    assert score(livecodebench(), LCB, "```python\nprint(3)\n```") == 0.0
    answer = "```python\nclass Solution:\n    def f(self, x):\n        return x + 1\n```"
    assert score(livecodebench(), STARTED, answer) == 1.0


def test_a_damaged_row_is_named() -> None:
    with pytest.raises(DataError, match="abc1_a: metadata"):
        livecodebench().problems([LCB | {"metadata": "x"}])
    with pytest.raises(DataError, match="abc1_a: contest_date"):
        livecodebench().problems([LCB | {"contest_date": "x"}])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("```python\ndef twice(x):\n    return 2 * x\n```", 1.0),
        ("    return 2 * x\n", 1.0),  # the continuation that a base model writes
        ("```python\n    return 2 * x\n```", 1.0),
        ("```python\ndef twice(x):\n    return 2\n```", 0.0),
        ("I do not know.", 0.0),
    ],
)
def test_humaneval_takes_whole_functions_and_continuations(answer: str, right: float) -> None:
    assert score(humaneval(), HUMANEVAL, answer) == right


@pytest.mark.slow
def test_humaneval_says_which_checks_a_program_could_fake() -> None:
    looped = HUMANEVAL | {
        "test": "def check(candidate):\n    for i in range(3):\n        assert candidate(i) == 2 * i\n"
    }
    (plain,), (forgeable,) = humaneval().problems([HUMANEVAL]), humaneval().problems([looped])
    assert plain.strata["checked"] == "outside" and forgeable.strata["checked"] == "partly inside"
    assert ask(humaneval(), forgeable).reference["forgeable"] is True
    assert score(humaneval(), looped, "```\ndef twice(x):\n    return 2 * x\n```") == 1.0
    assert score(humaneval(), looped, "```\ndef twice(x):\n    return 4\n```") == 0.0


@pytest.mark.slow
def test_a_program_that_fakes_its_own_check_does_not_pass_a_lifted_one() -> None:
    answer = "```\nclass Yes:\n    def __eq__(self, other): return True\ndef twice(x): return Yes()\n```"
    assert score(humaneval(), HUMANEVAL, answer) == 0.0


PLUS = (
    "import numpy as np\n\ndef assertion(out, exp, atol):\n    assert out == exp\n\n"
    "{head}inputs = [[2], [3]]\n{pad}results = [4, 6]\n"
    "{pad}for i, (inp, exp) in enumerate(zip(inputs, results)):\n"
    "{pad}    assertion({name}(*inp), exp, 0)\n"
)


@pytest.mark.slow
def test_the_plus_variants_are_lifted_too() -> None:
    test = PLUS.format(head="def check(candidate):\n    ", pad="    ", name="candidate")
    row = HUMANEVAL | {"test": test}
    assert humaneval_plus().problems([row])[0].strata["checked"] == "outside"
    assert score(humaneval_plus(), row, "```\ndef twice(x): return 2 * x\n```") == 1.0
    more = {"task_id": 2, "prompt": "Double.", "test_imports": [], "test_list": ["assert twice(2) == 4"]}
    more["test"] = PLUS.format(head="", pad="", name="twice")
    assert score(mbpp_plus(), more, "```\ndef twice(x): return 2 * x\n```") == 1.0
    assert score(mbpp_plus(), more, "```\ndef twice(x): return 4\n```") == 0.0


@pytest.mark.slow
def test_mbpp_shows_its_tests_and_checks_them() -> None:
    (problem,) = mbpp().problems([MBPP])
    assert "assert twice(2) == 4" in ask(mbpp(), problem).messages[0].content
    assert score(mbpp(), MBPP, "```\ndef twice(x): return 2 * x\n```") == 1.0
    assert score(mbpp(), MBPP, "```\ndef twice(x): return x\n```") == 0.0


@pytest.mark.slow
def test_mbpp_s_sanitized_rows_bring_their_imports() -> None:
    row = {
        "task_id": 2,
        "prompt": "Root.",
        "test_imports": ["import math"],
        "test_list": ["assert root(4) == 2.0"],
    }
    assert score(mbpp("sanitized"), row, "```\ndef root(x): return math.sqrt(x)\n```") == 1.0
    with pytest.raises(ConfigError, match="mbpp: config is 'all'"):
        mbpp("all")


@pytest.mark.gold
def test_livecodebench_windows_have_the_problems_of_their_months(shared: Path) -> None:
    place = shared / "data/hub/livecodebench/code_generation_lite/v4_v5_small/test.jsonl"
    rows = [json.loads(line) for line in place.read_text(encoding="utf-8").split("\n") if line]
    problems = livecodebench(config="v4_v5_small").problems(rows)
    assert len(problems) == len(rows) == 313
    inside = livecodebench(since="2024-08", until="2024-12").problems(rows)
    assert len(inside) == sum("2024-08" <= row["contest_date"][:7] <= "2024-12" for row in rows)
    assert Counter(problem.strata["errata"] for problem in problems)["interactive"] == 1


@pytest.mark.gold
def test_humaneval_s_asserts_are_lifted_in_all_but_eight_problems(shared: Path) -> None:
    place = shared / "data/hub/openai/openai_humaneval/openai_humaneval/test.jsonl"
    rows = [json.loads(line) for line in place.read_text(encoding="utf-8").split("\n") if line]
    forgeable = [p.problem_id for p in humaneval().problems(rows) if p.row["forgeable"]]
    assert forgeable == [f"HumanEval/{number}" for number in (32, 33, 38, 44, 50, 53, 129, 151)]
