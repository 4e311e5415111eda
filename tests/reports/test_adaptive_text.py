"""The looks of an adaptive run in the terminal, in Markdown and on the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.analysis.adaptive.results import AdaptiveResults, TaskSpend
from genbench.analysis.comparison.compare import compare
from genbench.pipeline import latest_results
from genbench.reports.adaptive_looks import LOOKS, adaptive_text, look_rows, spent_words
from genbench.reports.terminal.compare import compare_brief, compare_text
from genbench.reports.terminal.run import run_table
from genbench.reports.write import report, report_text
from genbench.store.manifest import ConfirmationRecord
from tests.adaptive_runs import K, draw_base, run_adaptive, write_responses


def record(**changes: object) -> AdaptiveResults:
    spent = TaskSpend(decision="REGRESSED", look=2, looks=4, samples=300, planned=1000, sure=5)
    found = AdaptiveResults(
        base="runs/base/base",
        verdict="REGRESSED",
        alpha=0.05,
        samples=300,
        planned=1000,
        tasks={"sums": spent},
        looks=(),
        confirmations={},
    )
    return found.model_copy(update=changes)


def test_the_first_line_says_what_was_saved() -> None:
    said = spent_words(record())
    assert said.startswith("adaptive run against runs/base/base: REGRESSED after 0 looks; ")
    assert "300 of 1,000 samples (30%), 70% saved" in said
    assert "not over, 0 looks so far" in spent_words(record(verdict=None))


@pytest.mark.parametrize(("p", "word"), [(0.001, "confirmed"), (0.2, "NOT confirmed")])
def test_fresh_samples_confirm_or_do_not(p: float, word: str) -> None:
    found = ConfirmationRecord(samples=120, difference=-0.05, p=p)
    lines = adaptive_text(record(confirmations={"sums": found}))
    assert any(
        "sums drawn once more with fresh seeds: -5.0 points" in line and word in line for line in lines
    )


def test_a_regression_without_fresh_samples_is_named() -> None:
    assert "not drawn again with fresh seeds: sums" in adaptive_text(record())


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A base, and an adaptive run of a worse model."""
    place = tmp_path_factory.mktemp("shown")
    base = draw_base(place)
    answers = write_responses(place / "worse.jsonl", "tuned", K, {"sums": 0.12}, seed=5)
    return base, run_adaptive(place, base, answers).folders["tuned"]


@pytest.mark.slow
def test_compare_shows_looks_and_repeated_intervals_only(night: tuple[Path, Path]) -> None:
    record = compare(*night)
    assert record.adaptive is not None
    shown, brief = compare_text(record), compare_brief(record)
    assert "repeated CI" in shown
    assert "repeated interval, look" in shown
    assert "p drop: that of the task's last look" in shown
    assert spent_words(record.adaptive) in brief
    last = record.adaptive.looks[-1].tasks["sums"]
    assert record.tasks["sums"].ci == pytest.approx(last.ci)
    assert record.tasks["sums"].lower == pytest.approx(last.lower)


@pytest.mark.slow
def test_every_look_at_every_task_has_a_row(night: tuple[Path, Path]) -> None:
    record = compare(*night).adaptive
    assert record is not None
    rows = look_rows(record)
    assert len(rows) == sum(len(look.tasks) for look in record.looks)
    assert LOOKS.text(rows).splitlines()[-1].split()[0] == str(len(record.looks))


@pytest.mark.slow
def test_show_and_both_reports_have_the_looks(night: tuple[Path, Path]) -> None:
    results = latest_results(night[1])
    assert "adaptive run against" in run_table({"tuned": results}, {"tuned": night[1]})
    assert results.tasks["sums"].ci_method
    assert "Looks of tuned" in report_text(night, "md")
    page = report(list(night), night[1] / "both.html").page.read_text()
    assert "Looks of tuned" in page
    assert "% saved" in page
