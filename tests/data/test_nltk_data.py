"""Data of nltk: where they are sought, which tables are accepted, and what is said without them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from genbench.data import nltk_data
from genbench.data.nltk_data import (
    FETCH_PUNKT,
    FETCH_TAGGER,
    PUNKT_TABLES,
    TAGGER_FILES,
    find_punkt,
    find_tagger,
    search_path,
    wrong_tables,
)


def put_tables(place: Path, text: str = "other") -> Path:
    """Write four tables that are not the official ones."""
    folder = place / "tokenizers" / "punkt_tab" / "english"
    folder.mkdir(parents=True)
    for name in PUNKT_TABLES:
        (folder / name).write_text(text)
    return folder


def put_tagger(place: Path) -> Path:
    """Write the three files of a tagger."""
    folder = place / "taggers" / "averaged_perceptron_tagger_eng"
    folder.mkdir(parents=True)
    for name in TAGGER_FILES:
        (folder / name).write_text("{}")
    return folder


def test_the_folders_of_nltk_data_come_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NLTK_DATA", f"{tmp_path / 'a'}:{tmp_path / 'b'}")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert search_path()[:3] == [tmp_path / "a", tmp_path / "b", tmp_path / "nltk_data"]


def test_the_folders_are_those_that_nltk_itself_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    import nltk.data

    monkeypatch.delenv("NLTK_DATA", raising=False)
    assert {Path(item) for item in nltk.data.path} <= set(search_path())


def test_without_tables_the_note_names_the_command(tmp_path: Path) -> None:
    found = find_punkt([tmp_path])
    assert found.folder is None and found.note is not None
    assert found.note.endswith(f"fetch the tables: {FETCH_PUNKT}")


def test_tables_with_another_content_are_not_used_and_are_named(tmp_path: Path) -> None:
    folder = put_tables(tmp_path)
    found = find_punkt([tmp_path])
    assert found.folder is None and found.note is not None
    assert f"{folder} is not used: abbrev_types.txt" in found.note


def test_a_missing_table_counts_as_wrong(tmp_path: Path) -> None:
    folder = put_tables(tmp_path)
    (folder / "ortho_context.tab").unlink()
    assert wrong_tables(folder) == list(PUNKT_TABLES)
    assert wrong_tables(tmp_path / "nowhere") == list(PUNKT_TABLES)


def test_tables_with_the_pinned_content_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = put_tables(tmp_path / "second")
    put_tables(tmp_path / "first", "wrong")
    pinned = dict.fromkeys(PUNKT_TABLES, hashlib.sha256(b"other").hexdigest())
    for name, digest in pinned.items():
        monkeypatch.setitem(nltk_data.PUNKT_TABLES, name, digest)
    assert find_punkt([tmp_path / "first", tmp_path / "second"]) == nltk_data.NltkData(folder, None)


def test_a_tagger_needs_all_three_files(tmp_path: Path) -> None:
    folder = put_tagger(tmp_path)
    assert find_tagger([tmp_path / "nowhere", tmp_path]).folder == folder
    (folder / TAGGER_FILES[0]).unlink()
    found = find_tagger([tmp_path])
    assert found.folder is None and found.note is not None
    assert "words:start_verb" in found.note and found.note.endswith(FETCH_TAGGER)


def test_the_notes_of_this_machine_are_those_of_its_folders(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put_tagger(tmp_path)
    monkeypatch.setenv("NLTK_DATA", str(tmp_path))
    assert not any("words:start_verb" in note for note in nltk_data.notes())
