"""Texts of a zip file next to the rows: their order, garbled names, what is missing, and limits."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from genbench import registry
from genbench.data import zipped
from genbench.data.hub import load_rows
from genbench.data.zipped import with_texts
from genbench.errors import DataError
from genbench.protocols import Row, ZippedTexts
from tests.tasks.shapes import SHAPES, write_archive, write_mirror

WANTED = ZippedTexts(
    column="documents", archive="x.zip", names="names", folder="lcr/{category}/{set}/", separator=";"
)
ROW: Row = {"category": "Law", "set": "acts", "names": "b’s.txt;a.txt"}


def test_texts_come_in_the_order_of_the_row_by_names_that_were_garbled(tmp_path: Path) -> None:
    write_archive(tmp_path / "x.zip")
    [row] = with_texts([ROW], WANTED, tmp_path)
    assert row["documents"] == ["Ice is cold.", "Fire is hot."]
    [row] = with_texts([{**ROW, "names": "a.txt;c.txt"}], WANTED, tmp_path)
    assert row["documents"] == ["Fire is hot.", None]


def test_a_zip_file_that_is_missing_damaged_or_too_large_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DataError, match=r"x\.zip: no such file"):
        with_texts([ROW], WANTED, tmp_path)
    (tmp_path / "x.zip").write_bytes(b"PK nothing")
    with pytest.raises(DataError, match=r"x\.zip: cannot be read"):
        with_texts([ROW], WANTED, tmp_path)
    write_archive(tmp_path / "x.zip", **{"c.txt": "c" * 1000})
    monkeypatch.setattr(zipped, "_LARGEST_TEXT", 500)
    with pytest.raises(DataError, match=r"c\.txt is larger than the 500 bytes"):
        with_texts([{**ROW, "names": "c.txt"}], WANTED, tmp_path)
    monkeypatch.setattr(zipped, "_LARGEST", 20)
    with pytest.raises(DataError, match=r"a\.txt is larger than the 8 bytes that are left"):
        with_texts([ROW], WANTED, tmp_path)
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("lcr/Law/acts/a.txt", b"\xff\xfe")
    with pytest.raises(DataError, match=r"a\.txt is not UTF-8"):
        with_texts([{**ROW, "names": "a.txt"}], WANTED, tmp_path)


def test_a_question_over_documents_is_asked_with_them_and_judged_without(tmp_path: Path) -> None:
    task = registry.load("task", "aa_lcr")()
    missing = {**SHAPES["aa_lcr"][1], "question_id": 9, "data_source_filenames": "a.txt;gone.txt"}
    write_mirror(tmp_path, task.info.dataset, [*SHAPES["aa_lcr"], missing])
    rows, found = load_rows(task.info.dataset, tmp_path)
    read = task.read_rows(rows)
    assert "documents" in found["columns"]
    [refused] = read.unusable
    assert "row 3: the document 'gone.txt' is not in the zip file" in refused
    ask = task.ask(read.problems[0], 0, ())
    assert ask is not None
    first = "BEGIN INPUT DOCUMENTS\n\nBEGIN DOCUMENT 1:\nIce is cold.\nEND DOCUMENT 1\n\nBEGIN DOCUMENT 2:"
    assert ask.messages[0].content.startswith(first)
    assert ask.messages[0].content.endswith("START QUESTION\n\nWhich 0?\n\nEND QUESTION")
    asked = read.problems[0].row["judge"]
    assert "Ice" not in asked and "The official answer:\nthe third" in asked and "{{ANSWER}}" in asked
