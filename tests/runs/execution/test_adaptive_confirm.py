"""Adaptive runs with an engine in this process: fresh seeds after a regression, seeds of base."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from genbench.analysis.comparison.compare import compare
from genbench.pipeline import RunOptions, run
from genbench.reports.terminal.run import run_table
from genbench.store.folder import RunFolder

SUITE = """\
models: {{base: {{path: a}}, tuned: {{path: b}}}}
engine: {{kind: "tests.engines.rate_engine:RateEngine", concurrency: 8, lost: {lost}}}
decoding: {{temperature: 0.6, max_tokens: 16}}
tasks:
  - name: sums
    kind: math
    data: {{path: rows.jsonl, fields: {{id: id, question: question, reference: sum}}}}
    prompt: "{{question}}"
    k: 4
"""
N = 24


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a stored base, and an adaptive run of a model that lost half of the problems."""
    place = tmp_path_factory.mktemp("confirm")
    lost = place / "lost.json"
    (place / "suite.yaml").write_text(SUITE.format(lost=lost))
    rows = [{"id": f"q{i}", "question": f"{i}+1", "sum": str(i + 1)} for i in range(N)]
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lost.write_text("[]")
    many = ("tasks.sums.k=32",)
    run(RunOptions(place / "suite.yaml", ("base",), place / "stored", overrides=many, quiet=True))
    lost.write_text(json.dumps(list(range(N // 2))))
    run(options(place))
    return place


def options(place: Path) -> RunOptions:
    base = place / "stored" / "base"
    return RunOptions(place / "suite.yaml", run_dir=place / "runs", against=base, adaptive=True, quiet=True)


@pytest.mark.slow
def test_a_regression_is_drawn_again_with_seeds_that_were_never_used(night: Path) -> None:
    folder = RunFolder(night / "runs" / "tuned")
    record = folder.require_manifest().adaptive
    assert record is not None
    assert record.state.decisions == {"sums": "REGRESSED"}
    confirmed = record.state.confirmations["sums"]
    assert confirmed.p < 0.001
    assert confirmed.difference is not None
    assert confirmed.difference < -0.3
    fresh = [item for item in folder.completions("sums") if item.sample.sample_index >= 4]
    looked = [item for item in folder.completions("sums") if item.sample.sample_index < 4]
    assert len(fresh) == confirmed.samples == record.state.looks[-1].tasks["sums"].samples
    assert not {item.seed for item in fresh} & {item.seed for item in looked}


def test_fresh_samples_count_in_no_score(night: Path) -> None:
    folder = RunFolder(night / "runs" / "tuned")
    record = folder.require_manifest().adaptive
    assert record is not None
    compared = compare(night / "stored" / "base", folder.path)
    assert compared.tasks["sums"].difference == pytest.approx(record.state.looks[-1].tasks["sums"].difference)
    assert not compared.warnings or not any("changed since" in line for line in compared.warnings)


def test_the_base_of_the_suite_is_not_drawn_again(night: Path) -> None:
    assert not (night / "runs" / "base").exists()


def test_tuned_has_the_seeds_of_the_first_samples_of_base(night: Path) -> None:
    assert compare(night / "stored" / "base", night / "runs" / "tuned").tasks["sums"].shared_seeds


def test_a_base_of_few_samples_is_a_warning(night: Path) -> None:
    manifest = RunFolder(night / "runs" / "tuned").require_manifest()
    assert any("base has 32 samples of each problem" in line for line in manifest.warnings)
    assert manifest.adaptive is not None
    assert manifest.adaptive.plan.tasks["sums"].sure == ()


@pytest.mark.slow
def test_a_confirmed_run_that_is_started_again_draws_nothing(night: Path) -> None:
    before = len(list(RunFolder(night / "runs" / "tuned").completions("sums")))
    report = run(options(night))
    assert len(list(RunFolder(night / "runs" / "tuned").completions("sums"))) == before
    shown = run_table(report.results, report.folders)
    assert "drawn once more with fresh seeds" in shown
    assert "confirmed" in shown
