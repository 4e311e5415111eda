"""A measured false-alarm band for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from genbench.reports.figures import points
from genbench.reports.safe import printable
from genbench.reports.table import aligned
from genbench.reports.why import signed

_HEAD = ("task", "n x k", "difference", "band (95%)", "samples changed", "")
_RIGHT = frozenset({"n x k", "difference", "band (95%)", "samples changed"})


def noise_text(record: Mapping[str, Any]) -> str:
    """The record of `noiseband.noise` as text, in points of 100."""
    seeds = record["run_seeds"]
    how = f"one run seed ({seeds[0]}): the engine's own non-determinism"
    if not record["same_seed"]:
        how = f"run seeds {seeds[0]} and {seeds[1]}: the noise of sampling"
    rows = [_row(name, task) for name, task in record["tasks"].items()]
    return printable(
        "\n".join(
            [
                *(f"let through: {line}" for line in record["allowed"]),
                f"one model run twice, {how}",
                "",
                aligned(_HEAD, rows, _RIGHT),
                "",
                "band: 95% of re-runs of this model differ by at most so many points of 100.",
                f"stored in noise.json of {' and '.join(record['runs'])}; `genbench compare` shows it",
            ]
        )
    )


def _row(name: str, task: Mapping[str, Any]) -> tuple[str, ...]:
    changed = task["changed_samples"]
    k = task["k_first"] if task["k_first"] == task["k_second"] else f"{task['k_first']}/{task['k_second']}"
    return (
        name,
        f"{task['n']} x {k}",
        signed(task["difference"]),
        f"±{points(task['band'])}",
        "-" if changed is None else f"{100 * changed:.1f}%",
        "" if task["expected"] else "outside its band: a 1 in 20 chance, or the runs are not alike",
    )
