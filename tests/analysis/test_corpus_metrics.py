"""Corpus metrics of results and comparisons."""

from __future__ import annotations

from typing import Any

import pytest
import sacrebleu

from genbench.analysis.corpus_metrics import (
    CorpusCounts,
    CorpusMetricRecord,
    corpus_differences,
    corpus_records,
)
from genbench.analysis.results.table import VerdictTable
from genbench.analysis.sides.side import SideTask
from genbench.types import Problem, SampleId, Verdict
from genbench.verifiers.foreign.corpus_counts import counts_of

GOLDS = [f"the {word} sat on the mat" for word in ("cat", "dog", "cow", "hen")]
ANSWERS = ["the cat sat on the mat", "a dog sat on the mat", "cow", "the hen sat on a red mat"]


def verdict(row: int, text: str | None) -> Verdict:
    detail: dict[str, Any] = {}
    if text is not None:
        detail["corpus"] = counts_of(["bleu", "ter"], text, [GOLDS[row]])[0]
    status: Any = "partial" if text is not None else "unclosed_trace"
    score = 0.5 if text is not None else 0.0
    sample = SampleId("t", str(row), 0)
    fields: dict[str, Any] = {"trace_status": "absent", "truncated": False}
    return Verdict(sample, score, status, None, detail, {}, "v", **fields)


def table(texts: list[str | None]) -> VerdictTable:
    problems = [Problem("t", str(row), {"reference": {"golds": [gold]}}) for row, gold in enumerate(GOLDS)]
    found = VerdictTable(problems, 1)
    for row, text in enumerate(texts):
        found.add(verdict(row, text))
    return found


def side(texts: list[str | None]) -> SideTask:
    counts = CorpusCounts(len(GOLDS))
    for row, text in enumerate(texts):
        counts.add(row, verdict(row, text))
    ids = tuple(map(str, range(len(GOLDS))))
    scores = tuple((0.5,) for _ in GOLDS)
    return SideTask("t", ids, scores, corpus=counts.sums, without_counts=counts.lacking)


def test_the_value_is_that_of_all_samples_together() -> None:
    found = corpus_records(table(list(ANSWERS)), 1)
    assert isinstance(found["bleu"], CorpusMetricRecord)
    assert found["bleu"].value == pytest.approx(sacrebleu.corpus_bleu(ANSWERS, [GOLDS]).score / 100)
    assert found["ter"].lower_is_better


def test_a_sample_without_an_answer_counts_as_empty() -> None:
    found = corpus_records(table([*ANSWERS[:3], None]), 1)["ter"]
    wanted = sacrebleu.corpus_ter([*ANSWERS[:3], ""], [GOLDS]).score / 100
    assert found.value == pytest.approx(wanted)
    assert found.empty == 1


def test_a_task_without_counts_has_no_corpus_metric() -> None:
    assert corpus_records(table([None] * 4), 1) == {}


def test_a_difference_is_that_of_the_values() -> None:
    found = corpus_differences(side(list(ANSWERS)), side(list(GOLDS)))["bleu"]
    base = sacrebleu.corpus_bleu(ANSWERS, [GOLDS]).score / 100
    assert found.difference == pytest.approx(1 - base)
    lacking = corpus_differences(side(list(ANSWERS)), side([*GOLDS[:3], None]))["bleu"]
    assert lacking.difference is None
    assert "1 scored samples have no counts" in str(lacking.missing)
