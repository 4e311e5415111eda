"""The file of notes: appended whole, read from an offset, damaged lines named."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import InputError
from genbench.nights.ledger.notes import BaseNote, Notes, RootNote


def note(path: str) -> RootNote:
    return RootNote(note="root", path=path, at="now", by="ada")


def test_notes_come_back_in_order_and_from_any_offset(tmp_path: Path) -> None:
    notes = Notes(tmp_path / "deep" / "notes.jsonl")
    notes.append(note("/a"))
    notes.append(BaseNote(note="base", track="t", uid="u", reason="because", at="now", by="ada"))
    found = list(notes.read())
    assert [type(item) for item, _ in found] == [RootNote, BaseNote]
    assert [item for item, _ in notes.read(found[0][1])] == [found[1][0]]
    assert found[-1][1] == notes.size()


def test_a_torn_last_line_is_left_out_and_cut_by_the_next_note(tmp_path: Path) -> None:
    notes = Notes(tmp_path / "notes.jsonl")
    notes.append(note("/a"))
    with notes.path.open("ab") as file:
        file.write(b'{"at":"now","by"')
    assert len(list(notes.read())) == 1
    notes.append(note("/b"))
    assert [item.path for item, _ in notes.read() if isinstance(item, RootNote)] == ["/a", "/b"]


@pytest.mark.parametrize("line", ['{"note":"root"}', '{"note":"gossip"}', "[]", "text"])
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    notes = Notes(tmp_path / "notes.jsonl")
    notes.append(note("/a"))
    with notes.path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(InputError, match=r"notes\.jsonl:2: "):
        list(notes.read())


def test_no_file_has_no_notes(tmp_path: Path) -> None:
    assert list(Notes(tmp_path / "none").read()) == [] and Notes(tmp_path / "none").size() == 0
