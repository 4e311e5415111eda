"""A measured false-alarm band for the terminal."""

from __future__ import annotations

from genbench.analysis.noise_record import NoiseMeasurement, TaskNoise
from genbench.reports.figures import points
from genbench.reports.table import aligned
from genbench.reports.why import signed
from genbench.safetext.printable import printable

_HEAD = ("task", "n x k", "difference", "band (95%)", "samples changed", "")
_RIGHT = frozenset({"n x k", "difference", "band (95%)", "samples changed"})


def noise_text(measured: NoiseMeasurement) -> str:
    """Return the bands as text, in points of 100."""
    rows = [_row(name, task) for name, task in measured.tasks.items()]
    return printable(
        "\n".join(
            [
                *(f"let through: {line}" for line in measured.allowed),
                f"one model run twice, {_source(measured)}",
                "",
                aligned(_HEAD, rows, _RIGHT),
                "",
                "band: 95% of re-runs of this model differ by at most so many points of 100.",
                f"stored in noise.json of {' and '.join(measured.runs)}; `genbench compare` shows it",
            ]
        )
    )


def _source(measured: NoiseMeasurement) -> str:
    """Return the source of the noise: the engine with one run seed, sampling with two."""
    first, second = measured.run_seeds
    if measured.same_seed:
        return f"one run seed ({first}): the engine's own non-determinism"
    return f"run seeds {first} and {second}: the noise of sampling"


def _row(name: str, task: TaskNoise) -> tuple[str, ...]:
    """Return the cells of one task."""
    k = task.k_first if task.k_first == task.k_second else f"{task.k_first}/{task.k_second}"
    return (
        name,
        f"{task.n} x {k}",
        signed(task.difference),
        f"±{points(task.band)}",
        "-" if task.changed_samples is None else f"{100 * task.changed_samples:.1f}%",
        "" if task.expected else "outside its band: a 1 in 20 chance, or the runs are not alike",
    )
