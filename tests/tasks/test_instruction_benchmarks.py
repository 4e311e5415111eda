"""IFEval, IFBench and Multi-IF: how their rows are read, asked and handed to the verifier."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from genbench.data.digest import rows_digest
from genbench.data.hub import load_rows
from genbench.errors import ConfigError, DataError
from genbench.protocols import Task
from genbench.registry import load
from genbench.tasks.python.instruction_following import ifbench, multi_if
from genbench.tasks.rows import counted
from genbench.types import Answer, Case, SampleId
from genbench.verifiers.instructions.verifier import ConstraintVerifier

UNUSED = {"num_words": None, "keywords": None}
ROW = {
    "key": 7,
    "prompt": "Write a line. No commas. Three words or more.",
    "instruction_id_list": ["punctuation:no_comma", "length_constraints:number_words"],
    "kwargs": [UNUSED | {"relation": None}, UNUSED | {"num_words": 3, "relation": "at least"}],
}


def conversation(key: str, *turns: tuple[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """A row in Multi-IF's columns: JSON in text, the kwargs JSON within JSON."""
    row: dict[str, Any] = {"key": key, "language": "English", "turn_index": 0, "turns": None}
    for number in (1, 2, 3):
        prompt, instructions = turns[number - 1] if number <= len(turns) else ("", [])
        ids = [item["id"] for item in instructions]
        kwargs = [{name: value for name, value in item.items() if name != "id"} for item in instructions]
        row[f"turn_{number}_prompt"] = json.dumps({"role": "user", "content": prompt}) if prompt else ""
        row[f"turn_{number}_instruction_id_list"] = json.dumps(ids)
        row[f"turn_{number}_kwargs"] = json.dumps([json.dumps(given) for given in kwargs])
    return row


NO_COMMA = {"id": "punctuation:no_comma"}
KEYWORD = {"id": "keywords:existence", "keywords": ["rain"]}
THREE_TURNS = conversation(
    "1:1:en",
    ("Write a line without commas.", [NO_COMMA]),
    ("Name the rain.", [NO_COMMA, KEYWORD]),
    ("End with 'So.'", [NO_COMMA, KEYWORD, {"id": "startend:end_checker", "end_phrase": "So."}]),
)


@pytest.mark.parametrize("name", ["ifeval", "ifbench", "multi_if"])
def test_the_registry_makes_a_task_of_the_name(name: str) -> None:
    task = load("task", name)()
    assert isinstance(task, Task)
    assert task.info.name == name
    assert task.info.dataset is not None and task.info.dataset.columns[:1] == ("key",)


def test_a_row_is_asked_as_it_is_and_null_kwargs_are_dropped() -> None:
    task = load("task", "ifeval")()
    (problem,) = task.problems([ROW])
    assert (problem.problem_id, problem.turns) == ("7", 1)
    assert problem.strata == {"instructions": "2"}
    ask = task.ask(problem, 0, [])
    assert ask is not None
    assert [(message.role, message.content) for message in ask.messages] == [("user", ROW["prompt"])]
    assert ask.reference == [
        {"id": "punctuation:no_comma"},
        {"id": "length_constraints:number_words", "num_words": 3, "relation": "at least"},
    ]
    assert task.ask(problem, 0, ["done"]) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kwargs": [{}]}, "row 1: 2 instructions with 1 kwargs"),
        ({"instruction_id_list": [], "kwargs": []}, "row 1: there is no instruction"),
        ({"prompt": " "}, "row 1: column 'prompt' is empty"),
    ],
)
def test_a_bad_row_is_refused_by_its_number(change: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError) as caught:
        load("task", "ifeval")().problems([ROW | change])
    assert message in str(caught.value)


def test_two_rows_of_one_key_are_refused() -> None:
    for task in (load("task", "ifeval")(), ifbench()):
        with pytest.raises(DataError, match=r"(same id '7'|key of another)"):
            task.problems([ROW, ROW])
    with pytest.raises(DataError, match="rows 1 and 2 have the same id"):
        multi_if().problems([THREE_TURNS, THREE_TURNS])


def test_ifbench_tells_its_versions_apart_by_what_one_row_asks() -> None:
    telling = {"key": "268", "prompt": "p", "kwargs": [{}]}
    old = telling | {"instruction_id_list": ["custom:csv_city"]}
    new = telling | {"instruction_id_list": ["words:vowel"]}
    assert len(ifbench(294).problems([old])) == len(ifbench("300").problems([new])) == 1
    with pytest.raises(
        DataError, match=r"these are the 294 prompts .* not the 300; write 'options: \{version"
    ):
        ifbench().problems([old])
    with pytest.raises(DataError, match="these are the 300 prompts"):
        ifbench("294").problems([new])


