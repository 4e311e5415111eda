"""Each task's reference is right for itself, and that of the next problem is not: no task is left out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from genbench import registry
from genbench.data.hub import load_rows
from genbench.protocols import Row
from genbench.tasks.catalogue import known_tasks
from genbench.types import Answer, Case, Problem, SampleId
from tests.judges import test_references as judged
from tests.table import each_row
from tests.tasks import test_choice_benchmarks as choices
from tests.tasks import test_mirrored_pages as mirrored
from tests.tasks import test_references_constraints as constraints
from tests.tasks import test_references_programs as programs
from tests.tasks import test_references_scored as scored
from tests.tasks.test_agent_pages import AGENTS
from tests.tasks.test_builtins import OWN_ROWS
from tests.tasks.test_livebench import ROWS as LIVEBENCH
from tests.tasks.test_long_rows import mrcr_row
from tests.tasks.test_mirrored_pages import NO_DATE, check_references, verifier_of

LONGBENCH = {f"choice_{letter}": f"option {letter}" for letter in "ABCD"} | {
    **{"_id": "q1", "domain": "d", "sub_domain": "s", "difficulty": "easy", "length": "short"},
    **{"question": "What?", "answer": "C", "context": "A long text."},
}
DROP = {"section_id": "nfl", "passage": "A passage.", "question": "Who?", "validated_answers": None}
WALK = {"prompt": "edges …", "problem_type": "bfs", "prompt_chars": 7}
MATHS: dict[str, list[Row]] = {
    "aime24": [OWN_ROWS["aime24"], {**OWN_ROWS["aime24"], "id": 8, "answer": "003"}],
    "aime25": [OWN_ROWS["aime25"], {**OWN_ROWS["aime25"], "id": "8", "answer": 3}],
    "math500": [
        OWN_ROWS["math500"],
        {**OWN_ROWS["math500"], "unique_id": "test/algebra/2.json", "answer": "x^2-2x+1"},
    ],
    "gsm8k": [OWN_ROWS["gsm8k"], {"question": "How few?", "answer": "So.\n#### 1,002"}],
    "math": mirrored.OWN["math"],
}
OPEN: dict[str, list[Row]] = {
    "drop": [
        {**DROP, "query_id": f"q{n}", "answer": {"number": "", "date": NO_DATE, "spans": spans}}
        for n, spans in enumerate((["red fox", "hen"], ["owl"]))
    ],
    "graphwalks": [{**WALK, "answer_nodes": ["b", "a"]}, {**WALK, "prompt": "more", "answer_nodes": ["c"]}],
    "mrcr": [mrcr_row(), mrcr_row(20)],
}
OPTIONS: dict[str, list[Row]] = {name: [row, row] for name, row in choices.OWN.items()} | {
    "gpqa_diamond": [OWN_ROWS["gpqa_diamond"]],
    "longbench_v2": [LONGBENCH],
}
GENERATED: dict[str, dict[str, Any]] = {
    "ruler": {"length": 4_096, "tasks": ["vt", "cwe"], "rows": 2},
    "niah": {"length": 4_096, "depth": 50, "rows": 2},
    "recall": {"length": 4_096, "tasks": "recall_4", "rows": 2},
}
ELSEWHERE = {
    **dict.fromkeys(judged.NAMES, "tests/judges/test_references.py"),
    **dict.fromkeys(scored.NAMES, "test_references_scored.py"),
    **dict.fromkeys(programs.NAMES, "test_references_programs.py"),
    **dict.fromkeys(constraints.NAMES, "test_references_constraints.py"),
    **dict.fromkeys(("bfcl_v3_live", "bfcl_v3_non_live"), "test_bfcl.py"),
    "bfcl_v3_multi_turn": "test_bfcl_multi_turn.py",
    "bfcl_v4_format_sensitivity": "test_bfcl_formats.py",
    **dict.fromkeys((*LIVEBENCH, "livebench_coding"), "test_livebench.py"),
    **dict.fromkeys(AGENTS, "test_agent_pages.py"),
    "helmet_recall": "test_ruler.py",
    "aa_lcr": "tests/data/test_zipped.py",
    "xstest": "tests/verifiers/text/test_refusal.py",
    **dict.fromkeys((name for name in mirrored.NAMES if name not in ("hle", "math", "drop")), "mirrored"),
}
"""Tasks whose references another module checks in the same way. Most modules export the names they check."""


def problems(name: str, rows: Sequence[Row]) -> tuple[Any, list[Problem]]:
    task = registry.load("task", name)()
    return task, list(task.problems(rows))


def score(task: Any, text: str, reference: Any) -> float:
    answer = Answer(text, "absent", "", False)
    return float(verifier_of(task).verify(Case(SampleId("t", "p", 0), (answer,), reference)).score)


def test_no_task_is_left_out() -> None:
    covered = {*MATHS, *OPEN, *OPTIONS, *GENERATED, *ELSEWHERE}
    assert {item.info.name for item in known_tasks()} == covered


@pytest.mark.parametrize("name", sorted(MATHS))
def test_a_value_is_right_for_itself_and_the_next_one_is_not(name: str, tmp_path: Path) -> None:
    task, found = problems(name, MATHS[name]) if name != "math" else _whole(name, tmp_path)
    check_references(task, found[:2])


def _whole(name: str, folder: Path) -> tuple[Any, list[Problem]]:
    task, rows = mirrored.mirror(folder, name)
    return task, list(task.problems(rows))


@pytest.mark.parametrize("name", sorted(OPEN))
def test_a_text_is_right_for_itself_and_the_next_one_is_not(name: str) -> None:
    task, found = problems(name, OPEN[name])
    references = [mirrored.asked(task, problem).reference for problem in found]
    said = [row.get("answer") if name == "mrcr" else None for row in OPEN[name]]
    own = [text or stated(reference) for text, reference in zip(said, references, strict=True)]
    assert [score(task, text, reference) for text, reference in zip(own, references, strict=True)] == [1, 1]
    shifted = [score(task, text, reference) for text, reference in zip(own[::-1], references, strict=True)]
    assert max(shifted) < 1


def stated(reference: Any) -> str:
    """Return the answer of a list of nodes, or of the parts of the first accepted answer."""
    if isinstance(reference[0], str):
        return f"Final Answer: [{', '.join(reference)}]"
    return f"Answer: {'; '.join(reference[0])}"


@each_row("name", sorted(OPTIONS))
def test_the_right_letter_is_right_and_every_other_is_wrong(name: str) -> None:
    task, found = problems(name, OPTIONS[name][:1])
    for sample in range(4):
        ask = task.ask(found[0], sample, ())
        letters = "ABCDEFGHIJ"[: len(ask.reference["options"])]
        scores = {letter: score(task, f"Answer: {letter}", ask.reference) for letter in letters}
        assert scores == {letter: float(letter == ask.reference["letter"]) for letter in letters}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(GENERATED))
def test_a_generated_reference_is_right_for_itself_and_the_next_one_is_not(name: str) -> None:
    task = registry.load("task", name)(**GENERATED[name]).with_texts({})
    asks = [task.ask(problem, 0, ()) for problem in task.problems([])]
    references = [ask.reference for ask in asks]
    for place, reference in enumerate(references):
        following = references[(place + 1) % len(references)]
        assert score(task, said(reference), reference) == 1
        assert score(task, said(following), reference) < 1


def said(reference: Any) -> str:
    """Return a text that has everything that a reference wants."""
    if isinstance(reference, dict) and "text" in reference:
        return str(reference["begins"] + reference["text"])
    if isinstance(reference, dict):
        reference = next(value for value in reference.values() if isinstance(value, list))
    return reference if isinstance(reference, str) else ", ".join(map(str, reference))


EQUAL = {"math500": [("5", "x=5")]}
"""Neighbours in other words that are equal: an equation states its value."""


@pytest.mark.gold
@pytest.mark.slow
@pytest.mark.parametrize("name", ["aime24", "aime25", "math500", "gsm8k"])
def test_every_public_value_is_right_for_itself_alone(name: str, shared: Path) -> None:
    task = registry.load("task", name)()
    rows, _ = load_rows(task.info.dataset, shared / "data" / "hub")
    references = [mirrored.asked(task, problem).reference for problem in task.problems(rows)]
    own = [mirrored.answer_of("math", reference) for reference in references]
    assert all(score(task, text, reference) == 1 for text, reference in zip(own, references, strict=True))
    following = [
        (reference, other)
        for reference, other, text in zip(
            references, references[1:] + references[:1], own[1:] + own[:1], strict=True
        )
        if reference != other and score(task, text, reference) == 1
    ]
    assert following == EQUAL.get(name, [])
