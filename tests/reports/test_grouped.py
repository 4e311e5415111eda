"""What is said of a group: sums, ranges and means of its tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from genbench.reports.page.data import Series, group_series
from genbench.reports.record import TaskHealthRecord
from genbench.reports.result_tables import group_change, health_row
from tests.reports.test_headline import compared

HEALTH: dict[str, Any] = {
    **{"problems": 10, "samples": 20, "duplicates": (("p", "q"),), "extraction_failures": 2},
    **{"always_right": 3, "never_right": 1, "suspicious_references": (), "excluded": (), "prompt_copies": 1},
    "prompt_copies_shown": (),
}


def health(rate: float | None) -> TaskHealthRecord:
    return TaskHealthRecord(**HEALTH, extraction_failure_rate=rate)


def series(run: str, unit: str = "tokens", *sizes: int) -> Series:
    return Series(run, unit, sizes, sizes, sizes, [1.0] * len(sizes))


def test_counts_are_added_and_rates_have_a_range() -> None:
    found = health_row("g (2 tasks)", "m", [health(0.5), health(0.125)])
    assert (found.problems, found.always_right, found.duplicates, found.copies) == (20, 6, 2, 2)
    assert found.lost == "12.5% to 50.0%"
    assert health_row("a", "m", [health(None)]).lost == "-"


def test_the_samples_of_a_group_are_those_of_all_its_tasks() -> None:
    base, tuned = group_series(
        [[series("base", "tokens", 1, 2), series("tuned", "tokens", 5)], [series("base", "tokens", 3)]]
    )
    assert (base.run, list(base.completion), len(base.scores)) == ("base", [1, 2, 3], 3)
    assert (tuned.run, list(tuned.trace)) == ("tuned", [5])


def test_tokens_and_characters_are_not_mixed() -> None:
    assert group_series([[series("m", "tokens", 1)], [series("m", "characters", 9)]]) == []


def test_changes_have_the_means_the_range_and_the_verdicts(tmp_path: Path) -> None:
    item = compared(tmp_path, 50, 20).record
    assert item is not None
    (one,) = item.tasks.values()
    other = one.model_copy(update={"base": 0.4, "tuned": 0.5, "difference": 0.1, "verdict": "INCONCLUSIVE"})
    both = {"a": one, "b": other}
    found = group_change("g", ["a", "b"], both)
    assert found is not None and found.verdicts == "1 regressed, 1 inconclusive"
    assert (found.name, found.base, found.tuned, found.change) == (
        "g (2 tasks)",
        "61.7",
        "41.7",
        "-50.0 to +10.0",
    )
    lacking = {"a": one, "b": other.model_copy(update={"base": None, "tuned": None, "difference": None})}
    found = group_change("g", ["a", "b"], lacking)
    assert found is not None and (found.base, found.change) == ("-", "-50.0")
    assert group_change("g", ["c"], both) is None
