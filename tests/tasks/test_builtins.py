"""What the built-in benchmarks ask, and what they check against."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genbench import registry
from genbench.data.hub import load_rows
from genbench.errors import ConfigError, DataError
from genbench.protocols import Row, Task
from genbench.tasks.rows import aime, gsm8k
from genbench.types import Answer, Ask, Case, Problem, SampleId
from genbench.verifiers.math.verifier import MathVerifier

OWN_ROWS: dict[str, Row] = {
    "aime24": {"id": 7, "problem": " Find $1+{1}$. ", "answer": "002"},
    "aime25": {"id": "7", "problem": "Find $1+1$.", "answer": 2},
    "math500": {
        "unique_id": "test/algebra/1.json",
        "problem": "Expand $(x+1)^2$.",
        "answer": "x^2+2x+1",
        "subject": "Algebra",
        "level": 2,
    },
    "gsm8k": {"question": "How much?", "answer": "1,000 + 1 is <<1000+1=1001>>1001.\n#### 1,001"},
    "gpqa_diamond": {
        "Record ID": "rec1",
        "Question": "\nWhich {metal} floats?\n",
        "Correct Answer": " lithium\n",
        "Incorrect Answer 1": "iron",
        "Incorrect Answer 2": "lead",
        "Incorrect Answer 3": "gold",
        "High-level domain": "Chemistry",
        "Subdomain": "Inorganic",
        "Writer's Difficulty Estimate": None,
    },
}
BUILT_IN = sorted(OWN_ROWS)


def make(name: str, **options: str) -> Task:
    task = registry.load("task", name)(**options)
    assert isinstance(task, Task)
    return task


def ask(task: Task, problem: Problem, sample_index: int = 0) -> Ask:
    found = task.ask(problem, sample_index, ())
    assert found is not None
    return found


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_built_in_reads_a_row_and_asks_it_once(name: str) -> None:
    task = make(name)
    [problem] = task.problems([OWN_ROWS[name]])
    assert task.info.name == problem.task == name
    question = ask(task, problem)
    assert [message.role for message in question.messages] == ["user"]
    assert json.loads(json.dumps(question.reference)) == question.reference
    assert task.ask(problem, 0, ("an answer",)) is None
    dataset = task.info.dataset
    assert dataset is not None
    assert set(dataset.columns) <= set(OWN_ROWS[name])


def test_aime_asks_for_a_boxed_integer_and_drops_leading_zeros() -> None:
    [problem] = make("aime24").problems([OWN_ROWS["aime24"]])
    question = ask(make("aime24"), problem)
    assert question.messages[0].content.startswith("Find $1+{1}$.\n\n")
    assert "\\boxed{}" in question.messages[0].content
    assert (problem.problem_id, question.reference) == ("7", "2")
    assert ask(make("aime25"), make("aime25").problems([OWN_ROWS["aime25"]])[0]).reference == "2"
    for answer in ("1000", "-1", "x", ""):
        with pytest.raises(DataError, match="row 1: the answer"):
            make("aime24").problems([{"id": 1, "problem": "?", "answer": answer}])


def test_math500_and_gsm8k_take_their_references_from_their_own_columns() -> None:
    [problem] = make("math500").problems([OWN_ROWS["math500"]])
    assert (problem.problem_id, problem.strata) == (
        "test/algebra/1.json",
        {"subject": "Algebra", "level": "2"},
    )
    assert ask(make("math500"), problem).reference == "x^2+2x+1"
    [problem] = make("gsm8k").problems([OWN_ROWS["gsm8k"]])
    assert (problem.problem_id, ask(make("gsm8k"), problem).reference) == ("0", "1001")
    with pytest.raises(DataError, match="row 1"):
        make("gsm8k").problems([{"question": "?", "answer": "no number"}])


def test_two_rows_with_one_id_are_refused() -> None:
    with pytest.raises(DataError, match="rows 1 and 2 have the same id '7'"):
        make("aime24").problems([OWN_ROWS["aime24"]] * 2)


def gpqa_asks(order: str, ids: int, samples: int) -> list[Ask]:
    task = make("gpqa_diamond", order=order)
    rows = [{**OWN_ROWS["gpqa_diamond"], "Record ID": f"rec{number}"} for number in range(ids)]
    return [ask(task, problem, index) for problem in task.problems(rows) for index in range(samples)]


def test_gpqa_shows_four_stripped_options_and_knows_the_right_letter() -> None:
    for question in gpqa_asks("per_sample", 3, 8):
        text = question.messages[0].content
        letter = question.reference["letter"]
        assert text.startswith("Which {metal} floats?\n\nA) ")
        assert f"\n{letter}) lithium\n" in text
        assert sorted(question.reference["options"]) == ["gold", "iron", "lead", "lithium"]
        assert question.order is not None
        assert question.order.index(0) == "ABCD".index(letter)


def test_gpqa_orders_come_from_problem_and_sample_and_are_even() -> None:
    asks = gpqa_asks("per_sample", 100, 24)
    assert asks == gpqa_asks("per_sample", 100, 24)
    letters = [question.reference["letter"] for question in asks]
    # 2,400 draws: each letter 600 times, give or take 5 standard deviations of 21.
    assert all(abs(letters.count(letter) - 600) < 106 for letter in "ABCD")
    assert len({question.order for question in asks}) == 24
    first = asks[:24]
    assert len({question.order for question in first}) > 4


def test_gpqa_in_a_fixed_order_shows_every_sample_of_a_problem_the_same() -> None:
    asks = gpqa_asks("per_problem", 50, 4)
    for start in range(0, 200, 4):
        assert len({question.messages for question in asks[start : start + 4]}) == 1
    assert len({question.reference["letter"] for question in asks}) == 4
    with pytest.raises(ConfigError, match="as_given"):
        make("gpqa_diamond", order="as_given")
    with pytest.raises(ConfigError, match="did you mean 'per_sample'"):
        make("gpqa_diamond", order="per_samples")


def test_gpqa_strata_leave_out_what_a_row_does_not_say() -> None:
    [problem] = make("gpqa_diamond").problems([OWN_ROWS["gpqa_diamond"]])
    assert problem.strata == {"domain": "Chemistry", "subdomain": "Inorganic"}


@pytest.mark.parametrize("name", ["aime24", "math500", "gsm8k"])
def test_exemplars_end_in_the_form_that_is_asked_for(name: str) -> None:
    info = make(name).info
    assert len(info.shots) == 4
    question = ask(make(name), make(name).problems([OWN_ROWS[name]])[0]).messages[0].content
    instruction = question.rsplit("\n\n", 1)[1]
    for shown, answer in info.shots:
        assert shown.endswith(instruction)
        assert MathVerifier("boxed").verify(_case(answer, "0")).extracted


def test_gpqa_exemplars_end_with_their_letter() -> None:
    letters = [answer.rsplit("\n", 1)[1] for _, answer in make("gpqa_diamond").info.shots]
    assert sorted(letters) == ["Answer: A", "Answer: B", "Answer: C", "Answer: D"]


def _case(text: str, reference: str) -> Case:
    return Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), reference)


@pytest.mark.gold
@pytest.mark.parametrize(
    ("name", "rows"), [("aime24", 30), ("aime25", 30), ("math500", 500), ("gsm8k", 1319)]
)
def test_the_mirrored_rows_are_the_pinned_ones(name: str, rows: int, shared: Path) -> None:
    task = make(name)
    assert task.info.dataset is not None
    found, provenance = load_rows(task.info.dataset, shared / "data" / "hub")
    assert provenance["warning"] is None
    problems = task.problems(found)
    assert len(problems) == rows
    references: list[Any] = [ask(task, problem).reference for problem in problems]
    assert all(references)


def test_row_functions_say_what_is_wrong_with_a_row() -> None:
    assert aime({"answer": " 007 ", "id": 1}, 0) == {"answer": "7", "id": 1}
    with pytest.raises(DataError, match="not an integer from 0 to 999"):
        aime({"answer": "1000"}, 0)
    assert gsm8k({"answer": "so\n#### -1,000"}, 0)["answer"] == "-1000"
    with pytest.raises(DataError, match="does not end with"):
        gsm8k({"answer": "1000"}, 0)
