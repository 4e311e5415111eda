"""Measures of scored texts for people: shares in points, other measures in their own unit."""

from __future__ import annotations

from genbench.analysis.likelihood import LikelihoodRecord, MeasureDifference, MeasureRecord
from genbench.reports.figures import difference_lines, likelihood_lines, measure_change, measure_value


def measure(value: float, *, lower: bool = False) -> MeasureRecord:
    return MeasureRecord(value=value, ci=(value - 0.1, value + 0.1), n=4, lower_is_better=lower)


def test_shares_and_other_measures_have_a_line_each_and_notices_follow() -> None:
    record = LikelihoodRecord(
        measures={"acc": measure(0.5), "bpb_gold": measure(1.25, lower=True)}, ties=1, merged=2
    )
    lines = likelihood_lines(record)
    assert lines[0] == "acc 50.0 [40.0, 60.0]"
    assert lines[1] == "bpb_gold 1.25 [1.15, 1.35]"
    assert "1 of 4 problems have a tie" in lines[2] and "in 2 of 4 problems one token" in lines[3]


def test_differences_say_which_direction_is_better() -> None:
    item = MeasureDifference(
        base=1.5, tuned=1.25, difference=-0.25, ci=(-0.5, 0.0), p_two_sided=0.04, n=9, lower_is_better=True
    )
    lines = "\n".join(difference_lines({"bpb_gold": item}))
    assert "paired over 9 problems" in lines
    assert "-0.25  [-0.5, 0]  0.04  lower" in lines
    assert list(difference_lines({})) == []
    assert (
        measure_change("bpb_gold", item) == "bpb_gold 1.5 -> 1.25 (-0.25, 95% CI [-0.5, 0], lower is better)"
    )
    assert measure_value("acc", 0.123) == "12.3"
