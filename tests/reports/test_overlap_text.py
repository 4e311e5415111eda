"""The overlap of training files with tasks on a terminal."""

from __future__ import annotations

from genbench.reports.terminal.contamination import overlap_text
from genbench.runs.training_overlap import CorpusRecord, Overlap, OverlapHit, OverlapTask


def record(hits: int = 1, unreadable: int = 0, text: str = "matched text") -> Overlap:
    hit = OverlapHit(
        file="sft.jsonl", line=7, problem_id="p1", part="question", ngrams=9, share=0.75, text=text
    )
    task = OverlapTask(problems=30, searched=29, found=2, mostly=1, lines=5, hits=(hit,) * hits)
    file = CorpusRecord(
        path="sft.jsonl",
        bytes=3_000_000_000,
        unreadable=unreadable,
        first_unreadable="sft.jsonl:3 is not JSON" if unreadable else None,
    )
    return Overlap(
        format=1,
        n=13,
        shortest=8,
        normalisation="lower case",
        tasks={"aime25": task},
        corpus=(file,),
        bytes=3_000_000_000,
        seconds=120.0,
    )


def test_the_table_counts_problems_by_task() -> None:
    assert overlap_text(record()).splitlines()[2].split() == ["aime25", "30", "29", "2", "1", "5"]


def test_a_hit_has_problem_place_share_and_text() -> None:
    text = overlap_text(record())
    assert "  problem p1, question: 75% (9 n-grams) in sft.jsonl:7\n    matched text" in text


def test_the_speed_is_said() -> None:
    assert "1 files, 3,000,000,000 bytes, 120.0 s, 1.50 GB/min" in overlap_text(record())


def test_further_hits_are_counted() -> None:
    assert "and 4 more (--json lists them)" in overlap_text(record(hits=14))


def test_a_task_without_hits_has_no_list() -> None:
    assert "\naime25\n" not in overlap_text(record(hits=0))


def test_lines_that_were_not_searched_are_said() -> None:
    text = overlap_text(record(unreadable=4))
    assert "warning: 4 lines of sft.jsonl were not searched; the first: sft.jsonl:3 is not JSON" in text


def test_control_characters_of_training_texts_are_shown_as_escapes() -> None:
    assert "\x1b" not in overlap_text(record(text="a\x1b[2Jb"))
