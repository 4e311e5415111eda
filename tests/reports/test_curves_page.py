"""The page of curves: one chart for each measure of a task, with a line and a band for each series."""

from __future__ import annotations

from pathlib import Path

from genbench.analysis.curves import Curve, CurveBest, CurvePoint, Curves, RankPoint, Ranks
from genbench.reports.curves import curves_chart, curves_page, ranks_by_steps, write_curves_page


def curve(series: str, *values: float, task: str = "piqa", wide: float = 0.1) -> Curve:
    points = tuple(
        CurvePoint(step=100 * at, model=f"s{at}", value=value, ci=(value - wide, value + wide), rerun_ci=None)
        for at, value in enumerate(values)
    )
    best = max(points, key=lambda point: point.value)
    return Curve(
        series=series,
        task=task,
        measure="acc",
        is_share=True,
        lower_is_better=False,
        points=points,
        signal_to_noise=2.0,
        monotonicity=1.0,
        noise=None,
        best=CurveBest(step=best.step, model=best.model, value=best.value, shrunk=None, luck=None),
    )


def test_series_share_a_chart_and_the_best_point_is_open() -> None:
    chart = curves_chart("piqa", [curve("a", 0.5, 0.7), curve("b", 0.6, 0.4)], {"a": 0, "b": 1})
    assert chart.count('class="line"') == chart.count('class="band"') == 2
    assert chart.count('class="best"') == 2 and 'class="k1"' in chart
    assert "a, step 100: 70.0 [60.0, 80.0]" in chart and ">60<" in chart


def test_a_curve_without_change_has_a_chart() -> None:
    chart = curves_chart("t", [curve("a", 0.0, 0.0, wide=0.0)], {"a": 0})
    assert chart.count("<circle") == 2 and "nan" not in chart


def test_charts_are_grouped_by_task_and_orders_by_their_steps(tmp_path: Path) -> None:
    rows = [
        Ranks(task="piqa", measure="acc", points=tuple(RankPoint(step=at, agreement=1.0) for at in steps))
        for steps in ((0, 100), (0, 100), (0,))
    ]
    assert [len(group) for group in ranks_by_steps(rows).values()] == [2, 1]
    record = Curves(
        format=1, curves=(curve("a", 0.5, 0.7), curve("a", 0.1, 0.2, task="x")), ranks=tuple(rows)
    )
    page = curves_page(record)
    assert page.count("<figure>") == 2 and page.count("<tbody>") == 3
    assert 'content="light dark"' in page and "http" not in page.split("</style>")[1]
    assert write_curves_page(record, tmp_path / "new" / "c.html").read_text() == page
