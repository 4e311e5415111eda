"""The rows of a task that cannot be asked, in the record of its data."""

from __future__ import annotations

from genbench.registry import load
from genbench.tasks.loading import problems_of, with_unusable_rows


def row(number: int, answer: str = "1") -> dict[str, object]:
    return {"id": number, "problem": "?", "answer": answer}


def test_rows_that_cannot_be_asked_are_apart_from_the_problems() -> None:
    task = load("task", "aime24")()
    problems, unusable = problems_of(task, [row(1), row(2, "x"), row(3)])
    assert [problem.problem_id for problem in problems] == ["1", "3"]
    assert unusable == ("task aime24, row 2: the answer 'x' is not an integer from 0 to 999",)


def test_a_task_in_python_of_its_own_kind_is_read_as_it_reads_itself() -> None:
    prompt = {"key": "1", "prompt": "p", "instruction_id_list": ["words:vowel"], "kwargs": [{}]}
    problems, unusable = problems_of(load("task", "ifbench")(), [prompt])
    assert len(problems) == 1 and unusable == ()


def test_the_record_names_the_first_twenty_and_counts_all() -> None:
    said = tuple(f"task t, row {number}: why" for number in range(1, 31))
    record = with_unusable_rows({"rows": 40, "warning": "other digest"}, said, "t")
    assert record["unasked"] == 30 and len(record["unasked_rows"]) == 20
    assert record["unasked_rows"][0] == "row 1: why"
    assert record["warning"].startswith("other digest; task t: 30 of 40 rows cannot be asked")


def test_the_record_stays_if_every_row_is_asked() -> None:
    assert with_unusable_rows({"rows": 4}, (), "t") == {"rows": 4}
