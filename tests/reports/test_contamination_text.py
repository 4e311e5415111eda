"""Signs of contamination on a terminal."""

from __future__ import annotations

from typing import Any

from genbench.reports.terminal.contamination import contamination_text
from genbench.runs.contamination import (
    Contamination,
    ContaminationTask,
    FlipsRecord,
    OrderRecord,
    TwinsRecord,
)


def record(
    flips: dict[str, Any] | None = None, order: dict[str, Any] | None = None, suspicious: bool = False
) -> Contamination:
    counted = {
        "chances": 40,
        "count": 3,
        "problems": ("a", "b", "c"),
        "share_of_gain": 0.5,
        "earlier_runs": 2,
        "earlier_chances": 80,
        "earlier_count": 1,
        "p": 0.01,
        "p_adjusted": 0.02,
        "missing": None,
    }
    tested = {
        "problems": 50,
        "base_effect": 0.01,
        "tuned_effect": 0.08,
        "difference": 0.07,
        "se": 0.03,
        "p": 0.01,
        "p_adjusted": 0.02,
        "missing": None,
    }
    task = ContaminationTask(
        k_base=64,
        k_tuned=16,
        flips=FlipsRecord.model_validate(counted | (flips or {})),
        order=OrderRecord.model_validate(tested | (order or {})),
        suspicious=suspicious,
    )
    return Contamination(
        format=1,
        base="runs/base",
        earlier=("runs/one",),
        tuned="runs/new",
        alpha=0.05,
        tasks={"gpqa": task},
        allowed=("k.gpqa: 64 -> 16",),
    )


def row(found: Contamination) -> list[str]:
    return next(line for line in contamination_text(found).splitlines() if line.startswith("gpqa ")).split()


def test_the_runs_are_named_by_their_part() -> None:
    lines = contamination_text(record()).splitlines()
    assert lines[:4] == [
        "let through: k.gpqa: 64 -> 16",
        "base:    runs/base",
        "earlier: runs/one",
        "tested:  runs/new",
    ]


def test_a_row_has_flips_and_order() -> None:
    found = row(record(suspicious=True))
    assert found[:5] == ["gpqa", "64/16", "40", "3", "1/80"]
    assert found[-2:] == ["a", "sign"]


def test_a_task_has_no_sign_or_no_test() -> None:
    assert row(record())[-2:] == ["no", "sign"]
    assert row(record({"p": None}, {"p": None}))[-2:] == ["no", "test"]


def test_twins_say_what_they_could_have_found() -> None:
    pair = TwinsRecord(
        problems=40,
        base_gap=-0.05,
        tuned_gap=-0.08,
        difference=-0.03,
        se=0.0212,
        p=0.08,
        p_adjusted=0.16,
        missing=None,
    )
    found = record().model_copy(update={"twins": {"gpqa=twin": pair}})
    said = contamination_text(found)
    assert (
        "gpqa=twin: no sign found: twins minus originals -5.0 in base, -8.0 in the tested model: -3.0" in said
    )
    assert "could have found 5.3 points with 80 %" in said
    found = record().model_copy(update={"twins": {"gpqa=twin": pair.model_copy(update={"p_adjusted": 0.01})}})
    assert "gpqa=twin: a sign: twins minus originals" in contamination_text(found)


def test_flipped_problems_and_their_share_are_named() -> None:
    assert "gpqa: flipped: a, b, c; 50.0 % of the gain" in contamination_text(record())


def test_many_flipped_problems_are_counted() -> None:
    names = tuple(f"p{at}" for at in range(14))
    assert "p9 and 4 more" in contamination_text(record({"problems": names}))


def test_missing_tests_say_why() -> None:
    text = contamination_text(
        record(
            {"missing": "base has 4 samples", "p": None, "p_adjusted": None, "problems": ()},
            {"missing": "no options", "base_effect": None, "tuned_effect": None, "p_adjusted": None},
        )
    )
    assert "gpqa: flips are not counted: base has 4 samples" in text
    assert "gpqa: the order of options is not tested: no options" in text


def test_flips_without_earlier_runs_say_what_to_do() -> None:
    text = contamination_text(record({"p": None, "p_adjusted": None, "earlier_runs": 0}))
    assert "name runs of earlier models after the base" in text
