"""A track verified again after its verifier changed: real runs of ready responses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.history import track_history
from genbench.nights.ledger.ingest import add
from genbench.nights.ledger.rescoring import rescore
from genbench.nights.pages.page import trend_page
from genbench.nights.pages.text import trend_text
from genbench.nights.trend.compose import trend
from genbench.pipeline import RunOptions, run
from genbench.stats.estimates import estimate
from genbench.store.folder import RunFolder
from tests.nights.ledger.synthetic import rewrite
from tests.ready_runs import RIGHT, SUITE, WRONG, rows, write_lines

NIGHTS = ("2026-01-01", "2026-01-02")


@pytest.fixture
def nights(tmp_path: Path) -> list[Path]:
    (tmp_path / "suite.yaml").write_text(SUITE)
    write_lines(tmp_path / "rows.jsonl", rows(12))
    lines = [
        {"task": "sums", "problem_id": f"p{i:02}", "sample_index": j, "text": RIGHT if i % 2 else WRONG}
        for i in range(12)
        for j in range(4)
    ]
    write_lines(tmp_path / "responses.jsonl", lines)
    return [
        run(
            RunOptions(
                suite=str(tmp_path / "suite.yaml"),
                responses=tmp_path / "responses.jsonl",
                run_dir=tmp_path / "out" / night,
                night_of=night,
                track="nightly",
                quiet=True,
            )
        ).folders["m"]
        for night in NIGHTS
    ]


@pytest.mark.slow
def test_old_verdicts_are_made_again_and_moved_scores_are_told(ledger: Ledger, nights: list[Path]) -> None:
    for night in nights:
        _pretend_older_verifier(night)
    add(ledger, nights)
    assert track_history(ledger, "nightly").series["sums"].value.tolist() == [0.0, 0.0]
    done = rescore(ledger, "nightly")
    assert [item.outcome for item in done.runs] == ["verified", "verified"]
    assert done.runs[0].moved["sums"].problems == 6 and done.runs[0].moved["sums"].after == 0.5
    series = track_history(ledger, "nightly").series["sums"]
    assert series.value.tolist() == [0.5, 0.5] and len(series.epochs) == 1
    again = rescore(ledger, "nightly")
    assert [item.outcome for item in again.runs] == ["unchanged", "unchanged"]
    (nights[1] / "sums" / "completions.jsonl").unlink()
    skipped = rescore(ledger, "nightly")
    assert skipped.skipped and "completions of sums were deleted" in skipped.runs[1].detail


@pytest.mark.slow
def test_a_track_says_that_the_verifier_changed_until_its_answers_are_verified_again(
    ledger: Ledger, nights: list[Path]
) -> None:
    _pretend_older_verifier(nights[0])
    add(ledger, nights)
    record = trend(ledger, "nightly")
    (epoch,) = record.epochs
    assert (epoch.label, epoch.changed, epoch.tasks) == ("2026-01-02", ("verifier",), ("sums",))
    told = "2026-01-02: other verifier than before: sums"
    command = "genbench ledger rescore nightly"
    for shown in (trend_text(record), trend_page(record)):
        assert told in shown and command in shown
    rescore(ledger, "nightly")
    assert trend(ledger, "nightly").epochs == () and command not in trend_text(trend(ledger, "nightly"))


def _pretend_older_verifier(folder: Path) -> None:
    """Make a run what an older verifier, which found nothing right, would have left."""
    path = folder / "sums" / "verdicts.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    older = [{**line, "score": 0.0, "status": "wrong", "verifier": "older"} for line in lines]
    write_lines(path, older)
    nothing = estimate("avg@4", [[0.0] * 4] * 12, seed=0, k=4).to_json()

    def older_results(record: dict[str, Any]) -> None:
        task = record["tasks"]["sums"]
        verifier = {**task["verifier"], "digest": "older"}
        task |= {**nothing, "metrics": {}, "status_counts": {"wrong": 48}, "verifier": verifier}
        del record["sums"], task["seal"]

    def older_manifest(record: dict[str, Any]) -> None:
        record["tasks"]["sums"]["verifier"]["digest"] = "older"

    rewrite(folder, manifest=older_manifest, results=older_results, is_older=True)
    assert RunFolder(folder).manifest() is not None
