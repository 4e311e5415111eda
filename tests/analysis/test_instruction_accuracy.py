"""The four accuracies of instruction following, from the parts of verdicts."""

from __future__ import annotations

import pytest

from genbench.analysis.instruction_accuracy import has_instructions, instruction_record
from genbench.verifiers.instructions.accuracies import LOOSE, STRICT, part
from tests.known import known

COMMA, JSON = "punctuation:no_comma", "detectable_format:json_format"


def parts(turn: int = 0, **followed: tuple[float, float]) -> dict[str, float]:
    """Return the parts of a sample: for `comma` and `json` whether followed in strict and loose form."""
    ids = {"comma": COMMA, "json": JSON}
    return {
        part(mode, turn, place, ids[name]): value
        for place, (name, values) in enumerate(followed.items())
        for mode, value in zip((STRICT, LOOSE), values, strict=True)
    }


PROBLEMS = [[parts(comma=(1, 1), json=(0, 1))], [parts(comma=(1, 1))], [parts(comma=(0, 0), json=(1, 1))]]


def test_prompts_count_if_all_their_instructions_are_followed() -> None:
    (turn,) = instruction_record(PROBLEMS, 1, official=True).turns
    values = {name: item.value for name, item in turn.items()}
    assert values == pytest.approx(
        {
            "prompt_level_strict_acc": 1 / 3,
            "inst_level_strict_acc": 3 / 5,
            "prompt_level_loose_acc": 2 / 3,
            "inst_level_loose_acc": 4 / 5,
        }
    )


def test_each_accuracy_has_an_interval_around_it() -> None:
    (turn,) = instruction_record(PROBLEMS, 1, official=True).turns
    for item in turn.values():
        low, high = known(item.ci)
        assert 0 <= low <= known(item.value) <= high <= 1


def test_one_prompt_has_no_interval() -> None:
    (turn,) = instruction_record(PROBLEMS[:1], 1, official=True).turns
    assert {item.ci for item in turn.values()} == {None}


def test_the_official_checkers_name_their_defects_and_the_mended_ones_do_not() -> None:
    kinds = {row.instruction: row for row in instruction_record(PROBLEMS, 1, official=True).kinds}
    assert kinds[COMMA].n == 3 and kinds[COMMA].strict == pytest.approx(2 / 3)
    assert known(kinds[JSON].defect) == "bare values and NaN are JSON"
    assert all(row.defect is None for row in instruction_record(PROBLEMS, 1, official=False).kinds)


def test_a_conversation_has_accuracies_for_each_turn_and_their_mean() -> None:
    whole = [[parts(comma=(1, 1)) | parts(1, comma=(0, 0))] for _ in range(3)]
    record = instruction_record(whole, 1, official=True)
    assert [turn["inst_level_strict_acc"].value for turn in record.turns] == [1.0, 0.0]
    assert record.mean_of_turns == pytest.approx(0.5)
    assert instruction_record(PROBLEMS, 1, official=True).mean_of_turns is None


def test_only_parts_of_instructions_are_taken_for_them() -> None:
    assert has_instructions(PROBLEMS[0][0])
    assert not has_instructions({"rule": 1.0, "cascade": 0.0})
    assert not has_instructions({})
