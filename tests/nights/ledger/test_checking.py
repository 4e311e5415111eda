"""The check of a ledger: edited, damaged and missing folders are found."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from genbench.nights.ledger.checking import check
from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.history import track_history
from genbench.nights.ledger.ingest import add
from genbench.nights.ledger.listing import list_ledger
from tests.nights.ledger.synthetic import flat, make_run


@pytest.fixture
def run(ledger: Ledger, tmp_path: Path) -> Path:
    folder = make_run(tmp_path / "runs" / "n0", {"math": flat()}, verdicts=True)
    add(ledger, [folder])
    return folder


def problems(ledger: Ledger) -> str:
    record = check(ledger)
    assert len(record.runs) == 1 and record.failed == (record.runs[0].state == "edited")
    return "\n".join(record.runs[0].problems)


def test_an_untouched_run_is_ok(ledger: Ledger, run: Path) -> None:
    assert problems(ledger) == "" and check(ledger, "nightly").runs[0].state == "ok"


def test_a_changed_result_is_found_with_the_remedy(ledger: Ledger, run: Path) -> None:
    record = json.loads((run / "results.json").read_text())
    record["tasks"]["math"]["value"] = 0.99
    (run / "results.json").write_text(json.dumps(record))
    assert "is not the one that was added" in problems(ledger)
    assert check(ledger, lines=False).failed


def test_edited_verdicts_are_found_although_their_number_is_right(ledger: Ledger, run: Path) -> None:
    path = run / "math" / "verdicts.jsonl"
    lines = path.read_text().splitlines()
    first = json.loads(lines[0])
    first["score"], first["status"] = (0.0, "wrong") if first["score"] else (1.0, "correct")
    path.write_text("\n".join([json.dumps(first), *lines[1:]]) + "\n")
    found = problems(ledger)
    assert "math/verdicts.jsonl has other contents than results.json was made from" in found
    assert "sums.json is not what verdicts.jsonl gives" in found


def test_edited_sums_are_found_without_reading_lines(ledger: Ledger, run: Path) -> None:
    text = (run / "sums.json").read_text()
    (run / "sums.json").write_text(text.replace('"counts":[2', '"counts":[1'))
    assert "sums.json" in "\n".join(check(ledger, lines=False).runs[0].problems)


def test_another_run_in_the_folder_is_found(ledger: Ledger, run: Path) -> None:
    shutil.rmtree(run)
    make_run(run, {"math": flat()}, uid="99999999-2222-3333-4444-555555555555")
    assert "is another run now" in problems(ledger)


def test_a_missing_folder_is_marked_and_is_no_failure(ledger: Ledger, run: Path) -> None:
    run.rename(run.with_name("moved"))
    record = check(ledger)
    assert record.runs[0].state == "missing" and not record.failed
    assert track_history(ledger, "nightly").points[0].path is None
    run.with_name("moved").rename(run)
    assert check(ledger).runs[0].state == "ok"
    assert track_history(ledger, "nightly").points[0].path == str(run)


def test_the_list_shows_tracks_and_runs(ledger: Ledger, run: Path) -> None:
    record = list_ledger(ledger, runs=True)
    assert [(item.name, item.points, item.tasks, item.last) for item in record.tracks] == [
        ("nightly", 1, 1, "2024-10-04")
    ]
    assert record.runs is not None and record.runs[0].paths == (str(run),)
    assert list_ledger(ledger, "nightly").runs is None
