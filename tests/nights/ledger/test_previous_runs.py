"""Which stored runs of a track a new one is held against."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from genbench.errors import InputError
from genbench.nights.ledger.changes import pin_base
from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.history import previous_runs
from genbench.nights.ledger.ingest import add
from tests.nights.ledger.synthetic import make_run

RIGHT = [[1.0, 1.0]] * 4


@pytest.fixture
def runs(ledger: Ledger, tmp_path: Path) -> Path:
    """A base and four nights."""
    folder = tmp_path / "runs"
    uid = "00000000-0000-0000-0000-000000000000"
    make_run(folder / "base", {"math": RIGHT}, role="anchor", model="base", uid=uid)
    for night in range(4):
        make_run(folder / f"n{night}", {"math": RIGHT}, position=20_000 + night)
    add(ledger, [folder])
    pin_base(ledger, "nightly", uid, "the model that is deployed", by="a test")
    return folder


def names(paths: list[Path]) -> list[str]:
    return [path.name for path in paths]


def test_the_base_comes_first_and_the_tested_run_last(ledger: Ledger, runs: Path) -> None:
    found = previous_runs(ledger, "nightly", runs / "n3")
    assert names(found) == ["base", "n0", "n1", "n2", "n3"]


def test_only_the_newest_earlier_runs_are_read(ledger: Ledger, runs: Path) -> None:
    assert names(previous_runs(ledger, "nightly", runs / "n3", most=2)) == ["base", "n1", "n2", "n3"]


def test_a_run_whose_folder_is_gone_is_left_out(ledger: Ledger, runs: Path) -> None:
    shutil.rmtree(runs / "n1")
    assert names(previous_runs(ledger, "nightly", runs / "n3")) == ["base", "n0", "n2", "n3"]


@pytest.mark.slow
def test_a_base_whose_folder_is_gone_is_refused_with_the_other_way(ledger: Ledger, runs: Path) -> None:
    shutil.rmtree(runs / "base")
    with pytest.raises(InputError, match=r"track nightly: the folder of its base is not there.*BASE EARLIER"):
        previous_runs(ledger, "nightly", runs / "n3")


def test_the_base_itself_is_not_tested(ledger: Ledger, runs: Path) -> None:
    with pytest.raises(InputError, match=r"base: is the base of track nightly; name a later run"):
        previous_runs(ledger, "nightly", runs / "base")
