"""The record of `genbench overlap`: which training texts contain problems of benchmarks."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from genbench.store.jsonrecord import JsonRecord
from genbench.store.manifest_record import Count, Share


class OverlapHit(JsonRecord):
    """A place in a training file that has n-grams of a problem."""

    file: str = Field(description="the training file")
    line: Count = Field(description="line in the file, or row of a Parquet file; from 1")
    problem_id: str = Field(description="the problem")
    part: Literal["question", "reference"] = Field(description="the part of the problem that was found")
    ngrams: Count = Field(description="different n-grams of that part that the line has")
    share: Share = Field(description="the same as a share of the part's n-grams that are searched")
    text: str = Field(description="the longest matched text, cut after 300 characters")


class OverlapTask(JsonRecord):
    """One task searched in the training files."""

    problems: Count = Field(description="problems of the task")
    searched: Count = Field(description="problems of which a part is long enough to be searched")
    found: Count = Field(description="problems of which an n-gram was found")
    mostly: Count = Field(
        description="problems of which one line has at least half of a part's n-grams that are searched"
    )
    lines: Count = Field(
        description="lines with an n-gram of the task; a line counts for each problem and part"
    )
    hits: tuple[OverlapHit, ...] = Field(
        description="the lines with the largest share first; at most 20 of each problem and part, and 1,000"
    )


class CorpusRecord(JsonRecord):
    """One training file."""

    path: str = Field(description="the file")
    bytes: Count = Field(description="its size on disk")
    unreadable: Count = Field(description="lines that are no JSON or too long; they were not searched")
    first_unreadable: str | None = Field(description="the first of them, and what is wrong with it")


class Overlap(JsonRecord):
    """The overlap of training files with tasks."""

    format: Literal[1] = Field(description="version of this record")
    n: Count = Field(description="words of an n-gram")
    shortest: Count = Field(description="words of the shortest part that is searched, as a whole")
    normalisation: str = Field(description="what is done to texts before words are compared")
    tasks: dict[str, OverlapTask] = Field(description="the tasks by name")
    corpus: tuple[CorpusRecord, ...] = Field(description="the training files")
    bytes: Count = Field(description="bytes on disk of all files")
    seconds: float = Field(description="time of the search")
