"""Deleting of old texts: scores stay, and so do the runs that may still be looked at."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from genbench.errors import InputError
from genbench.nights.ledger.checking import check
from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.history import track_history
from genbench.nights.ledger.ingest import add, rebuild
from genbench.nights.ledger.listing import list_ledger
from genbench.nights.ledger.pruning import LAST_KEPT, parse_age, prune
from tests.nights.ledger.equality import all_rows
from tests.nights.ledger.synthetic import flat, make_run

TODAY = date(2026, 6, 1)


@pytest.fixture
def runs(ledger: Ledger, tmp_path: Path) -> Path:
    for night in range(LAST_KEPT + 3):
        folder = tmp_path / "runs" / f"n{night:02}"
        make_run(folder, {"math": flat(4, 1, 0.5, night)}, position=20_000 + night, verdicts=True)
        (folder / "math" / "completions.jsonl").write_text("")
    add(ledger, [tmp_path / "runs"])
    return tmp_path / "runs"


def test_old_texts_go_and_scores_stay(ledger: Ledger, runs: Path) -> None:
    before = track_history(ledger, "nightly").series["math"].epochs[0].sums.tolist()
    done = prune(ledger, "nightly", keep_completions=timedelta(days=30), today=TODAY)
    # The first run is the base, and the last fourteen keep everything.
    assert [Path(item.path).name for item in done.runs] == ["n01", "n02"]
    assert not (runs / "n01" / "math" / "completions.jsonl").exists()
    assert (runs / "n01" / "math" / "verdicts.jsonl").exists()
    assert (runs / "n00" / "math" / "completions.jsonl").exists()
    assert done.spared == LAST_KEPT + 1
    assert track_history(ledger, "nightly").series["math"].epochs[0].sums.tolist() == before


def test_old_verdicts_go_only_if_that_was_asked(ledger: Ledger, runs: Path) -> None:
    month, two = timedelta(days=30), timedelta(days=60)
    prune(ledger, "nightly", keep_completions=month, keep_verdicts=two, today=TODAY)
    assert not (runs / "n01" / "math" / "verdicts.jsonl").exists()
    kept = {item.uid: item.kept for item in list_ledger(ledger, runs=True).runs or ()}
    assert sorted(kept.values()).count("none") == 2
    assert not check(ledger).failed


def test_a_dry_run_deletes_nothing(ledger: Ledger, runs: Path) -> None:
    done = prune(ledger, "nightly", keep_completions=timedelta(days=30), dry_run=True, today=TODAY)
    assert len(done.runs) == 2 and (runs / "n01" / "math" / "completions.jsonl").exists()


def test_what_was_pruned_survives_a_rebuild(ledger: Ledger, runs: Path) -> None:
    prune(ledger, "nightly", keep_completions=timedelta(days=30), today=TODAY)
    wanted = all_rows(ledger)
    rebuild(ledger)
    assert all_rows(ledger) == wanted


def test_young_runs_are_not_touched(ledger: Ledger, runs: Path) -> None:
    assert prune(ledger, "nightly", keep_completions=timedelta(days=300), today=TODAY).runs == ()


def test_ages_as_people_write_them() -> None:
    assert [parse_age(text).days for text in ("30d", "2w", "1y")] == [30, 14, 365]
    for text in ("", "30", "d", "-1d", "1 fortnight"):
        with pytest.raises(InputError, match="30d or 1y"):
            parse_age(text)


def test_verdicts_cannot_go_before_texts(ledger: Ledger, runs: Path) -> None:
    with pytest.raises(InputError, match="shorter than"):
        prune(ledger, "nightly", keep_completions=timedelta(days=9), keep_verdicts=timedelta(days=3))
