"""A variant of a model: recovery decides, behaviour is next to it, and the card has both."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genbench.analysis.comparison.compare import Comparison, compare
from genbench.analysis.comparison.variant import Variant, _fits
from genbench.errors import InputError
from genbench.reports.explanations import headline
from genbench.reports.terminal.compare import compare_brief, compare_text
from genbench.reports.variant import card, write_card
from tests.known import known
from tests.ready_runs import RIGHT, SILENT, SUITE, WRONG, MakeRun

HAN = "答案是 \\boxed{3}"


def base_answers(i: int) -> list[str]:
    return [RIGHT if i % 4 else WRONG] * 4


def variant_answers(i: int) -> list[str]:
    """In one of twelve an answer is not readable, in one it is in Chinese, and one problem turns right."""
    if i == 4:
        return [RIGHT] * 4
    return [
        HAN if i % 12 == 5 else base_answers(i)[0],
        *base_answers(i)[1:3],
        SILENT if i % 12 == 1 else base_answers(i)[3],
    ]


@pytest.fixture
def pair(make_run: MakeRun) -> tuple[Path, Path]:
    return make_run("b", base_answers, n=108), make_run("v", variant_answers, n=108)


def found(pair: tuple[Path, Path], **options: Any) -> tuple[Comparison, Variant]:
    record = compare(*pair, treatment=["quantization"], **options)
    return record, known(record.variant)


def test_recovery_and_the_verdict_of_the_ratio_replace_those_of_the_difference(
    pair: tuple[Path, Path],
) -> None:
    record, variant = found(pair, suite_margin=0.1, margins={"sums": 0.1})
    task = record.tasks["sums"]
    ratio = known(variant.recovery)
    assert ratio.value == pytest.approx(known(task.tuned) / known(task.base))
    assert variant.verdict == record.suite.verdict == task.verdict == "NON_INFERIOR"
    assert headline(record).startswith(f"the variant recovers {100 * ratio.value:.1f} % of base [")
    assert "on sums: NON_INFERIOR at a loss of 10 % (lower bound" in headline(record)
    narrow, _ = found(pair, suite_margin=0.001, margins={"sums": 0.001}, gate=True, strict=True)
    assert (narrow.suite.verdict, narrow.exit_code) == ("REGRESSED", 1)
    assert found(pair, suite_margin=0.1, margins={"sums": 0.1}, gate=True, strict=True)[0].exit_code == 0


def test_behaviour_counts_flips_letters_and_answers_that_were_not_read(pair: tuple[Path, Path]) -> None:
    own = found(pair)[1].tasks["sums"]
    flips, scripts = known(own.flips), own.scripts
    assert flips.worse == pytest.approx((9 + 9) / 432)
    assert flips.better == pytest.approx(4 / 432)
    assert flips.rerun == 0  # base says the same four times
    assert known(own.unread).variant > known(own.unread).base
    assert scripts["CJK"].base == 0 < scripts["CJK"].variant


def test_the_text_says_what_was_compared_with_what(pair: tuple[Path, Path]) -> None:
    record, _ = found(pair)
    brief, whole = compare_brief(record), compare_text(record)
    assert "treatment quantization: no term differs, only the weights" in brief
    assert "4.2 % of samples turn wrong and 0.9 % right (a re-run: 0.0)" in brief
    assert "sums: recovery" in whole and "letters CJK" in whole


def test_the_card_is_markdown_and_json(pair: tuple[Path, Path], tmp_path: Path) -> None:
    record, variant = found(pair)
    write_card(record, tmp_path / "card.md")
    text = (tmp_path / "card.md").read_text()
    assert text == card(record, variant)
    ratio = known(variant.recovery)
    assert text.startswith("| task | base | the variant | recovery % [95 % interval] | verdict |\n|---|---|")
    assert (
        f"| sums | 75.0 | {100 * known(record.tasks['sums'].tuned):.1f} | {100 * ratio.value:.1f} % [" in text
    )
    assert "paired by problem (sums 108 x 4)" in text
    stored = json.loads((tmp_path / "card.json").read_text())
    assert Comparison.from_json(stored, "card.json") == record


def test_a_card_without_a_treatment_is_refused(pair: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="goes with a treatment"):
        write_card(compare(*pair), tmp_path / "card")
    assert list(tmp_path.glob("card*")) == []


def test_the_suite_declares_the_treatment(make_run: MakeRun) -> None:
    suite = SUITE + "treatment: quantization\n"
    record = compare(make_run("b", base_answers, suite=suite), make_run("v", base_answers, suite=suite))
    assert known(record.variant).treatment == ("quantization",)
    assert compare(make_run("b2", base_answers), make_run("v2", base_answers)).variant is None


def test_no_ratio_near_zero_is_said(make_run: MakeRun) -> None:
    record, variant = found((make_run("b", lambda i: [WRONG] * 4), make_run("v", lambda i: [RIGHT] * 4)))
    assert (variant.recovery, variant.near_zero, variant.verdict) == (None, ("sums",), "INCONCLUSIVE")
    assert headline(record) == (
        "No recovery of base by the variant can be given: base has too few right answers for a ratio in sums."
    )


WEATHER = {
    "name": "get.weather",
    "parameters": {
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "unit": {"type": "string", "enum": ["C"]},
        },
        "required": ["city"],
    },
}


@pytest.mark.parametrize(
    ("name", "arguments", "fits"),
    [
        ("get_weather", {"city": "Oslo", "days": 3, "unit": "C"}, True),
        ("get.weather", {"city": "Oslo"}, True),
        ("get_wether", {"city": "Oslo"}, False),
        ("get_weather", {"days": 3}, False),
        ("get_weather", {"city": "Oslo", "town": "Oslo"}, False),
        ("get_weather", {"city": "Oslo", "days": "3"}, False),
        ("get_weather", {"city": "Oslo", "days": True}, False),
        ("get_weather", {"city": "Oslo", "unit": "F"}, False),
    ],
)
def test_a_call_fits_the_schema_of_an_offered_function(
    name: str, arguments: dict[str, Any], fits: bool
) -> None:
    assert _fits({"name": name, "arguments": arguments}, [WEATHER]) is fits
