"""What SimpleQA, MixEval-Hard, Arena-Hard and AlpacaEval ask, and which rows they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.errors import DataError
from genbench.protocols import Task
from genbench.registry import load
from genbench.tasks.rows import alpaca, arena, mixeval, simpleqa


def asked(task: Task, row: dict[str, Any]) -> tuple[str, Any, dict[str, str]]:
    """The prompt, the reference and the strata of a row."""
    [problem] = task.problems([row])
    found = task.ask(problem, 0, ())
    assert found is not None
    return found.messages[-1].content, found.reference, dict(problem.strata)


def test_simpleqa_asks_the_question_as_it_is() -> None:
    metadata = "{'topic': 'Art', 'answer_type': 'Date', 'urls': ['x']}"
    row = {"metadata": metadata, "problem": " When? ", "answer": " 1999 "}
    assert asked(load("task", "simpleqa")(), row) == (
        "When?",
        "1999",
        {"topic": "Art", "answer_type": "Date"},
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"problem": " "}, "row 1: the problem or its answer is empty"),
        ({"answer": ""}, "row 1: the problem or its answer is empty"),
        ({"metadata": "{'a'"}, "metadata is not a Python literal"),
        ({"metadata": "[1]"}, "metadata is not a dict, found '"),
    ],
)
def test_simpleqa_refuses_rows_that_lack_something(change: dict[str, str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        load("task", "simpleqa")().problems([{"metadata": "", "problem": "q", "answer": "a"} | change])


@pytest.mark.parametrize(("source", "ending"), [("GSM8k", "on the last line."), ("TriviaQA", "a few words.")])
def test_mixeval_asks_for_steps_only_where_there_is_something_to_work_out(source: str, ending: str) -> None:
    row = {"context": "C", "prompt": "Q?", "target": ["a", 2], "benchmark_name": source}
    prompt, reference, strata = asked(load("task", "mixeval_hard_free_form")(), row)
    assert prompt.startswith("C\n\nQ?\n\n") and prompt.endswith(ending)
    assert (reference, strata) == (["a", "2"], {"source": source})


def test_mixeval_without_a_context_has_no_empty_lines() -> None:
    row = {"context": None, "prompt": "Q?", "target": ["a"], "benchmark_name": "TriviaQA"}
    assert asked(load("task", "mixeval_hard_free_form")(), row)[0].startswith("Q?\n\nAnswer")


@pytest.mark.parametrize("target", [[], None, "a"])
def test_mixeval_refuses_a_row_without_targets(target: Any) -> None:
    row = {"context": "", "prompt": "Q?", "target": target, "benchmark_name": "BBH"}
    with pytest.raises(DataError, match="row 1: no targets"):
        load("task", "mixeval_hard_free_form")().problems([row])


def test_arena_hard_has_no_opponent_of_its_own() -> None:
    row = {"question_id": "q7", "turns": [{"content": "Write."}]}
    assert asked(load("task", "arena_hard")(), row) == ("Write.", None, {})


@pytest.mark.parametrize("turns", [[], None, [{"content": " "}], [{"content": "a"}, {"content": "b"}]])
def test_arena_hard_refuses_other_than_one_turn(turns: Any) -> None:
    with pytest.raises(DataError, match="wanted one turn with content"):
        load("task", "arena_hard")().problems([{"question_id": "q", "turns": turns}])


def test_alpaca_eval_is_judged_against_the_reply_of_the_data() -> None:
    row = {"dataset": "koala", "instruction": "Write.", "output": "Written."}
    assert asked(load("task", "alpaca_eval")(), row) == ("Write.", "Written.", {"source": "koala"})


@pytest.mark.parametrize("empty", ["instruction", "output"])
def test_alpaca_eval_refuses_empty_rows(empty: str) -> None:
    row = {"dataset": "koala", "instruction": "a", "output": "b"} | {empty: " "}
    with pytest.raises(DataError, match="the instruction or its output is empty"):
        load("task", "alpaca_eval")().problems([row])


def test_the_row_functions_keep_the_other_columns() -> None:
    question = {"problem": "q", "answer": "a", "metadata": "", "other": 1}
    assert simpleqa(question, 0)["other"] == 1 and simpleqa(question, 0)["topic"] is None
    free = {"context": "C", "prompt": "Q?", "target": ["a", 2], "benchmark_name": "GSM8k", "other": 1}
    assert (mixeval(free, 0)["question"], mixeval(free, 0)["targets"]) == ("C\n\nQ?", ["a", "2"])
    assert arena({"question_id": "q", "turns": [{"content": " Write. "}]}, 0)["question"] == " Write. "
    assert alpaca({"instruction": "a", "output": 3, "dataset": "d"}, 0)["output"] == "3"
