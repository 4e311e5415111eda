"""Tasks that a suite writes in place: columns, prompts, references, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.errors import ConfigError, DataError
from genbench.protocols import Row, Task
from genbench.suite.config import TaskEntry
from genbench.tasks.base import Conversation, SingleTurn
from genbench.tasks.factory import custom_task
from genbench.tasks.kinds import KINDS
from genbench.tasks.page.model import Template
from genbench.types import Ask
from tests.table import each_row


def entry(kind: str = "math", fields: dict[str, Any] | None = None, **more: Any) -> TaskEntry:
    data = {"path": "rows.jsonl", "fields": fields or {}} | more.pop("data", {})
    return TaskEntry.model_validate({"name": "mine", "kind": kind, "data": data, "k": 2} | more)


def first_ask(task: SingleTurn | Conversation, row: Row, sample_index: int = 0) -> Ask:
    found = task.ask(task.problems([row])[0], sample_index, ())
    assert found is not None
    return found


@each_row("kind", sorted(KINDS))
def test_every_kind_makes_a_task(kind: str) -> None:
    task = custom_task(entry(kind))
    assert isinstance(task, Task)
    assert task.info.verifier == kind


def test_columns_are_mapped_and_latex_braces_are_doubled() -> None:
    fields = {"id": "n", "question": "problem", "reference": "answer", "strata": ["level"], "group": "book"}
    prompt = "{question} ({unit})\n\nPut your final answer within \\boxed{{}}."
    task = custom_task(entry(fields=fields, prompt=prompt, system="Be brief."))
    row = {"n": 5, "problem": "$\\frac{1}{2}$?", "answer": "0.5", "level": 3, "book": "b", "unit": "{m}"}
    [problem] = task.problems([row])
    asked = first_ask(task, row)
    assert [(message.role, message.content) for message in asked.messages] == [
        ("system", "Be brief."),
        ("user", "$\\frac{1}{2}$? ({m})\n\nPut your final answer within \\boxed{}."),
    ]
    assert asked.reference == "0.5"
    assert (problem.problem_id, problem.strata, problem.group) == ("5", {"level": "3"}, "b")
    assert task.columns == ("n", "problem", "book", "answer", "level", "unit")


def test_without_fields_the_usual_names_and_the_place_stand_in() -> None:
    task = custom_task(entry("exact"))
    rows: list[Row] = [{"question": "a", "reference": "b"}, {"question": "c", "reference": ["d", "e"]}]
    assert [problem.problem_id for problem in task.problems(rows)] == ["0", "1"]
    assert first_ask(task, rows[1]).reference == ["d", "e"]
    assert first_ask(task, rows[0]).messages[0].content == "a"


@pytest.mark.parametrize(("reference", "letter"), [("B", "B"), ("two", "B"), (1, "B"), ("three", "C")])
def test_the_right_option_is_a_letter_a_text_or_a_place(reference: Any, letter: str) -> None:
    task = custom_task(entry("choice"))
    row = {"question": "1+1?", "options": ["one", "two", "three"], "reference": reference}
    asked = first_ask(task, row)
    assert asked.reference == {"letter": letter, "options": ["one", "two", "three"]}
    assert asked.messages[0].content.startswith("1+1?\n\nA) one\nB) two\nC) three\n\n")
    assert "X is A, B or C" in asked.messages[0].content
    assert asked.order == (0, 1, 2)


def test_options_may_be_columns_and_may_be_ordered_anew_for_each_sample() -> None:
    fields = {"options": ["a", "b", "c"], "reference": "right"}
    task = custom_task(entry("choice", fields, options={"order": "per_sample"}))
    row = {"question": "?", "a": "yes", "b": "no", "c": "both", "right": "no"}
    seen = [first_ask(task, row, index) for index in range(20)]
    assert {asked.reference["letter"] for asked in seen} == {"A", "B", "C"}
    for asked in seen:
        place = "ABC".index(asked.reference["letter"])
        assert asked.reference["options"][place] == "no"


@each_row(
    "row, message",
    [
        ({"question": "?", "options": ["A", "B"], "reference": 2}, "row 1: reference 2 is not a letter"),
        ({"question": "?", "options": ["B", "A"], "reference": "A"}, "names two options"),
        ({"question": "?", "options": ["x"], "reference": "A"}, "wanted 2 to 26 options"),
        ({"question": "?", "options": "xy", "reference": "A"}, "wanted 2 to 26 options"),
        ({"question": "?", "options": ["x", "x "], "reference": "A"}, "same text"),
        ({"question": "?", "options": ["x", None], "reference": "A"}, "an option is empty"),
        (
            {"question": "?", "option": ["x", "y"], "reference": "A"},
            "no column 'options'; did you mean 'option'?",
        ),
        ({"question": None, "options": ["x", "y"], "reference": "A"}, "column 'question' is empty"),
    ],
)
def test_a_bad_row_is_named(row: Row, message: str) -> None:
    with pytest.raises(DataError) as caught:
        custom_task(entry("choice")).problems([row])
    assert message in str(caught.value)
    assert "task mine, row 1" in str(caught.value)


def test_empty_references_and_null_columns_are_refused() -> None:
    empty: list[Any] = [None, "", []]
    for reference in empty:
        with pytest.raises(DataError, match="the reference is empty"):
            custom_task(entry()).problems([{"question": "?", "reference": reference}])
    task = custom_task(entry(prompt="{question} {hint}"))
    with pytest.raises(DataError, match="'hint', which the prompt shows, is null"):
        task.problems([{"question": "?", "reference": "1", "hint": None}])


def test_the_two_lists_of_ifeval_become_one_list_of_instructions() -> None:
    fields = {"question": "prompt", "instructions": "instruction_id_list", "kwargs": "kwargs"}
    row = {
        "prompt": "Hi",
        "instruction_id_list": ["a:b", "c:d"],
        "kwargs": [{"n": 1, "m": None}, {"n": None}],
    }
    asked = first_ask(custom_task(entry("ifeval", fields)), row)
    assert asked.reference == [{"id": "a:b", "n": 1}, {"id": "c:d"}]
    with pytest.raises(DataError, match="2 instructions with 1 kwargs"):
        custom_task(entry("ifeval", fields)).problems([row | {"kwargs": [{}]}])


def test_a_reference_may_be_made_of_several_columns_or_be_the_verifiers_own() -> None:
    task = custom_task(entry("code", {"reference": {"tests": "t", "entry": "e"}}))
    assert first_ask(task, {"question": "?", "t": ["x"], "e": "f"}).reference == {
        "tests": ["x"],
        "entry": "f",
    }
    assert first_ask(custom_task(entry("json_schema")), {"question": "?"}).reference is None


@each_row(
    "given, message",
    [
        ({"prompt": "\\boxed{}"}, "'{}' is not a placeholder; double the braces"),
        ({"prompt": "{question"}, "double the braces"),
        ({"prompt": "{question!r}"}, "'{question!r}' is not a placeholder"),
        ({"prompt": "{question:>9}"}, "'{question:>9}' is not a placeholder"),
        ({"fields": {"questions": "q"}}, "no 'questions'; did you mean 'question'?"),
        ({"fields": {"question": 3}}, "data.fields.question"),
        ({"fields": {"instructions": "i"}}, "belongs to the kinds ifeval, ifbench"),
        ({"options": {"order": "per_sample"}}, "unknown options ['order']"),
        ({"kind": "choice", "options": {"order": "random"}}, "unknown option order 'random'"),
    ],
)
def test_a_bad_entry_is_refused_before_any_row_is_read(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        custom_task(entry(**given))
    assert message in str(caught.value)


def test_an_unknown_placeholder_names_the_nearest_column() -> None:
    task = custom_task(entry(prompt="{question} {hnt}"))
    with pytest.raises(DataError, match="no column 'hnt'; did you mean 'hint'"):
        task.problems([{"question": "?", "reference": "1", "hint": "h"}])


def test_the_version_changes_with_the_prompt_and_with_nothing_else() -> None:
    version = custom_task(entry()).info.version
    assert custom_task(entry(k=7)).info.version == version
    assert custom_task(entry(prompt="{question}!")).info.version != version
    assert custom_task(entry(system="x")).info.version != version


def test_rows_from_the_hub_carry_their_pin() -> None:
    hub = {"repo": "org/set", "config": "main", "split": "train", "revision": "abc"}
    given = TaskEntry.model_validate({"name": "mine", "kind": "exact", "data": {"hub": hub}, "k": 1})
    dataset = custom_task(given).info.dataset
    assert dataset is not None
    assert (dataset.repo, dataset.revision, dataset.columns) == ("org/set", "abc", ("question", "reference"))


def test_exemplars_are_asked_like_problems() -> None:
    shots = [["1+1?", "\\boxed{2}"]]
    [(question, answer)] = custom_task(entry(shots=shots)).info.shots
    assert question.startswith("1+1?\n\nReason step by step")
    assert answer == "\\boxed{2}"
    [(question, _)] = custom_task(entry(shots=shots, prompt="{question} {unit}")).info.shots
    assert question == "1+1?"


def test_a_column_may_have_the_name_of_a_field() -> None:
    fields = {"question": "q", "reference": "answer"}
    task = custom_task(entry(fields=fields, prompt="{question} {reference} {options}"))
    row = {"q": "?", "question": "other", "reference": "see page 3", "options": "x", "answer": "1"}
    asked = first_ask(task, row)
    assert (asked.messages[0].content, asked.reference) == ("? see page 3 x", "1")


def test_values_are_not_read_as_templates() -> None:
    template = Template.parse("{a}{{b}}{a}", "prompt")
    assert template.names == ("a",)
    assert template.render({"a": "{b} {{}} {0}"}, "row") == "{b} {{}} {0}{b}{b} {{}} {0}"


TALK = {"question": "Name a fruit.", "second": "Name {n} more.", "reference": "pear", "n": 3}


def test_turns_are_asked_with_the_replies_before_them_and_the_last_is_graded() -> None:
    task = custom_task(
        entry("exact", system="Be brief.", turns=["Name {n} more.", {"prompt": "Which is green?"}])
    )
    [problem] = task.problems([TALK])
    assert problem.turns == 3
    first = task.ask(problem, 0, ())
    assert first is not None
    assert [(m.role, m.content) for m in first.messages] == [
        ("system", "Be brief."),
        ("user", "Name a fruit."),
    ]
    assert first.reference is None
    last = task.ask(problem, 0, ("fig", "kiwi, date, pear"))
    assert last is not None
    assert [(m.role, m.content) for m in last.messages[2:]] == [
        ("assistant", "fig"),
        ("user", "Name 3 more."),
        ("assistant", "kiwi, date, pear"),
        ("user", "Which is green?"),
    ]
    assert last.reference == "pear"
    assert task.ask(problem, 0, ("fig", "kiwi", "pear")) is None
    assert "n" in task.columns


def test_each_turn_lists_instructions_of_its_own() -> None:
    fields = {"instructions": "ids"}
    turns = [{"prompt": "Again.", "instructions": "more", "kwargs": "with"}, "Thanks."]
    task = custom_task(entry("ifeval", fields=fields, turns=turns))
    row = {"question": "Hi", "ids": ["punctuation:no_comma"], "more": ["length_constraints:number_words"]}
    [problem] = task.problems([row | {"with": [{"num_words": 5, "relation": "at least", "unused": None}]}])
    asks = [task.ask(problem, 0, [""] * turn) for turn in range(3)]
    assert [ask.reference for ask in asks if ask] == [
        [{"id": "punctuation:no_comma"}],
        [{"id": "length_constraints:number_words", "num_words": 5, "relation": "at least"}],
        [],
    ]


def test_other_prompts_of_later_turns_make_another_version() -> None:
    versions = {
        custom_task(entry("exact", turns=turns)).info.version for turns in ([], ["a"], ["b"], ["a", "a"])
    }
    assert len(versions) == 4


@pytest.mark.parametrize(
    ("kind", "turns", "message"),
    [
        (
            "exact",
            [{"prompt": "x", "instructions": "ids"}],
            "instructions belong to the kinds ifeval, ifbench",
        ),
        ("exact", ["{oops"], "prompt of turn 2"),
    ],
)
def test_turns_that_cannot_be_are_refused(kind: str, turns: list[Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        custom_task(entry(kind, turns=turns))


def test_a_later_prompt_with_a_column_that_lacks_is_refused_by_its_row() -> None:
    with pytest.raises(DataError, match="row 1: no column 'm'"):
        custom_task(entry("exact", turns=["Name {m} more."])).problems([TALK])


def test_a_column_of_aliases_adds_accepted_answers_and_changes_the_version() -> None:
    fields = {"reference": "answer", "aliases": "more"}
    task = custom_task(entry("exact", fields))
    row = {"question": "?", "answer": "Paris", "more": '["City of Light"]'}
    assert first_ask(task, row).reference == ["Paris", "City of Light"]
    assert "more" in task.columns
    assert task.info.version != custom_task(entry("exact", {"reference": "answer"})).info.version


def test_a_column_of_messages_is_asked_as_turns() -> None:
    chat = [
        {"role": "user", "content": "Think of 3."},
        {"role": "assistant", "content": "I have it."},
        {"role": "user", "content": "Double it."},
    ]
    row = {"conv": chat, "answer": "6"}
    task = custom_task(entry("exact", {"question": "conv", "reference": "answer"}, system="Be brief."))
    said = [(message.role, message.content) for message in first_ask(task, row).messages]
    assert said == [("system", "Be brief."), *((item["role"], item["content"]) for item in chat)]
    own = [{"role": "system", "content": "Be long."}, *chat]
    assert first_ask(task, row | {"conv": own}).messages[0].content == "Be long."
    math = custom_task(entry("math", {"question": "conv", "reference": "answer"}))
    last = first_ask(math, row).messages[-1].content
    assert last.startswith("Double it.\n\n") and "\\boxed{}" in last  # the prompt is around the last message


@pytest.mark.parametrize(
    ("chat", "why"),
    [
        ([{"role": "assistant", "content": "a"}], "row 1: column 'conv': the last message is not the user's"),
        (
            [{"role": "user", "content": [{"text": "a"}]}],
            "message 1: found .* wanted a role .* and a text as content",
        ),
        ([{"role": "tool", "content": "a"}], "message 1: found .* wanted a role"),
        ([{"role": "user", "content": "a"}, "b"], "message 2: found 'b', wanted a role"),
        (
            [{"role": "user", "content": "a"}, {"role": "system", "content": "b"}],
            "message 2: a system message comes",
        ),
    ],
)
def test_messages_that_cannot_be_asked_are_refused_by_row(chat: list[Any], why: str) -> None:
    task = custom_task(entry("exact", {"question": "conv", "reference": "answer"}))
    with pytest.raises(DataError, match=why):
        task.problems([{"conv": chat, "answer": "6"}])


def test_messages_before_the_first_question_are_asked_once_in_a_conversation() -> None:
    chat = [
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": "Hi."},
        {"role": "user", "content": "Name a fruit."},
    ]
    task = custom_task(entry("exact", {"question": "conv", "reference": "answer"}, turns=["Another?"]))
    [problem] = task.problems([{"conv": chat, "answer": "fig"}])
    last = task.ask(problem, 0, ("pear",))
    assert last is not None
    said = ["Hello.", "Hi.", "Name a fruit.", "pear", "Another?"]
    assert [message.content for message in last.messages] == said


def test_messages_are_no_text_of_a_page_or_an_id() -> None:
    chat = [{"role": "user", "content": "a"}]
    with pytest.raises(DataError, match="the id is a list of messages, wanted a text"):
        custom_task(entry("exact", {"id": "conv"})).problems(
            [{"conv": chat, "question": "a", "reference": "b"}]
        )


def test_messages_in_another_column_of_the_prompt_are_refused() -> None:
    task = custom_task(entry("exact", prompt="{history}\n{question}"))
    row = {"question": "?", "reference": "a", "history": [{"role": "user", "content": "hello"}]}
    with pytest.raises(
        DataError, match="row 1: column 'history' is a list of messages, which a prompt cannot show"
    ):
        task.problems([row])
