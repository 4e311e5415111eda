"""Tables and charts of curves: values by step, and texts that are safe to show."""

from __future__ import annotations

from genbench.analysis.curves import Curve, CurveBest, CurvePoint, Curves
from genbench.reports.curves import curves_page, curves_text, shown


def curve(series: str = "run") -> Curve:
    points = tuple(
        CurvePoint(step=step, model=f"step-{step}", value=2.0 - step / 1000, ci=(1.0, 2.5), rerun_ci=None)
        for step in (0, 500)
    )
    return Curve(
        series=series,
        task="wiki",
        measure="bits_per_byte",
        is_share=False,
        lower_is_better=True,
        points=points,
        signal_to_noise=None,
        monotonicity=None,
        noise=0.1,
        best=CurveBest(step=500, model="step-500", value=1.5, shrunk=1.625, luck=0.0564),
    )


def test_the_values_of_a_few_curves_are_shown_by_step() -> None:
    text = curves_text(Curves(format=1, curves=(curve(),), ranks=()))
    assert "run: wiki bits_per_byte" in text
    assert "500    1.5  [1, 2.5]  step-500" in text
    assert shown(curve(), 1.23456) == "1.235"


def test_names_in_the_page_are_escaped() -> None:
    page = curves_page(Curves(format=1, curves=(curve("<b>"),), ranks=()))
    assert "&lt;b&gt;" in page and "<b>" not in page and "lower is better" in page
