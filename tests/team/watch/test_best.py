"""The best checkpoints of a watch, drawn again with a fresh seed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import update

from genbench.errors import InputError
from genbench.nights.ledger.database import open_ledger
from genbench.nights.ledger.ingest import add
from genbench.team.queue import tables
from genbench.team.queue.database import Queue
from genbench.team.queue.jobs import get_job, list_jobs
from genbench.team.text import best_text
from genbench.team.watch.best import draw_best_again
from genbench.team.watch.watches import WatchRules
from tests.nights.ledger.synthetic import flat, make_run
from tests.team.watch.conftest import write_checkpoint
from tests.team.watch.test_watcher import polled

Rules = Callable[..., WatchRules]
SCORES = {100: 0.2, 200: 0.8, 300: 0.5, 400: 0.9, 500: 0.4}


@pytest.mark.slow
def test_the_best_are_drawn_again_once_and_their_second_scores_shown(
    queue: Queue, rules: Rules, tmp_path: Path
) -> None:
    runs = tmp_path / "drawn"
    for step, share in SCORES.items():
        write_checkpoint(tmp_path / "out" / f"checkpoint-{step}", step)
        scores = {"sums": flat(40, 2, share, step)}
        make_run(
            runs / f"s{step}", scores, track="sft", kind="step", position=step, model=f"checkpoint-{step}"
        )
    polled(queue, rules())
    with queue.write() as connection:
        connection.execute(update(tables.job).values(state="finished"))
    polled(queue, rules(), 1)
    with open_ledger(tmp_path / "l.sqlite3") as ledger:
        with pytest.raises(InputError):
            draw_best_again(ledger, queue, "w", by="ada")
        add(ledger, [runs])
        found = draw_best_again(ledger, queue, "w", by="ada")
        assert [item.step for item in found.checkpoints] == [400, 200, 300] and found.tasks == ("sums",)
        jobs = [get_job(queue, item.job or 0) for item in found.checkpoints]
        assert {job.track for job in jobs} == {"sft-again"} and jobs[0].label == "step-400"
        assert (
            jobs[0].spec.options().overrides == (f"decoding.seed={found.seed}",)
            and jobs[0].requested_by == "ada"
        )
        count = len(list_jobs(queue))
        make_run(runs / "again", {"sums": flat(40, 2, 0.7, 9)}, track="sft-again", kind="step", position=400)
        add(ledger, [runs])
        (tmp_path / "out" / "checkpoint-200" / "config.json").write_text("{}")
        again = draw_best_again(ledger, queue, "w", by="ada", top=2)
        assert len(list_jobs(queue)) == count
    best, second = again.checkpoints
    assert best.again is not None and best.again < best.first and second.again is None
    assert second.state == "its files are gone or were written again"
    assert "400" in best_text(again) and "right on average" in best_text(again)
