"""A task that brings its own rows: lengths to be written in another unit."""

from __future__ import annotations

from genbench.errors import ConfigError
from genbench.protocols import Row, TaskInfo
from genbench.tasks.base import SingleTurn
from genbench.types import Ask, Message, Problem

_ROWS: tuple[tuple[str, str, str, str], ...] = (
    ("walk", "3.2 km", "m", "3200 m"),
    ("desk", "140 cm", "m", "1.4 m"),
    ("screw", "0.8 cm", "mm", "8 mm"),
    ("bridge", "1991 m", "km", "1.991 km"),
    ("card", "85.6 mm", "cm", "8.56 cm"),
    ("pool", "50 m", "cm", "5000 cm"),
    ("marathon", "42.195 km", "m", "42195 m"),
    ("hair", "0.07 mm", "cm", "0.007 cm"),
)


class UnitConversion(SingleTurn):
    """A single-turn task with rows of its own."""

    def rows(self) -> list[Row]:
        """Return the rows: an id, a length, the unit wanted, and the answer."""
        names = ("id", "length", "unit", "answer")
        return [dict(zip(names, row, strict=True)) for row in _ROWS]


def unit_conversion(*, style: str = "short") -> UnitConversion:
    """Return the task. `style` is `short` (only the result) or `worked` (with the steps).

    Raises:
        ConfigError: another style.
    """
    if style not in ("short", "worked"):
        raise ConfigError(f"style is '{style}', wanted short or worked")
    info = TaskInfo(
        name="unit_conversion",
        version=f"1-{style}",
        summary="8 lengths to be written in another unit",
        dataset=None,
        k=1,
        verifier="quantity",
        licence="Apache-2.0",
        metrics=("avg@k", "pass@k", "agreement"),
    )
    ending = "Show the steps." if style == "worked" else "Give only the result."

    def pose(problem: Problem, sample_index: int) -> Ask:
        row = problem.row
        text = f"Write {row['length']} in {row['unit']}. {ending}"
        return Ask((Message("user", text),), row["answer"])

    return UnitConversion(info, _read, pose, ("id", "length", "unit", "answer"))


def _read(place: int, row: Row) -> Problem:
    return Problem("unit_conversion", str(row["id"]), row, {"unit": str(row["unit"])})
