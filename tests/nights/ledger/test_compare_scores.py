"""Two runs side by side by the scores that the ledger keeps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from genbench.errors import InputError
from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.differences import compare_scores
from genbench.nights.ledger.history import track_history
from genbench.nights.ledger.ingest import add
from tests.nights.ledger.synthetic import flat, make_run


def test_differences_are_paired_and_other_tasks_left_out(ledger: Ledger, tmp_path: Path) -> None:
    first, second = flat(40, 2, 0.5, 1), flat(40, 2, 0.5, 2)
    make_run(tmp_path / "runs" / "n0", {"math": first, "code": first}, position=20_000)
    make_run(tmp_path / "runs" / "n1", {"math": second}, position=20_001)
    add(ledger, [tmp_path / "runs"])
    base, tuned = (point.uid for point in track_history(ledger, "nightly").points)
    kept = compare_scores(ledger, base, tuned)
    (task,) = kept.tasks
    assert (task.task, task.problems, kept.left_out) == ("math", 40, ("code",))
    wanted = float(np.mean(np.asarray(second)) - np.mean(np.asarray(first)))
    assert task.difference == pytest.approx(wanted, abs=1e-9)
    assert task.ci[0] < task.difference < task.ci[1]
    assert task.tuned == pytest.approx((task.base or 0) + task.difference)
    with pytest.raises(InputError, match="no scores of run 'none'"):
        compare_scores(ledger, base, "none")