def test_versions_and_revisions_of_ifbench_are_told_apart_in_its_version_and_its_verifier() -> None:
    tasks = [ifbench(), ifbench("294"), ifbench(revision="2025-07"), ifbench("294", "2025-07")]
    assert len({task.info.version for task in tasks}) == 4
    assert tasks[3].info.verifier_options == {"headline": "loose", "revision": "2025-07"}
    assert [task.info.dataset.rows for task in tasks if task.info.dataset] == [300, 294, 300, 294]
    with pytest.raises(ConfigError, match="version: unknown '301'; did you mean '300'"):
        ifbench("301")
    with pytest.raises(ConfigError, match="revision: unknown '2025'"):
        ifbench(revision="2025")


def test_multi_if_feeds_the_model_s_own_replies_back() -> None:
    task = multi_if()
    (problem,) = task.problems([THREE_TURNS])
    assert (problem.turns, problem.strata) == (3, {"language": "English"})
    ask = task.ask(problem, 0, ["first reply", "second reply"])
    assert ask is not None
    assert [(message.role, message.content) for message in ask.messages] == [
        ("user", "Write a line without commas."),
        ("assistant", "first reply"),
        ("user", "Name the rain."),
        ("assistant", "second reply"),
        ("user", "End with 'So.'"),
    ]
    assert ask.reference[2] == {"id": "startend:end_checker", "end_phrase": "So."}
    assert task.ask(problem, 0, ["a", "b", "c"]) is None


def test_a_conversation_may_end_early() -> None:
    task = multi_if()
    (problem,) = task.problems([conversation("2", ("Hello.", [NO_COMMA]), ("Again.", [NO_COMMA]))])
    assert problem.turns == 2
    assert task.ask(problem, 0, ["a", "b"]) is None


def test_a_conversation_without_a_first_prompt_or_with_damaged_json_is_refused() -> None:
    with pytest.raises(DataError, match="key 3: the first prompt is empty"):
        multi_if().problems([conversation("3")])
    with pytest.raises(DataError, match="key 1:1:en, turn 2: not JSON"):
        multi_if().problems([THREE_TURNS | {"turn_2_kwargs": "[{"}])
    with pytest.raises(DataError, match="turn 1: the prompt is not a message with 'content'"):
        multi_if().problems([THREE_TURNS | {"turn_1_prompt": '"hi"'}])


def test_the_turns_of_a_conversation_are_judged_with_the_task_s_own_options() -> None:
    task = multi_if()
    (problem,) = task.problems([THREE_TURNS])
    replies = ["a line", "rain, no", "rain. So."]
    asks = [task.ask(problem, 0, replies[:turn]) for turn in range(3)]
    references = [ask.reference for ask in asks if ask is not None]
    verifier = ConstraintVerifier(**task.info.verifier_options)
    verifier.check(references)
    answers = tuple(Answer(text, "absent", "", False) for text in replies)
    found = verifier.verify(Case(SampleId("multi_if", "1:1:en", 0), answers, references))
    assert found.score == pytest.approx(2 / 3)
    assert found.detail["why"] == "punctuation:no_comma: holds commas (1), none wanted"


@pytest.mark.gold
@pytest.mark.parametrize(
    ("make", "prompts", "instructions"), [(load("task", "ifeval"), 541, 834), (ifbench, 300, 344)]
)
def test_the_hub_s_rows_are_the_pinned_ones(
    shared: Path, make: Callable[[], Task], prompts: int, instructions: int
) -> None:
    task = make()
    dataset = task.info.dataset
    assert dataset is not None
    rows, provenance = load_rows(dataset, shared / "data" / "hub")
    assert provenance["warning"] is None
    assert rows_digest(rows, dataset.columns) == dataset.digest
    problems = task.problems(rows)
    assert len(problems) == prompts
    asks = [task.ask(problem, 0, ()) for problem in problems]
    assert sum(len(ask.reference) for ask in asks if ask is not None) == instructions


def test_a_row_is_counted_by_its_instructions() -> None:
    assert counted(ROW, 0)["instructions"] == 2
    with pytest.raises(DataError, match="there is no instruction"):
        counted({"instruction_id_list": None}, 0)
