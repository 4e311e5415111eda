"""Lines on disk that were edited, removed or added after results.json was written."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from genbench.analysis.comparison.compare import compare
from genbench.errors import GenbenchError, NotComparableError
from genbench.pipeline import latest_results, merge, score
from genbench.reports.write import report_text
from tests.ready_runs import RIGHT, WRONG, MakeRun, as_another_run, score_responses
from tests.run_edits import (
    Line,
    first_line,
    manifest_key,
    replace_texts,
    replace_texts_and_results,
    rewrite,
    rewrite_json,
)
from tests.table import each_row


@pytest.fixture
def pair(make_run: MakeRun) -> tuple[Path, Path]:
    return make_run("b", lambda i: [RIGHT, WRONG] * 2), make_run("t", lambda i: [RIGHT, WRONG] * 2)


def refusal(pair: tuple[Path, Path]) -> str:
    with pytest.raises(NotComparableError) as caught:
        compare(*pair)
    return str(caught.value)


@pytest.mark.slow
def test_untouched_runs_are_compared(pair: tuple[Path, Path]) -> None:
    assert compare(*pair).allowed == ()


def test_the_order_of_lines_does_not_matter(pair: tuple[Path, Path]) -> None:
    for kind in ("verdicts", "completions"):
        rewrite(pair[1], kind, lambda lines: lines[::-1])
    assert compare(*pair).allowed == ()


def test_an_edited_score_is_found(pair: tuple[Path, Path]) -> None:
    right = {"status": "correct", "score": 1.0, "extracted": "2"}
    rewrite(
        pair[1], "verdicts", lambda lines: [line if line["score"] else {**line, **right} for line in lines]
    )
    said = refusal(pair)
    assert "seal.sums: tuned: verdicts.jsonl has other contents than results.json was made from" in said


def test_an_edited_text_is_found_and_can_be_let_through(pair: tuple[Path, Path]) -> None:
    rewrite(pair[0], "completions", lambda lines: [{**lines[0], "text": "other"}, *lines[1:]])
    assert "seal.sums: base: completions.jsonl has other contents" in refusal(pair)
    assert compare(*pair, allow=["seal"]).allowed != ()


def test_removed_completions_are_found(pair: tuple[Path, Path]) -> None:
    (pair[1] / "sums" / "completions.jsonl").unlink()
    said = refusal(pair)
    assert "prompts of 48 of 48 samples could not be compared" in said
    assert "completions.jsonl has 0 lines in force, results.json was made from 48" in said
    assert compare(*pair, allow=["prompts.missing", "seal"]).tasks["sums"].difference == 0


def test_cut_completions_are_refused_without_results_too(pair: tuple[Path, Path]) -> None:
    rewrite(pair[1], "completions", lambda lines: lines[:6])
    (pair[1] / "results.json").unlink()
    said = refusal(pair)
    assert "prompts.missing.sums: prompts of 42 of 48 samples could not be compared" in said
    assert "seal" not in said


def test_a_second_verdict_that_contradicts_the_first_is_found(pair: tuple[Path, Path]) -> None:
    def add(lines: list[Line]) -> list[Line]:
        right = next(line for line in lines if line["score"] == 1)
        return [*lines, right, {**right, "status": "wrong", "score": 0.0}]

    rewrite(pair[1], "verdicts", add)
    assert "verdicts.jsonl has 1 second verdicts that contradict the first" in refusal(pair)


@pytest.mark.parametrize(("status", "score"), [("correct", 0.5), ("wrong", 1.0), ("engine_error", 1.0)])
def test_a_score_that_its_status_cannot_have_is_found(
    pair: tuple[Path, Path], status: str, score: float
) -> None:
    (pair[1] / "results.json").unlink()
    rewrite(pair[1], "verdicts", lambda lines: [{**lines[0], "status": status, "score": score}, *lines[1:]])
    assert "1 verdicts whose score does not fit their status" in refusal(pair)


def test_excluded_samples_are_counted_again_without_results(pair: tuple[Path, Path]) -> None:
    def fail(lines: list[Line]) -> list[Line]:
        return [
            {**line, "status": "engine_error", "score": None} if i % 2 else line
            for i, line in enumerate(lines)
        ]

    rewrite(pair[1], "verdicts", fail)
    (pair[1] / "results.json").unlink()
    assert "excluded.sums: tuned: 24 of 48 samples are excluded by their verdicts" in refusal(pair)


def words(base: Path, tuned: Path) -> str:
    """Return what `compare` says of two runs: its refusal, or its warnings."""
    try:
        return "\n".join(compare(base, tuned).warnings)
    except GenbenchError as error:
        return str(error)


SCORED_AFTERWARDS: dict[str, tuple[Callable[[Path], object], str]] = {
    "texts": (replace_texts, "sums/completions.jsonl"),
    "texts, without results": (replace_texts_and_results, "sums/completions.jsonl"),
    "token counts": (
        lambda run: first_line(run, "completions", completion_tokens=3),
        "sums/completions.jsonl",
    ),
    "the run seed": (manifest_key("run_seed", value=77), "manifest.json"),
}


@pytest.mark.slow
@each_row("name", list(SCORED_AFTERWARDS))
def test_an_edit_is_remembered_when_the_run_is_scored_again(
    pair: tuple[Path, Path], name: str, tmp_path: Path
) -> None:
    base, tuned = pair[0], tmp_path / name / "m"
    shutil.copytree(pair[1], tuned)
    change, file = SCORED_AFTERWARDS[name]
    change(tuned)
    for _ in range(2):
        results = score(tuned, quiet=True).results["m"]
        said = f"{file} was changed by hand, as a command on the run found at "
        assert [line.startswith(said) for line in results.warnings if "by hand" in line] == [True]
        assert f"seal.tuned: {said}" in words(base, tuned)
    assert compare(base, tuned, allow=["seal"]).tasks["sums"].n == 12


@pytest.mark.slow
def test_an_edit_is_remembered_when_the_run_is_continued_or_merged(
    pair: tuple[Path, Path], tmp_path: Path
) -> None:
    base, tuned = pair
    replace_texts(tuned)
    merged = merge([tuned], tmp_path / "merged", quiet=True)
    assert "sums/completions.jsonl was changed by hand" in words(base, merged.folders["m"])
    assert score_responses(tuned.parent.parent) == tuned
    assert "sums/completions.jsonl was changed by hand" in words(base, tuned)


@pytest.mark.slow
def test_results_and_pages_name_the_files_that_do_not_fit(pair: tuple[Path, Path]) -> None:
    run = pair[1]
    assert latest_results(run).warnings == ()
    rewrite_json(run / "sums.json", lambda record: record.update(format=1))
    replace_texts(run)
    assert f"{run}/sums.json: was changed after results.json was written, or written again without it" in (
        latest_results(run).warnings
    )
    page = json.loads(report_text([run], "json"))
    assert any(
        "sums/completions.jsonl: has other contents" in line
        for line in page["runs"][0]["results"]["warnings"]
    )


def test_config_json_that_differs_is_named_as_a_reason(pair: tuple[Path, Path]) -> None:
    told = {"architectures": ["M"], "rope_theta": 10_000, "hidden_size": 8}
    for run, theta in zip(pair, (10_000, 1_000_000), strict=True):
        as_another_run(run, lambda record, t=theta: record.update(architecture={**told, "rope_theta": t}))  # type: ignore[misc]
    assert (
        "config.json differs, which can move scores without any training: rope_theta: 10000 -> 1000000"
        in (words(*pair))
    )
    other = {"architectures": ["N"], "rope_theta": 5}
    as_another_run(pair[1], lambda record: record.update(architecture=other))
    assert "config.json differs" not in words(*pair)
