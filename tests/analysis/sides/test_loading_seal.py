"""Lines on disk that were edited, removed or added after results.json was written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from genbench.analysis.comparison.compare import compare
from genbench.errors import NotComparableError
from tests.ready_runs import RIGHT, WRONG, MakeRun

Line = dict[str, Any]


@pytest.fixture
def pair(make_run: MakeRun) -> tuple[Path, Path]:
    return make_run("b", lambda i: [RIGHT, WRONG] * 2), make_run("t", lambda i: [RIGHT, WRONG] * 2)


def rewrite(run: Path, kind: str, change: Callable[[list[Line]], list[Line]]) -> None:
    path = run / "sums" / f"{kind}.jsonl"
    lines = change([json.loads(line) for line in path.read_text().splitlines()])
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


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
