"""Scored tasks, each with its own rows: the right choice is right if it is the likeliest, and no other is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from genbench import registry
from genbench.data.hub import load_rows
from genbench.protocols import Row
from genbench.types import Answer, Ask, Case, ChoiceScore, Problem, SampleId
from tests.table import each_row
from tests.tasks.test_mirrored_pages import verifier_of

LETTERS = {"text": ["ice", "a very long fire", "snow"], "label": ["A", "B", "C"]}
SIQA = {
    "context": "Ann fell.",
    "question": "Why?",
    "answerA": "Ice.",
    "answerB": "A nap.",
    "answerC": "Rain.",
}
SCIQ = {"support": "Cells.", "question": "What?", "distractor1": "x", "distractor2": "yy", "distractor3": "z"}
SWAG = {
    "activity_label": "Roof",
    "ctx_a": "A man sits.",
    "ctx_b": "he",
    "endings": ["falls.", "stands up at last."],
}
MMLU = {"question": "1+1?", "subject": "astronomy", "choices": ["1", "2", "3", "4"], "config": "astronomy"}
BOOLQ = {"passage": "Ice is cold.", "question": "is ice cold"}
PIQA = {"goal": "Sit", "sol1": "on a chair", "sol2": "on a nail that is long"}
WINO = {"sentence": "The _ was too big.", "option1": "box", "option2": "ball"}
ARC: list[tuple[Row, str]] = [
    ({"id": "1", "question": "Hot?", "choices": LETTERS, "answerKey": "B"}, "a very long fire"),
    ({"id": "2", "question": "Cold?", "choices": LETTERS, "answerKey": "A"}, "ice"),
]
ROWS: dict[str, list[tuple[Row, str]]] = {
    "arc_challenge": ARC,
    "arc_easy": ARC,
    "commonsense_qa": [
        ({"id": "1", "question": "Hot?", "choices": LETTERS, "answerKey": "B"}, "B"),
        ({"id": "2", "question": "Cold?", "choices": LETTERS, "answerKey": "A"}, "A"),
    ],
    "openbookqa": [
        ({"id": "1", "question_stem": "Hot?", "choices": LETTERS, "answerKey": "B"}, "a very long fire"),
        ({"id": "2", "question_stem": "Cold?", "choices": LETTERS, "answerKey": "C"}, "snow"),
    ],
    "social_iqa": [({**SIQA, "label": "3"}, "Rain."), ({**SIQA, "label": "1"}, "Ice.")],
    "sciq": [({**SCIQ, "correct_answer": "the nucleus"}, "the nucleus")],
    "hellaswag": [
        ({**SWAG, "label": "1", "source_id": "a"}, "stands up at last."),
        ({**SWAG, "label": "0", "source_id": "b"}, "falls."),
    ],
    "mmlu_likelihood": [({**MMLU, "answer": 1}, "B"), ({**MMLU, "answer": 3}, "D")],
    "boolq": [({**BOOLQ, "label": 1}, "yes"), ({**BOOLQ, "label": 0}, "no")],
    "piqa": [({**PIQA, "label": 0}, "on a chair"), ({**PIQA, "label": 1}, "on a nail that is long")],
    "winogrande": [({**WINO, "answer": "2"}, "The ball"), ({**WINO, "answer": "1"}, "The box")],
}
"""Rows, and the right choice as a person reads it in the row. For WinoGrande it is the context."""
TEXTS = ("lambada_openai", "wikitext", "uncheatable_eval")
"""Tasks of one text, without choices."""
NAMES = frozenset((*ROWS, *TEXTS))


def asked(task: Any, problem: Problem) -> Ask:
    found = task.ask(problem, 0, ())
    assert isinstance(found, Ask) and found.scoring is not None
    return found


def choices(name: str, ask: Ask) -> list[str]:
    """Return what tells the choices of a problem apart."""
    assert ask.scoring is not None
    return [
        choice.context.rpartition("\n")[2] if name == "winogrande" else choice.text
        for choice in ask.scoring.choices
    ]


def verdict(task: Any, ask: Ask, likeliest: int) -> float:
    """Return the score of a problem if one choice has by far the largest sum, also for each character."""
    assert ask.scoring is not None
    texts = [choice.text for choice in ask.scoring.choices]
    longest = max(map(len, texts))
    scores = tuple(
        ChoiceScore(
            logprob=-0.01 * len(text) if place == likeliest else -3.0 * longest,
            tokens=max(len(text) // 4, 1),
            chars=len(text),
            bytes=len(text.encode()),
            words=len(text.split()),
            greedy=place == likeliest,
        )
        for place, text in enumerate(texts)
    )
    case = Case(SampleId("t", "p", 0), (Answer("", "absent", "", False, scores),), ask.reference)
    return float(verifier_of(task).verify(case).score)


@each_row("name", sorted(ROWS))
def test_the_right_choice_is_right_and_every_other_is_wrong(name: str) -> None:
    task = registry.load("task", name)()
    for row, right in ROWS[name]:
        [problem] = task.problems([row])
        ask = asked(task, problem)
        shown = choices(name, ask)
        assert shown.count(right) == 1, shown
        scores = [verdict(task, ask, place) for place in range(len(shown))]
        assert scores == [float(text == right) for text in shown]


@each_row("name", sorted(set(ROWS) - {"sciq"}))
def test_the_place_of_the_next_rows_choice_is_wrong(name: str) -> None:
    task = registry.load("task", name)()
    places = []
    for row, right in ROWS[name]:
        [problem] = task.problems([row])
        ask = asked(task, problem)
        places.append((ask, choices(name, ask).index(right)))
    for (ask, own), (_, following) in zip(places, places[1:] + places[:1], strict=True):
        assert own != following and verdict(task, ask, following) == 0


def test_the_last_word_is_scored_and_is_right_only_if_greedy_decoding_gives_it() -> None:
    task = registry.load("task", "lambada_openai")()
    own = [
        asked(task, problem) for problem in task.problems([{"text": "he said yes"}, {"text": "she said no"}])
    ]
    assert [choices("lambada_openai", ask) for ask in own] == [["yes"], ["no"]]
    assert [verdict(task, ask, likeliest=0) for ask in own] == [1, 1]
    assert [verdict(task, ask, likeliest=1) for ask in own] == [0, 0]


def test_a_document_has_the_probability_of_its_own_bytes() -> None:
    task = registry.load("task", "wikitext")()
    own = [
        asked(task, problem)
        for problem in task.problems([{"page": " It was . \n"}, {"page": " She ran . \n"}])
    ]
    assert len({choices("wikitext", ask)[0] for ask in own}) == 2
    for ask in own:
        certain, unlikely = verdict(task, ask, likeliest=0), verdict(task, ask, likeliest=1)
        assert certain == pytest.approx(2.718281828**-0.01, rel=0.01) and unlikely < 0.06


def right_of(name: str, row: Row) -> Any:
    """Return the right choice of a public row, read from its columns."""
    return "ABCD"[int(row["answer"])] if name == "mmlu_likelihood" else row[f"sol{int(row['label']) + 1}"]


@pytest.mark.gold
@pytest.mark.slow
@pytest.mark.parametrize(("name", "rows"), [("piqa", 1838), ("mmlu_likelihood", 14042)])
def test_every_public_row_is_right_for_its_own_choice_alone(name: str, rows: int, shared: Path) -> None:
    task = registry.load("task", name)()
    found, _ = load_rows(task.info.dataset, shared / "data" / "hub")
    problems = list(task.problems(found))
    assert len(problems) == len(found) == rows
    for row, problem in zip(found, problems, strict=True):
        ask = asked(task, problem)
        shown = choices(name, ask)
        scores = [verdict(task, ask, place) for place in range(len(shown))]
        right = str(right_of(name, row)).strip()
        assert scores == [float(text.strip() == right) for text in shown], problem.problem_id
