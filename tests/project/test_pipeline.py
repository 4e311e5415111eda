"""The functions of a run, called from Python as a notebook does."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench import pipeline
from genbench.errors import ConfigError, RunFolderError
from genbench.pipeline import RunOptions, RunReport, latest_results
from tests.ready_runs import RIGHT, SUITE, WRONG, MakeRun, rows, write_lines


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A suite of two problems with four responses each, half of them right."""
    (tmp_path / "suite.yaml").write_text(SUITE)
    write_lines(tmp_path / "rows.jsonl", rows(2))
    lines = [
        {"task": "sums", "problem_id": f"p{i:02}", "sample_index": j, "text": RIGHT if j % 2 else WRONG}
        for i in range(2)
        for j in range(4)
    ]
    write_lines(tmp_path / "responses.jsonl", lines)
    return tmp_path


def options(place: Path) -> RunOptions:
    return RunOptions(
        str(place / "suite.yaml"),
        run_dir=place / "out",
        responses=place / "responses.jsonl",
        quiet=True,
    )


@pytest.mark.slow
def test_a_run_returns_folders_results_and_page_and_has_no_failures(place: Path) -> None:
    report = pipeline.run(options(place))
    assert report.folders == {"m": place / "out/m"}
    assert report.results["m"].tasks["sums"].value == 0.5
    assert report.page is not None and report.page.is_file()
    assert report.failures == []
    assert [note.split(":")[0] for note in report.notes] == ["look at its samples"]


@pytest.mark.slow
def test_latest_results_are_those_that_the_run_returned(place: Path) -> None:
    report = pipeline.run(options(place))
    again = latest_results(place / "out/m")
    assert again == report.results["m"]


def test_a_folder_that_is_no_run_has_no_results(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="manifest"):
        latest_results(tmp_path)


def test_an_unfinished_run_says_how_to_finish_it(make_run: MakeRun) -> None:
    run = make_run("r", lambda _: [RIGHT] * 4, n=2)
    (run / "results.json").unlink()
    with pytest.raises(RunFolderError, match="genbench score"):
        latest_results(run)


@pytest.mark.slow
def test_score_makes_lost_verdicts_again(make_run: MakeRun) -> None:
    run = make_run("r", lambda _: [RIGHT, WRONG, RIGHT, WRONG], n=2)
    (run / "sums/verdicts.jsonl").unlink()
    report = pipeline.score(run, quiet=True)
    assert report.results["m"].tasks["sums"].status_counts == {"correct": 4, "wrong": 4}


@pytest.mark.slow
def test_a_report_that_cannot_be_written_does_not_lose_the_run(place: Path) -> None:
    (place / "out/m/report.html").mkdir(parents=True)
    (place / "out/m/report.html/in_the_way").write_text("")
    report = pipeline.run(options(place))
    assert report.page is None
    assert any("genbench report" in note for note in report.notes)
    assert report.results["m"].tasks["sums"].value == 0.5


def test_failures_name_the_model(make_run: MakeRun) -> None:
    good = latest_results(make_run("r", lambda _: [RIGHT] * 4, n=2))
    bad = good.model_copy(update={"failed": ("sums: too many",)})
    report = RunReport({}, {"a": bad, "b": good})
    assert report.failures == ["a: sums: too many"]


def test_prompts_yields_one_record_per_request_in_order(place: Path) -> None:
    asked = RunOptions(str(place / "suite.yaml"), models=("m=shipped:checkpoints/tiny-base",), limit=1)
    records = list(pipeline.prompts(asked))
    assert [record.sample_index for record in records] == [0, 1, 2, 3]
    assert len({record.problem_id for record in records}) == 1
    assert records[0].messages[0].role == "user" and records[0].decoding["max_tokens"] == 16


def test_an_unknown_model_is_refused_with_the_nearest(place: Path) -> None:
    with pytest.raises(ConfigError, match="no model 'mm'; did you mean 'm'"):
        pipeline.run(RunOptions(str(place / "suite.yaml"), models=("mm",), quiet=True))
