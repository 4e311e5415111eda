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
    "the answer names several options, and the first is taken": {
        *{("194", QWEN), ("2317", QWEN), ("2972", QWEN), ("3345", QWEN), ("3405", QWEN), ("9308", QWEN)},
        *{("2547", LLAMA), ("2547", PHI), ("6853", LLAMA), ("7115", PHI)},
    },
    "a capital letter of a unit, a formula or a list is taken for the answer": {
        *{("3560", LLAMA), ("3560", PHI), ("3819", PHI), ("8360", QWEN)},
        *{("10724", MISTRAL), ("11388", MISTRAL), ("11454", PHI)},
    },
    "a later answer replaces it": {("76", QWEN)},
    "the answer is that none of the options is right": {("205", PHI)},
}
RIGHT_ONLY_HERE = {
    "the answer gives the option's text instead of its letter": {("8193", PHI), ("10767", QWEN)},
}


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
    assert there == set().union(*RIGHT_ONLY_THERE.values())
    assert here == set().union(*RIGHT_ONLY_HERE.values())
