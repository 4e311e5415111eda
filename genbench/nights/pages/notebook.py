"""A track in a notebook."""

from __future__ import annotations

from markupsafe import Markup

from genbench.nights.pages.page import trend_chart
from genbench.nights.trend.record import Trend
from genbench.reports.page.templates import page_environment, template_source


class TrendView:
    """A `protocols.View` of a track."""

    def head(self, record: Trend) -> Markup:
        """Return its sentence."""
        return Markup("<p><b>{}</b></p>").format(record.sentence)

    def names(self, record: Trend) -> list[str]:
        """Return the tasks that have a point."""
        return [item.task for item in record.tasks if any(value is not None for value in item.points.value)]

    def picture(self, record: Trend, name: str) -> tuple[Markup, str]:
        """Return the chart of a task, and its styles."""
        item = next(item for item in record.tasks if item.task == name)
        changes = [change for change in record.changes if change.task == name]
        return trend_chart(name, item.points, changes), template_source(
            page_environment("genbench.nights"), "trend.css"
        )
