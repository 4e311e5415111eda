"""Verdicts of the official code on real answers; each one that differs is named here."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import UnavailableError
from genbench.protocols import Task
from genbench.registry import load
from genbench.tasks.python.instruction_following import ifbench
from genbench.types import Answer, Case, SampleId
from genbench.verifiers.instructions.accuracies import LOOSE, STRICT, part
from genbench.verifiers.instructions.verifier import ConstraintVerifier

Gold = Callable[[str], list[dict[str, Any]]]

RANDOM_KEYS = {"1122", "1129"}
"""Their letter is no letter: the official code of these verdicts replaces it by a random one."""
SPLITTER = {("ifeval", "1174", 0, "length_constraints:number_sentences", LOOSE)}
"""What differs without Punkt's tables. The answer says "*o*. Let": with the stars deleted, "o." is an initial
to Punkt, and only its tables know that "let" begins sentences."""


@pytest.fixture(scope="module")
def verifier() -> ConstraintVerifier:
    return ConstraintVerifier()


def hub_instructions(shared: Path, task: Task, folder: str) -> dict[str, Any]:
    """Return the instructions of each row of the hub, by its key."""
    text = (shared / "data/hub" / folder / "default/train.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.split("\n") if line]
    asks = {problem.problem_id: task.ask(problem, 0, ()) for problem in task.problems(rows)}
    return {name: ask.reference for name, ask in asks.items() if ask is not None}


def judged(verifier: ConstraintVerifier, text: str, instructions: Any) -> dict[str, float]:
    case = Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), instructions)
    return dict(verifier.verify(case).parts)


def differences(
    verifier: ConstraintVerifier, name: str, lines: list[dict[str, Any]], problems: dict[str, Any]
) -> tuple[int, set[tuple[Any, ...]]]:
    """How many verdicts were compared, and those that differ, as (file, key, sample, instruction, mode)."""
    compared, found = 0, set()
    for line in lines:
        instructions = problems[line["problem_id"]]
        parts = judged(verifier, line["text"], instructions)
        for mode in (STRICT, LOOSE):
            for place, (item, followed) in enumerate(zip(instructions, line["expected"][mode], strict=True)):
                name_of_part = part(mode, 0, place, item["id"])
                if item["id"] == "words:start_verb":
                    assert name_of_part not in parts
                    continue
                compared += 1
                if bool(parts[name_of_part]) is not followed:
                    found.add((name, line["problem_id"], line["sample_index"], item["id"], mode))
    return compared, found


@pytest.mark.slow
@pytest.mark.gold
@pytest.mark.parametrize(
    ("name", "verdicts"), [("ifeval", 854), ("ifeval_other", 28), ("ifeval_cross", 2562)]
)
def test_ifeval_verdicts_are_the_official_ones(
    verifier: ConstraintVerifier, gold: Gold, shared: Path, name: str, verdicts: int
) -> None:
    problems = hub_instructions(shared, load("task", "ifeval")(), "google/IFEval")
    compared, found = differences(verifier, name, gold(name), problems)
    assert compared == verdicts
    expected = {item for item in SPLITTER if item[0] == name} if verifier.notes else set()
    assert {item for item in found if item[1] not in RANDOM_KEYS} == expected


@pytest.mark.slow
@pytest.mark.gold
@pytest.mark.parametrize(("name", "verdicts"), [("ifbench", 320), ("ifbench_cross", 1968)])
def test_ifbench_verdicts_are_the_official_ones(
    verifier: ConstraintVerifier, gold: Gold, shared: Path, name: str, verdicts: int
) -> None:
    problems = hub_instructions(shared, ifbench(), "allenai/IFBench_test")
    assert differences(verifier, name, gold(name), problems) == (verdicts, set())


@pytest.mark.gold
@pytest.mark.parametrize(
    ("name", "judgeable"),
    [("ifeval_unit", 48), ("ifeval_examples", 119), ("ifbench_unit", 85), ("ifbench_examples", 183)],
)
def test_single_instructions_are_judged_as_officially(
    verifier: ConstraintVerifier, gold: Gold, name: str, judgeable: int
) -> None:
    counted: Counter[str] = Counter()
    for line in gold(name):
        instruction = line["instruction_id"]
        parts = judged(verifier, line["text"], [{"id": instruction, **(line["kwargs"] or {})}])
        if not parts:
            assert instruction == "words:start_verb"
            continue
        expected = line["expected"]
        found = {mode: bool(parts[part(mode, 0, 0, instruction)]) for mode in (STRICT, LOOSE)}
        assert found[STRICT] is expected.get("followed", expected.get(STRICT)), line["problem_id"]
        assert LOOSE not in expected or found[LOOSE] is expected[LOOSE], line["problem_id"]
        counted["judged"] += 1
    assert counted["judged"] == judgeable


@pytest.mark.gold
@pytest.mark.parametrize(
    ("task", "folder", "untagged"),
    [(load("task", "ifeval")(), "google/IFEval", 0), (ifbench(), "allenai/IFBench_test", 6)],
)
def test_every_real_row_is_read_before_anything_runs(
    verifier: ConstraintVerifier, shared: Path, task: Task, folder: str, untagged: int
) -> None:
    problems = hub_instructions(shared, task, folder)
    assert task.info.dataset is not None and len(problems) == task.info.dataset.rows
    unavailable = 0
    for instructions in problems.values():
        try:
            verifier.check(instructions)
        except UnavailableError:
            unavailable += 1
    assert unavailable == untagged
