"""Megabytes of markup, escapes, bidi marks and NULs are text wherever they are shown, and no burden."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from genbench.pipeline import RunOptions, run
from genbench.reports.browse import SampleFilter, SampleRow, paired, sample_rows
from genbench.reports.terminal.show import sample_pairs_text, samples_text
from genbench.reports.write import report_text

from .conftest import HOSTILE
from .test_html_in_chromium import opened, shown

SUITE = """\
name: hostile
models:
  base: {path: ./base}
  tuned: {path: ./tuned}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - name: sums
    kind: exact
    data: {path: rows.jsonl, fields: {id: id, question: problem, reference: answer}}
    prompt: "{question}"
    k: 3
"""
MEGABYTES = HOSTILE * (5_000_000 // len(HOSTILE.encode()) + 1)
HIDDEN = ("\x1b", "\x00", "\u202e")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs; all samples of base give the same five megabytes, so that its reference is doubted."""
    path = tmp_path_factory.mktemp("hostile")
    (path / "suite.yaml").write_text(SUITE)
    (path / "rows.jsonl").write_text(
        json.dumps({"id": "p", "problem": HOSTILE, "answer": HOSTILE * 300}) + "\n"
    )
    with (path / "r.jsonl").open("w") as file:
        for model, said in (("base", MEGABYTES), ("tuned", f"<think>{MEGABYTES}</think>7")):
            for index in range(3):
                line = {
                    "model": model,
                    "task": "sums",
                    "problem_id": "p",
                    "sample_index": index,
                    "text": said,
                }
                file.write(json.dumps(line) + "\n")
    options = RunOptions(
        str(path / "suite.yaml"), run_dir=path / "out", responses=path / "r.jsonl", quiet=True
    )
    assert run(options).page is not None
    return path / "out"


@pytest.mark.slow
def test_the_page_stays_small_and_the_texts_lie_beside_it(place: Path) -> None:
    page = (place / "report.html").read_text()
    assert len(page) < 200_000
    assert not any(hidden in page for hidden in HIDDEN)
    assert "owned'</script>" not in page and "<img" not in page
    assert sum(file.stat().st_size for file in (place / "report.files").iterdir()) > 30_000_000
    assert all("\u202e" not in file.read_text() for file in (place / "report.files").iterdir())


@pytest.mark.slow
def test_the_browser_shows_their_beginning_and_the_rest_when_asked(browser: Any, place: Path) -> None:
    opened(browser, f"{(place / 'report.html').as_uri()}#sums/p/0")
    text = shown(browser, "sums / p / sample 0")
    assert "\\x1b[31m\\u202e evil \\x00 </script><img" in text
    assert len(text) < 1_000_000
    whole = browser.execute_script(
        "const buttons = [...document.querySelectorAll('#sample .side:first-child > button')];"
        "buttons[0].click(); return document.querySelector('#sample .side > pre').textContent.length"
    )
    assert whole > len(MEGABYTES)
    assert browser.title == "hostile"
    assert browser.execute_script("return document.querySelectorAll('img, #samples script').length") == 0
    assert browser.get_log("browser") == []


@pytest.mark.slow
def test_the_terminal_shows_their_beginning(place: Path) -> None:
    records = sample_rows(place / "base", "sums", "p", SampleFilter())
    text = "\n".join(samples_text(records))
    assert "\\x1b[31m\\u202e evil \\x00" in text and "more characters" in text
    assert not any(hidden in text for hidden in HIDDEN)
    assert len(text) < 60_000

    def read(folder: Path, wanted: SampleFilter) -> list[SampleRow]:
        return sample_rows(folder, "sums", "p", wanted)

    pairs = paired(place / "base", place / "tuned", read, SampleFilter(sample=0))
    columns = "\n".join(sample_pairs_text(pairs, ("base", "tuned"), 140))
    assert not any(hidden in columns for hidden in HIDDEN)
    assert len(columns) < 60_000


@pytest.mark.slow
def test_markdown_and_json_hold_none_of_it(place: Path) -> None:
    for form in ("md", "json"):
        text = report_text([place / "base", place / "tuned"], form)
        assert len(text) < 100_000
        assert not any(hidden in text for hidden in HIDDEN)
    assert "<script" not in report_text([place / "base"], "md")


@pytest.mark.slow
def test_the_table_holds_them_whole(place: Path) -> None:
    row = pq.read_table(place / "tuned/samples.parquet").to_pylist()[0]
    assert row["trace"] == MEGABYTES and row["answer"] == "7"
