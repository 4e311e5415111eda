"""Contexts by lm-eval's rules: exemplars, delimiters, prefixes, types of targets."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from genbench.interop.tasks.harness.contexts import SAMPLER_SEED, ContextMaker, Fields
from genbench.interop.tasks.harness.templates import TemplateFailedError, Templates

ROWS = [{"q": f"q{n}", "a": f"a{n}"} for n in range(8)]
BASE = {"doc_to_text": "Q: {{q}}\nA:", "doc_to_target": "a"}


def context(config: dict[str, Any], row: dict[str, Any], exemplars: Any = (), same: bool = False) -> str:
    return ContextMaker(BASE | config, list(row), exemplars, same).make(row).contexts[0]


def test_description_exemplars_and_question_are_joined() -> None:
    config = {"description": "Answer.\n\n", "num_fewshot": 2, "fewshot_config": {"sampler": "first_n"}}
    found = context(config, ROWS[5], ROWS)
    assert found == "Answer.\n\nQ: q0\nA: a0\n\nQ: q1\nA: a1\n\nQ: q5\nA:"


def test_the_asked_row_is_not_its_own_exemplar() -> None:
    config = {"num_fewshot": 1, "fewshot_config": {"sampler": "first_n"}}
    assert context(config, ROWS[0], ROWS, same=True).startswith("Q: q1\nA: a1")


def test_random_exemplars_are_drawn_again_for_each_row_in_order() -> None:
    maker = ContextMaker(BASE | {"num_fewshot": 2}, ["q", "a"], ROWS, False)
    drawn = Random(SAMPLER_SEED)
    for row in ROWS[:3]:
        wanted = "".join(f"Q: {one['q']}\nA: {one['a']}\n\n" for one in drawn.sample(ROWS, 2))
        assert maker.make(row).contexts[0] == f"{wanted}Q: {row['q']}\nA:"


def test_a_prefix_of_the_answer_is_joined_by_a_space_unless_there_is_one() -> None:
    assert context({"gen_prefix": "The answer is"}, ROWS[0]) == "Q: q0\nA: The answer is"
    assert context({"gen_prefix": " So"}, ROWS[0]) == "Q: q0\nA: So"


def test_an_index_as_question_makes_one_context_of_each_choice() -> None:
    config = {"doc_to_text": "{{right}}", "doc_to_target": "{{rest}}", "doc_to_choice": "{{[one, two]}}"}
    row = {"right": 1, "rest": "was late.", "one": "Ann", "two": "Bob"}
    found = ContextMaker(config, list(row), (), False).make(row)
    assert found.contexts == ("Ann", "Bob")
    assert (found.text_index, found.target) == (1, "was late.")


@pytest.mark.parametrize(
    ("target", "with_choices", "wanted"),
    [
        ("{{n}}", True, 3),
        ("{{n}}", False, "3"),
        ("n", False, 3),
        ("{{['x', 'y']}}", False, ["x", "y"]),
        ("[{{n}}, oops", False, "[3, oops"),
        ("[{{n}} oops]", False, "[3 oops]"),
    ],
)
def test_the_type_of_a_target(target: str, with_choices: bool, wanted: object) -> None:
    fields = Fields(None, target, None, frozenset({"n"}), Templates(), with_choices)
    assert fields.target_of({"n": 3}) == wanted


def test_choices_that_are_no_list_are_refused() -> None:
    fields = Fields(None, None, "{{n}}", frozenset({"n"}), Templates(), True)
    with pytest.raises(TemplateFailedError, match="wanted a list"):
        fields.choices_of({"n": 3})
