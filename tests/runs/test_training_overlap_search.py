"""What a search keeps of its matches, and its progress line."""

from __future__ import annotations

import io
from pathlib import Path

from genbench.data.corpus import Batch
from genbench.data.overlap import Passage, PassageIndex
from genbench.runs.training_overlap import OverlapSearch, OverlapTask, SearchLine

TEXT = " ".join(f"word{number}" for number in range(30))


def search_of(*batches: Batch) -> OverlapSearch:
    search = OverlapSearch(PassageIndex([Passage("t", "p", "question", TEXT)]))
    for batch in batches:
        search.add(batch)
    return search


def batch(path: str, *texts: tuple[str, int]) -> Batch:
    made = Batch(Path(path))
    for document, (text, line) in enumerate(texts):
        made.add(text, line, document)
    return made


def test_parts_of_one_line_are_one_hit() -> None:
    words = TEXT.split()
    halves = (" ".join(words[:14]), 3), (" ".join(words[13:]), 3)
    task = search_of(batch("a", *halves)).record("t", 1)
    (hit,) = task.hits
    assert (task.lines, hit.line, hit.ngrams) == (1, 3, 2 + 5)


def test_equal_line_numbers_of_two_files_are_two_hits() -> None:
    task = search_of(batch("a", (TEXT, 1)), batch("b", (TEXT, 1))).record("t", 1)
    assert [hit.file for hit in task.hits] == ["a", "b"]


def test_a_line_that_two_batches_share_counts_once() -> None:
    assert search_of(batch("a", (TEXT, 7)), batch("a", (TEXT, 7))).record("t", 1).lines == 1


def test_an_empty_batch_finds_nothing() -> None:
    found = search_of(Batch(Path("a"))).record("t", 1)
    assert found == OverlapTask(problems=1, searched=1, found=0, mostly=0, lines=0, hits=())


def test_long_matches_are_cut_on_one_line() -> None:
    text = "\n".join(f"averylongword{number}" for number in range(40))
    search = OverlapSearch(PassageIndex([Passage("t", "p", "question", text)]))
    search.add(batch("a", (text, 1)))
    (hit,) = search.record("t", 1).hits
    assert hit.text.endswith(" …")
    assert len(hit.text) < 310
    assert "\n" not in hit.text


def test_memory_of_hits_is_bounded() -> None:
    search = search_of(*[batch("a", (TEXT, line)) for line in range(1, 200)])
    assert len(search._kept[0]) <= 40
    assert search.record("t", 1).lines == 199


def test_the_line_says_speed_and_time_left() -> None:
    line = SearchLine(4_000_000_000, quiet=True).line(1_000_000_000, 2)
    assert line.startswith("searched 1.00 of 4.00 GB  ")
    assert "GB/min" in line
    assert " left  2 problems found" in line


def test_the_last_line_has_no_time_left() -> None:
    assert "left" not in SearchLine(10, quiet=True).line(10, 0)


def test_a_quiet_line_writes_nothing() -> None:
    stream = io.StringIO()
    line = SearchLine(10, quiet=True, stream=stream)
    line.show(5, 0)
    line.close(10, 0)
    assert stream.getvalue() == ""
