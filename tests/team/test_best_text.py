"""The best checkpoints and their second draws as text."""

from __future__ import annotations

from genbench.team.text import best_text
from genbench.team.watch.best import BestAgain, DrawnAgain


def test_both_scores_are_shown_in_points() -> None:
    found = (
        DrawnAgain(step=400, path="c-400", first=0.9, again=0.854, job=3, state="finished"),
        DrawnAgain(step=200, path="c-200", first=0.8, again=None, job=None, state="its files are gone"),
    )
    record = BestAgain(
        format=1, watch="w", track="sft", again="sft-again", seed=7, tasks=("math",), checkpoints=found
    )
    lines = best_text(record).splitlines()
    assert lines[0].startswith("sft: mean of math.") and "track sft-again, seed 7" in lines[0]
    assert lines[-2].split() == ["400", "90.0", "85.4", "3", "finished"]
    assert lines[-1].split()[:4] == ["200", "80.0", "-", "-"]
