"""Generated tasks: their options, problems, prompts and recipes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from genbench import registry
from genbench.errors import ConfigError, DataError
from genbench.generators.recipe import text_digest
from genbench.generators.sizing import PieceCounts, nominal_tokens
from genbench.protocols import HubDataset, Row, Task
from genbench.tasks.generated import GeneratedTask
from genbench.tasks.python.ruler import ESSAYS, HOTPOT, SQUAD, maker_of_recipe, niah, recall, ruler
from genbench.tasks.regenerate_prompts import PromptRegenerator, shown_messages
from genbench.types import Message, Problem
from tests.table import each_row

COUNTS = PieceCounts(nominal_tokens)


def sized(
    task: GeneratedTask, rows: dict[str, Sequence[Row]] | None = None
) -> tuple[GeneratedTask, list[Problem]]:
    ready = task.with_texts(rows or {})
    return ready, list(ready.sized(ready.problems([]), COUNTS, 10))


def test_every_task_and_length_has_rows_with_strata() -> None:
    task = ruler([4_096, 8_192], tasks=["vt", "fwe"], rows=3).with_texts({})
    problems = task.problems([])
    assert isinstance(task, Task)
    assert len({problem.problem_id for problem in problems}) == 12
    assert problems[0].problem_id == "4096/vt/0"
    assert problems[0].strata == {"task": "vt", "length": "4096"}
    assert task.info.macro == "task"
    needles = niah(4_096, depth=[0, 50], rows=2).with_texts({}).problems([])
    assert [problem.strata["depth"] for problem in needles] == ["0", "0", "50", "50"]


def test_a_smaller_number_of_rows_is_the_beginning_of_a_larger_one() -> None:
    few, more = (ruler(4_096, tasks="vt", rows=rows).with_texts({}).problems([]) for rows in (2, 5))
    assert [item.row["reference"] for item in few] == [item.row["reference"] for item in more[:2]]


def test_a_prompt_ends_with_the_beginning_of_its_answer_and_has_its_own_limit() -> None:
    task, (problem,) = sized(ruler(4_096, tasks="vt", rows=1))
    ask = task.ask(problem, 0, ())
    assert ask is not None
    assert [message.role for message in ask.messages] == ["user", "assistant"]
    assert (ask.max_tokens, ask.reference["need"]) == (30, "all")
    assert task.ask(problem, 0, ("said",)) is None
    open_task, (problem,) = sized(ruler(4_096, tasks="vt", rows=1, answer_prefix=False))
    ask = open_task.ask(problem, 0, ())
    assert ask is not None
    assert (len(ask.messages), ask.max_tokens, open_task.info.version) == (1, None, "1-no-prefix")


def test_a_prompt_has_the_length_that_is_asked_for_with_template_and_answer() -> None:
    task, (problem,) = sized(ruler(4_096, tasks="niah_multikey_3", rows=1))
    ask = task.ask(problem, 0, ())
    assert ask is not None
    total = sum(nominal_tokens([message.content for message in ask.messages])) + 10 + 128
    assert 4_096 * 0.99 <= total <= 4_096
    assert problem.recipe is not None and problem.recipe["part"] == "niah_multikey_3"


def test_without_a_size_about_four_characters_count_as_a_token() -> None:
    task = ruler(4_096, tasks="vt", rows=1).with_texts({})
    ask = task.ask(task.problems([])[0], 0, ())
    assert ask is not None
    assert 14_000 < len(ask.messages[0].content) < 18_000


@pytest.mark.slow
def test_a_recipe_gives_the_prompt_again() -> None:
    for made in (
        ruler(4_096, tasks="cwe", rows=1),
        niah(4_096, depth=30, rows=1),
        recall(4_096, tasks="recall_4", rows=1),
    ):
        task, (problem,) = sized(made)
        ask = task.ask(problem, 0, ())
        assert ask is not None and problem.recipe is not None
        recipe = {**problem.recipe, "digest": text_digest(ask.messages)}
        assert PromptRegenerator(None).prompt(recipe) == shown_messages(ask.messages)
        with pytest.raises(DataError, match="not the one that was sent"):
            PromptRegenerator(None).prompt({**recipe, "seed": 43})


def test_texts_of_a_dataset_are_never_fetched_to_show_a_prompt() -> None:
    rows: list[Row] = [{"text": "One two three. Four five six."}]
    task, (problem,) = sized(ruler(1_024, tasks="niah_single_2", rows=1, haystack="essays"), {"essays": rows})
    assert task.info.version == "1-essays" and task.info.sources == (ESSAYS,)
    assert problem.recipe is not None
    with pytest.raises(DataError, match="baber/paul_graham_essays"):
        PromptRegenerator(None).prompt(problem.recipe)

    def read(dataset: HubDataset) -> Sequence[Row]:
        assert dataset == ESSAYS
        return rows

    from genbench.generators.recipe import Recipe

    recipe = Recipe.from_json(problem.recipe)
    text = maker_of_recipe(recipe, read).row(recipe.key).messages(recipe.size)[0].content
    assert "Four five six. One two three." in text


def test_only_the_datasets_of_the_chosen_tasks_are_needed() -> None:
    assert ruler(tasks=["vt", "cwe"], haystack="essays").sources == {}
    assert ruler(tasks="qa_1").sources == {"squad": SQUAD}
    assert ruler().info.sources == (SQUAD, HOTPOT)
    assert recall().info.verifier == "recited"


def test_the_provenance_names_seed_and_lengths() -> None:
    one, other = (ruler(4_096, tasks="vt", rows=2, seed=seed).with_texts({}).record() for seed in (1, 2))
    assert one["lengths"] == [4_096] and one["source"] == "generator" and one["rows"] == 2
    assert one["digest"] != other["digest"]


@each_row(
    "name, options, message",
    [
        ("ruler", {"length": 12}, "length is 12, wanted 256"),
        ("ruler", {"length": []}, "at least one value"),
        ("ruler", {"length": "4k"}, "wanted a number"),
        ("ruler", {"tasks": "cw"}, "did you mean 'cwe'"),
        ("ruler", {"rows": 0}, "rows is 0"),
        ("ruler", {"match": "word"}, "wanted one of words, substring"),
        ("ruler", {"haystack": "mine"}, "wanted one of generated, essays"),
        ("ruler", {"answer_prefix": "no"}, "wanted one of true, false"),
        ("ruler", {"seed": "x"}, "seed is 'x'"),
        ("niah", {"depth": 101}, "depth is 101"),
        ("recall", {"tasks": "recall_3"}, "unknown task 'recall_3'"),
    ],
)
def test_wrong_options_are_refused(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        registry.load("task", name)(**options)


def test_several_messages_are_shown_with_their_roles() -> None:
    assert shown_messages([Message("user", "a"), Message("assistant", "b")]) == "user: a\n\nassistant: b"
