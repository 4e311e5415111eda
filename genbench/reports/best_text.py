"""The best checkpoints and their second draws for the terminal."""

from __future__ import annotations

from genbench.reports.table import aligned
from genbench.watch.best import BestAgain


def best_text(record: BestAgain) -> str:
    """Return the checkpoints as text. Scores are points of 100."""
    head = (
        f"{record.track}: mean of {', '.join(record.tasks)}. The first score chose the checkpoint, so it is "
        f"too high on average. The second is right on average (track {record.again}, seed {record.seed})."
    )
    rows = [
        (
            str(item.step),
            f"{100 * item.first:.1f}",
            "-" if item.again is None else f"{100 * item.again:.1f}",
            "-" if item.job is None else str(item.job),
            item.state,
        )
        for item in record.checkpoints
    ]
    return (
        f"{head}\n{aligned(('step', 'first', 'again', 'job', ''), rows, {'step', 'first', 'again', 'job'})}"
    )
