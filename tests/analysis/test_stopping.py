"""How replies end in two runs: shares, their test by problem with its error, and what people are told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from genbench.analysis.comparison.compare import compare
from genbench.analysis.results.alarms import alarms
from genbench.analysis.results.run_state import require_results
from genbench.analysis.stopping import SharePair, StoppingChange, stopping_changes, stopping_words
from genbench.reports.terminal.compare import compare_brief
from genbench.reports.terminal.run import run_table
from genbench.store.folder import RunFolder
from genbench.store.stopping import Ending
from tests.ready_runs import SUITE, rows, score_responses, write_lines

ZEROS = [0.0] * 40


def shares(
    cut_off: Sequence[float], loops: Sequence[float] | None = None
) -> dict[Ending, Sequence[float | None]]:
    """Return the shares of a task without empty replies."""
    zeros = [0.0] * len(cut_off)
    return {"cut_off": cut_off, "loops": zeros if loops is None else loops, "empty": zeros}


def change(
    base: Sequence[float], tuned: Sequence[float], loops: Sequence[float] | None = None
) -> StoppingChange:
    pair = SharePair(shares(base), shares(tuned, loops), None, len(base))
    return stopping_changes({"t": pair})["t"]


def test_a_model_that_no_longer_ends_its_replies_is_told_with_its_counts() -> None:
    found = change([0.0] * 40, [1.0] * 39 + [0.0])
    assert found.is_worse and found.cut_off.is_shown
    assert list(stopping_words(found)) == [
        "tuned no longer ends its replies: 0 -> 98 % cut off (39 of 40), p < 0.0001"
    ]


def test_eight_questions_are_told_as_not_proven() -> None:
    found = change([0.0, 1.0] * 4, [1.0] * 8)
    assert not found.cut_off.is_shown and found.cut_off.p == 0.125
    assert list(stopping_words(found)) == [
        "tuned no longer ends its replies: 50 -> 100 % cut off (8 of 8), p 0.12, not proven by these "
        "questions"
    ]


def test_loops_are_told_by_themselves_if_as_many_replies_are_cut_off() -> None:
    found = change([1.0] * 40, [1.0] * 40, loops=[1.0] * 20 + [0.0] * 20)
    assert list(stopping_words(found)) == [
        "tuned repeats itself more: 0 -> 50 % end in a loop (20 of 40), p < 0.0001"
    ]


def test_a_model_that_ends_more_of_its_replies_is_no_warning() -> None:
    found = change([1.0] * 40, [0.0] * 40)
    assert not found.is_worse and next(stopping_words(found)).startswith(
        "tuned ends more of its replies: 100 -> 0 %"
    )


def test_an_unchanged_model_is_told_to_end_otherwise_in_at_most_five_percent() -> None:
    rng, told, times = np.random.default_rng(3), 0, 400
    for _ in range(times):
        pairs = {}
        for task in range(3):
            ability = rng.beta(0.5, 2, 60)
            draws = [(rng.random((60, 4)) < ability[:, None]).mean(axis=1).tolist() for _ in range(4)]
            pairs[str(task)] = SharePair(shares(*draws[:2]), shares(*draws[2:]), None, 240)
        told += any(
            own.of(name).is_shown for own in stopping_changes(pairs).values() for name in ("cut_off", "loops")
        )
    assert told / times < 0.075  # 5 % and 2.3 standard errors


def test_variants_of_one_question_are_one_cluster() -> None:
    pair = SharePair(shares(ZEROS), shares([1.0] * 40), ["a"] * 20 + ["b"] * 20, 40)
    found = stopping_changes({"t": pair})["t"]
    assert not found.cut_off.is_shown and found.cut_off.p == 0.5


LOOP = "The answer is \\boxed{2}.\n" + "".join(f"Step {n}: check it again.\n" for n in range(30))
GOOD = "So it is \\boxed{2}."


def test_results_table_compare_and_advice_name_the_loops(tmp_path: Path) -> None:
    folders = {}
    for name, cut in (("base", 1), ("tuned", 11)):
        place = tmp_path / name
        place.mkdir()
        (place / "suite.yaml").write_text(SUITE)
        write_lines(place / "rows.jsonl", rows())
        lines = [
            {
                "task": "sums",
                "problem_id": f"p{problem:02}",
                "sample_index": index,
                "text": LOOP if problem < cut else GOOD,
                "finish_reason": "length" if problem < cut else "stop",
            }
            for problem in range(12)
            for index in range(4)
        ]
        write_lines(place / "responses.jsonl", lines)
        score_responses(place)
        folders[name] = next(path.parent for path in place.rglob("results.json"))
    results = require_results(RunFolder(folders["tuned"]))
    stopping = results.tasks["sums"].stopping
    assert stopping is not None and (stopping.cut_off, stopping.loops, stopping.empty) == (44, 44, 0)
    assert stopping.examples[0].period == 24 and stopping.reasons == {"length": 44, "stop": 4}
    said = str(alarms({"tuned": results})[0])
    assert (
        "92% of the samples repeat themselves until they are cut off" in said
        and "a larger max_tokens only" in said
    )
    assert "loops 91.7% (unit of 24 characters, such as p" in run_table({"tuned": results}, {}, brief=True)
    text = compare_brief(compare(folders["base"], folders["tuned"]))
    line = (
        "WARNING: sums: tuned no longer ends its replies: 8 -> 92 % cut off (44 of 48, 44 of them loops), p "
    )
    assert any(found.startswith(line) for found in text.splitlines()[:12])


@pytest.mark.parametrize(("ks", "is_shown"), [((64, 1), False), (None, True)])
def test_few_samples_against_many_are_exchanged(ks: tuple[int, int] | None, is_shown: bool) -> None:
    base, tuned = shares([60 / 64] * 20), shares([1.0] * 20)
    found = stopping_changes({"t": SharePair(base, tuned, None, 20, ks)})
    assert found["t"].cut_off.is_shown == is_shown
