"""Datasets put into a mirror: read back, at their pin, and not twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from genbench.data.digest import rows_digest
from genbench.data.hub import load_rows
from genbench.data.mirror import mirror_dataset
from genbench.errors import DataError
from genbench.protocols import HubDataset

ROWS = [{"problem": "1+1?", "answer": "2", "id": 1}, {"problem": "2+2?", "answer": "4", "id": 2}]
COLUMNS = ("problem", "answer")
PINNED = HubDataset(repo="org/toy", config="main", columns=COLUMNS, digest=rows_digest(ROWS, COLUMNS), rows=2)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    place = tmp_path / "source" / "org" / "toy" / "main"
    place.mkdir(parents=True)
    (place / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return tmp_path / "source"


def test_a_mirrored_split_is_found_and_read_as_the_pinned_one(source: Path, tmp_path: Path) -> None:
    found = mirror_dataset(PINNED, tmp_path / "to", source)
    assert found.path == tmp_path / "to/org/toy/main/test.jsonl" and not found.was_there
    assert (found.rows, found.digest, found.warning) == (2, PINNED.digest, None)
    rows, facts = load_rows(PINNED, tmp_path / "to")
    assert rows == ROWS and facts["warning"] is None


def test_all_columns_of_a_mirror_are_copied(source: Path, tmp_path: Path) -> None:
    found = mirror_dataset(PINNED, tmp_path / "to", source)
    assert found.path.read_bytes() == (source / "org/toy/main/test.jsonl").read_bytes()


def test_what_is_there_is_kept(source: Path, tmp_path: Path) -> None:
    first = mirror_dataset(PINNED, tmp_path / "to", source)
    before = first.path.stat().st_mtime_ns
    again = mirror_dataset(PINNED, tmp_path / "to", tmp_path / "gone")
    assert again.was_there and again.path == first.path and first.path.stat().st_mtime_ns == before


def test_other_rows_in_the_mirror_are_replaced(source: Path, tmp_path: Path) -> None:
    path = mirror_dataset(PINNED, tmp_path / "to", source).path
    path.write_text(path.read_text().replace("2+2", "2+3"))
    assert not mirror_dataset(PINNED, tmp_path / "to", source).was_there
    assert load_rows(PINNED, tmp_path / "to")[1]["warning"] is None


def test_rows_that_are_not_the_pinned_ones_are_refused(source: Path, tmp_path: Path) -> None:
    other = PINNED.model_copy(update={"digest": "0" * 64})
    with pytest.raises(DataError, match="a mirror has the pinned rows or none"):
        mirror_dataset(other, tmp_path / "to", source)
    assert not (tmp_path / "to").exists()


def test_a_split_without_a_pin_is_copied_each_time(source: Path, tmp_path: Path) -> None:
    free = PINNED.model_copy(update={"digest": None, "rows": None})
    assert not mirror_dataset(free, tmp_path / "to", source).was_there
    assert not mirror_dataset(free, tmp_path / "to", source).was_there


def test_a_source_without_the_split_says_how_to_get_it(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="To mirror it, run on a machine with network"):
        mirror_dataset(PINNED, tmp_path / "to", tmp_path / "empty")
