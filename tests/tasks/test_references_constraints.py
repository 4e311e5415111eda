"""Tasks of constraints: an answer that follows its own row's instructions is right, others are not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest

from genbench import registry
from genbench.errors import UnavailableError
from genbench.protocols import Row
from genbench.types import Answer, Case, SampleId
from genbench.verifiers.instructions.verifier import ConstraintVerifier
from tests.tasks.test_instruction_benchmarks import conversation

Gold = Callable[[str], list[dict[str, Any]]]
NAMES = frozenset(("ifeval", "ifbench", "multi_if"))
Instruction = tuple[str, dict[str, Any]]
NO_COMMA: Instruction = ("punctuation:no_comma", {})
TEN_WORDS: Instruction = ("length_constraints:number_words", {"num_words": 10, "relation": "at least"})
QUOTED: Instruction = ("startend:quotation", {})
LOWER: Instruction = ("change_case:english_lowercase", {})
ROWS: dict[str, list[tuple[list[Instruction], str]]] = {
    "ifeval": [
        ([NO_COMMA, TEN_WORDS], "Rain fell on the old town until the morning came again"),
        ([QUOTED, LOWER], '"the rain, it fell."'),
    ],
    "ifbench": [
        ([("count:word_count_range", {"min_words": 3, "max_words": 5})], "Rain fell all night"),
        ([("format:emoji", {})], "Rain fell all night \N{CLOUD WITH RAIN}. It was long \N{CLOUD WITH RAIN}."),
    ],
}
"""Instructions of two rows, and an answer that follows them. It breaks those of the other row."""
LOOSELY_RIGHT = {"format:line_indent", "format:newline", "format:sub-bullets"}
"""Kinds whose examples without a line or without stars are right, so that each of them has a right form."""


def row(place: int, instructions: list[Instruction]) -> Row:
    names, options = zip(*instructions, strict=True)
    ids, kwargs = "instruction_id_list", "kwargs"
    return {"key": str(place), "prompt": "Write.", ids: list(names), kwargs: list(options)}


def score(task: Any, asked: Row, *texts: str) -> float:
    """Return the verdict of the task's verifier on replies to its only problem."""
    [problem] = task.problems([asked])
    asks = [task.ask(problem, 0, texts[:turn]) for turn in range(len(texts))]
    reference = asks[0].reference if len(asks) == 1 else [ask.reference for ask in asks]
    answers = tuple(Answer(text, "absent", "", False) for text in texts)
    verifier = ConstraintVerifier(**task.info.verifier_options)
    return float(verifier.verify(Case(SampleId("t", "p", 0), answers, reference)).score)


@pytest.mark.parametrize("name", sorted(ROWS))
@pytest.mark.slow
def test_an_answer_follows_the_instructions_of_its_own_row_alone(name: str) -> None:
    task = registry.load("task", name)()
    rows = [row(place, instructions) for place, (instructions, _) in enumerate(ROWS[name])]
    texts = [text for _, text in ROWS[name]]
    assert [score(task, asked, text) for asked, text in zip(rows, texts, strict=True)] == [1, 1]
    assert [score(task, asked, text) for asked, text in zip(rows, texts[::-1], strict=True)] == [0, 0]


def test_each_turn_must_follow_its_own_instructions() -> None:
    task = registry.load("task", "multi_if")()
    comma = {"id": "punctuation:no_comma"}
    ends = {"id": "startend:end_checker", "end_phrase": "So."}
    rain = {"id": "keywords:existence", "keywords": ["rain"]}
    asked = conversation("1:1:en", ("No commas.", [comma]), ("Rain.", [comma, rain]), ("End.", [rain, ends]))
    own = ("A line.", "The rain fell.", "The rain, it fell. So.")
    assert score(task, asked, *own) == 1
    shifted = own[1:] + own[:1]
    assert score(task, asked, *shifted) < 1
    for turn in range(3):
        wrong = [text if place != turn else "No, none, never" for place, text in enumerate(own)]
        assert score(task, asked, *wrong) < 1


@pytest.mark.gold
@pytest.mark.parametrize(("name", "kinds"), [("ifeval", 25), ("ifbench", 58)])
@pytest.mark.slow
def test_every_kind_has_an_answer_that_follows_and_one_that_does_not(
    name: str, kinds: int, gold: Gold
) -> None:
    """Each example is a row of its own, so that the task reads its options as it reads public rows."""
    task = registry.load("task", name)()
    mode = task.info.verifier_options.get("headline", "strict")
    found: defaultdict[str, set[float]] = defaultdict(set)
    for place, line in enumerate(gold(f"{name}_examples")):
        kind = line["instruction_id"]
        try:
            verdict = score(task, row(place, [(kind, line["kwargs"] or {})]), line["text"])
        except UnavailableError:
            continue
        assert kind == "words:start_verb" or verdict == float(line["expected"][mode]), line["problem_id"]
        found[kind].add(verdict)
    found.pop("words:start_verb", None)
    assert len(found) >= kinds - 1
    one = {kind for kind, verdicts in found.items() if verdicts != {0.0, 1.0}}
    assert one == (LOOSELY_RIGHT if mode == "loose" else set())
