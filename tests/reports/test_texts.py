"""The folder of a report's long texts: nothing that no report made is ever removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import InputError, RunFolderError
from genbench.reports.page.text_chunks import ChunkedTexts
from genbench.reports.write import write_page
from tests.ready_runs import RIGHT, MakeRun


def spilled(folder: Path) -> ChunkedTexts:
    """Return a store whose texts do not fit into the page."""
    store = ChunkedTexts(folder, inline_chars=10)
    store.add("a", "x" * 100)
    return store


def test_texts_become_scripts_in_the_folder(tmp_path: Path) -> None:
    assert spilled(tmp_path / "page.files").publish() == "page.files"
    assert (tmp_path / "page.files" / "0.js").read_text().startswith('genbenchTexts(0,{"a":"xx')


def test_folder_of_an_earlier_report_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "page.files"
    spilled(folder).publish()
    (folder / "7.js").write_text("genbenchTexts(7,{});\n")
    spilled(folder).publish()
    assert [path.name for path in folder.iterdir()] == ["0.js"]


def test_folder_of_an_earlier_report_goes_if_the_page_has_all_texts(tmp_path: Path) -> None:
    folder = tmp_path / "page.files"
    spilled(folder).publish()
    assert ChunkedTexts(folder).publish() is None and not folder.exists()


@pytest.mark.parametrize("name", ["diary.txt", "1.js", "genbench.js", "sub/0.js"])
def test_folder_with_anything_else_is_left_and_the_report_refused(tmp_path: Path, name: str) -> None:
    precious = tmp_path / "page.files" / name
    precious.parent.mkdir(parents=True)
    precious.write_text("precious")
    with pytest.raises(InputError, match="no report made"):
        spilled(tmp_path / "page.files").publish()
    assert ChunkedTexts(tmp_path / "page.files").publish() is None
    assert precious.read_text() == "precious"


def test_linked_folder_is_left(tmp_path: Path) -> None:
    spilled(tmp_path / "real").publish()
    (tmp_path / "page.files").symlink_to(tmp_path / "real")
    with pytest.raises(InputError, match="no report made"):
        spilled(tmp_path / "page.files")
    assert (tmp_path / "real" / "0.js").is_file()


def test_draft_of_someone_else_is_left(tmp_path: Path) -> None:
    draft = tmp_path / ".page.files.part"
    draft.mkdir()
    (draft / "mine.txt").write_text("precious")
    with pytest.raises(InputError, match="no report made"):
        spilled(tmp_path / "page.files")
    ChunkedTexts(tmp_path / "page.files").discard()
    assert (draft / "mine.txt").read_text() == "precious"


def test_page_without_a_name_does_not_replace_a_foreign_file(make_run: MakeRun) -> None:
    run = make_run("own", lambda i: [RIGHT] * 4)
    page = run / "report.html"
    write_page([run])  # a page of its own is replaced
    page.write_text("<p>my notes</p>")
    with pytest.raises(InputError, match="no report of genbench"):
        write_page([run])
    assert page.read_text() == "<p>my notes</p>"


@pytest.mark.parametrize(
    ("text", "found"), [("plain", False), ("a\nb", False), ("$x$", True), (r"\frac{1}{2}", True)]
)
def test_the_store_says_whether_a_text_may_have_mathematics(tmp_path: Path, text: str, found: bool) -> None:
    store = ChunkedTexts(tmp_path / "report.files")
    store.add("a", {"answer": text})
    assert store.has_mathematics is found


def test_a_folder_that_cannot_be_made_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFolderError, match=r"page\.files: cannot be written"):
        spilled(tmp_path / "file" / "page.files")


def test_a_draft_whose_last_script_was_cut_off_is_removed(tmp_path: Path) -> None:
    store = spilled(tmp_path / "page.files")
    (tmp_path / ".page.files.part" / "1.js").write_text("genb")
    store.discard()
    assert list(tmp_path.iterdir()) == []
