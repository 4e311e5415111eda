"""Corpus metrics as text."""

from __future__ import annotations

from genbench.analysis.corpus_metrics import CorpusMetricRecord
from genbench.reports.figures import corpus_lines


def test_a_value_has_its_bounds_in_points() -> None:
    found = CorpusMetricRecord(
        value=0.5, ci=(0.4, 0.6), method="m", lower_is_better=True, empty=2, missing=None
    )
    (line,) = corpus_lines({"ter": found})
    assert line.startswith("ter (corpus, lower is better): 50.00 [40.00, 60.00]; 2 samples")
    lacking = found.model_copy(update={"value": None, "missing": "samples have no verdict"})
    assert corpus_lines({"ter": lacking}) == ["ter: missing: samples have no verdict"]
    assert corpus_lines(None) == []
