"""The records of the ledger and of the gate as text."""

from __future__ import annotations

from genbench.nights.ledger.checking import CheckedRun, LedgerCheck
from genbench.nights.ledger.ingest import AddedRun, LedgerAdded
from genbench.nights.ledger.listing import LedgerList, ListedTrack
from genbench.nights.ledger.pruning import LedgerPruned, PrunedRun
from genbench.nights.ledger.rescoring import LedgerRescored, MovedTask, RescoredRun
from genbench.nights.pages.terminal import gate_text, ledger_text
from genbench.nights.policy.gate import GatedTask, NightlyGate
from genbench.reports.schemas import RECORDS


def test_refused_folders_are_listed_with_their_reason() -> None:
    folders = (
        AddedRun(
            path="/r/a", outcome="added", state="failed", uid="u", track="n", label="d", model="m", detail=""
        ),
        AddedRun(
            path="/r/b",
            outcome="refused",
            state="refused",
            uid=None,
            track=None,
            label=None,
            model=None,
            detail="torn",
        ),
    )
    text = ledger_text(LedgerAdded(format=1, ledger="l", folders=folders))
    assert "added, failed" in text and "l: 1 added, 1 refused" in text and "  /r/b: torn" in text


def test_an_empty_list_says_how_to_begin() -> None:
    assert "genbench ledger add DIR" in ledger_text(LedgerList(format=1, ledger="l", tracks=(), runs=None))


def test_a_track_is_one_row() -> None:
    track = ListedTrack(
        name="n",
        kind="night",
        suite="s",
        points=1234,
        first="2026-01-01",
        last="2026-02-01",
        tasks=5,
        base="12345678-aaaa",
        base_reason="",
        alarms_per_year=1.0,
        nights_per_year=365.0,
        open_changes=2,
    )
    text = ledger_text(LedgerList(format=1, ledger="l", tracks=(track,), runs=None))
    assert "1,234" in text and "12345678" in text and "2026-02-01" in text


def test_a_check_names_only_what_is_wrong() -> None:
    runs = (
        CheckedRun(path="/r/a", uid="u" * 9, track="n", state="ok", problems=()),
        CheckedRun(path="/r/b", uid="v" * 9, track=None, state="edited", problems=("why",)),
    )
    text = ledger_text(LedgerCheck(format=1, ledger="l", runs=runs))
    assert "l: 1 edited, 1 ok" in text and "edited: /r/b (vvvvvvvv)" in text and "/r/a" not in text


def test_pruned_and_rescored_runs_are_counted() -> None:
    pruned = PrunedRun(path="/r/a", uid="u" * 9, label="d", kept="verdicts", files=("x",), bytes=2_000_000)
    record = LedgerPruned(format=1, ledger="l", track="n", dry_run=False, runs=(pruned,), spared=3)
    assert "n: deleted 2.0 MB of 1 runs; 3 old runs keep everything" in ledger_text(record)
    moved = {"math": MovedTask(problems=2, before=0.5, after=None)}
    run = RescoredRun(uid="u", label="d", model="m", path="/r", outcome="verified", moved=moved, detail="")
    text = ledger_text(LedgerRescored(format=1, ledger="l", track="n", runs=(run,)))
    assert "n: 1 verified" in text and "math: 2 problems moved, 50.0 -> -" in text


def test_the_gate_shows_reasons_first_and_dashes_for_what_is_missing() -> None:
    task = GatedTask(
        tier="critical",
        rule="not_worse",
        state="missing",
        n=None,
        base=None,
        tonight=None,
        difference=None,
        margin=0.0,
        level=None,
        lower=None,
        p=None,
        ci=None,
        gain=False,
    )
    record = NightlyGate(
        format=1,
        track="n",
        run="u",
        path=None,
        label="2026-01-01",
        model="m",
        base=None,
        policy="p",
        alpha=1 / 365,
        tasks={"math": task},
        pooled=None,
        changes=(),
        verdict="fail",
        reasons=("math: required, and the run lacks it",),
        remarks=("a remark",),
        exit_code=1,
    )
    lines = gate_text(record).splitlines()
    assert lines[:3] == [
        "FAIL: m of 2026-01-01, track n",
        "  math: required, and the run lacks it",
        "  note: a remark",
    ]
    assert "missing" in lines[-3] and "0.27% of nights" in lines[-1]


def test_every_record_of_a_decision_refuses_unknown_keys() -> None:
    names = [name for name in RECORDS if name.startswith("ledger_")]
    decisions = [*names, "compare", "compare_judges", "estimate", "power", "noise", "rank", "contamination"]
    assert len(names) == 5
    for name in (*decisions, "trend", "gate"):
        assert RECORDS[name].model_config["extra"] == "forbid", name
