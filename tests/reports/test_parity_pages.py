"""The pages of the parity cards in docs/parity are what the cards say."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.reports.parity import FOLDER, parity_pages, write_parity_pages
from genbench.suite.shipped import folder

ROOT = Path(__file__).resolve().parents[2]


def test_the_committed_pages_are_what_make_schema_writes() -> None:
    committed = {path.relative_to(ROOT): path.read_text("utf-8") for path in (ROOT / FOLDER).iterdir()}
    assert committed == parity_pages(), "run: make schema"


def test_every_card_has_a_page_and_a_row_of_the_list() -> None:
    pages = parity_pages()
    cards = [path.stem for path in (folder("suites") / "parity").glob("*.yaml")]
    assert {path.stem for path in pages} == {"index", *cards}
    for name in cards:
        assert f"| [{name}]({name}.md) |" in pages[FOLDER / "index.md"]


@pytest.mark.slow
def test_pages_of_cards_that_are_gone_are_removed(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir(parents=True)
    (tmp_path / FOLDER / "gone.md").write_text("# Parity: gone")
    written = write_parity_pages(tmp_path)
    assert set(written) == set((tmp_path / FOLDER).iterdir()) == {tmp_path / path for path in parity_pages()}
    assert not (tmp_path / FOLDER / "gone.md").exists()
