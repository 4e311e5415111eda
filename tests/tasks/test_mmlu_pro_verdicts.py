"""MMLU-Pro's own verdicts on 2,996 answers, and each one that genbench's verifier does not share."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from genbench import registry
from genbench.data.hub import load_rows
from genbench.tasks.page.task import PageTask
from genbench.types import Answer, Case, SampleId
from genbench.verifiers.choice.verifier import ChoiceVerifier
from genbench.verifiers.foreign.published_extraction import LetterVerifier, lm_eval

LLAMA, MISTRAL, PHI, QWEN = (
    "Meta-Llama-3_1-8B-Instruct",
    "Mistral-7B-v0.1",
    "Phi-3-mini-4k-instruct",
    "Qwen1.5-7B-Chat",
)
RIGHT_ONLY_THERE = {
    # The official code takes the first of several options, or the last capital letter of the text.
    ("194", QWEN): "six letters, as answers to six questions: B, A, C, C, H, J",
    ("2317", QWEN): '"So the answer is (B, C, D, G)."',
    ("2547", LLAMA): '"The answer is (B) and (D)."',
    ("2547", PHI): '"The answer is (B) and (D)."',
    ("2972", QWEN): '"The answer is (A) or (G)."',
    ("3345", QWEN): '"The answer is a combination of (C, F, E)."',
    ("3405", QWEN): '"the correct answer is (C) and (J)"',
    ("6853", LLAMA): '"The answer is (F) and (H)."',
    ("7115", PHI): '"The answer is (A) and (E)."',
    ("9308", QWEN): '"The answer is D. … and H. …", after "(D) and (H), both of which"',
    ("3560", LLAMA): "cut off in a derivation that repeats itself; J is the unit joule",
    ("3560", PHI): "cut off in a formula; J is the unit joule",
    ("3819", PHI): "cut off in a formula; B is the index of the Boltzmann constant",
    ("8360", QWEN): 'cut off at "Comparing these", after "in set F …, and in set H …"',
    ("10724", MISTRAL): "a list of words that never ends; E is a symbol of the grammar",
    ("11388", MISTRAL): "cut off in a division; A is the unit ampere",
    ("11454", PHI): "cut off in a formula; A is the area in V = Q/A",
    ("344", PHI): '"The answer is not listed in the options, but the closest one is (I)."',
    ("10464", MISTRAL): "cut off in a formula; H is the entropy",
    ("10464", PHI): "cut off in a formula; H is the entropy",
    ("12090", PHI): "cut off in a formula; E is the energy",
    ("76", QWEN): '"The answer is (D).", and then "Answer: The answer is (F)."',
    ("205", PHI): '"The closest option is (F), but it is not the exact answer … Answer: None of the above."',
}
RIGHT_ONLY_HERE: dict[tuple[str, str], str] = {}


@pytest.fixture
def cases(shared: Path) -> list[tuple[Case, dict[str, Any]]]:
    text = (shared / "gold" / "mmlu_pro.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.split("\n") if line]
    task = registry.load("task", "mmlu_pro")("mmlu-pro")
    assert isinstance(task, PageTask) and task.info.dataset is not None
    rows, _ = load_rows(task.info.dataset, shared / "data" / "hub")
    problems = {problem.problem_id: problem for problem in task.problems(rows)}
    return list(_cases(task, problems, lines))


def _cases(
    task: PageTask, problems: Any, lines: list[dict[str, Any]]
) -> Iterator[tuple[Case, dict[str, Any]]]:
    for line in lines:
        ask = task.ask(problems[line["problem_id"]], 0, ())
        assert ask is not None
        sample = SampleId("mmlu_pro", line["problem_id"], line["sample_index"])
        yield Case(sample, (Answer(line["text"], "absent", "", False),), ask.reference), line


@pytest.mark.slow
@pytest.mark.gold
def test_the_protocol_gives_the_official_verdict_on_every_text(
    cases: list[tuple[Case, dict[str, Any]]],
) -> None:
    verifier = LetterVerifier("mmlu-pro")
    assert len(cases) == 2996
    for case, line in cases:
        found, expected = verifier.verify(case), line["expected"]
        assert found.detail.get("letter") == expected["pred"], line["problem_id"]
        assert bool(found.score) == expected["correct"], line["problem_id"]


@pytest.mark.slow
@pytest.mark.gold
def test_the_first_step_gives_lm_eval_s_verdict_on_every_text(
    cases: list[tuple[Case, dict[str, Any]]],
) -> None:
    for case, line in cases:
        found = lm_eval(case.answer.text)
        right = found is not None and found[0] == case.reference["letter"]
        assert right == line["expected"]["correct_first_regex"], line["problem_id"]


@pytest.mark.gold
@pytest.mark.slow
def test_every_difference_of_genbench_s_own_verifier_is_listed(
    cases: list[tuple[Case, dict[str, Any]]],
) -> None:
    verifier = ChoiceVerifier()
    there: set[tuple[str, str]] = set()
    here: set[tuple[str, str]] = set()
    for case, line in cases:
        right, name = bool(verifier.verify(case).score), (line["problem_id"], line["model"])
        if right != line["expected"]["correct"]:
            (here if right else there).add(name)
    assert there == set(RIGHT_ONLY_THERE)
    assert here == set(RIGHT_ONLY_HERE)
