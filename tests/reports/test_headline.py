"""The first sentence of a report: the verdict if runs are compared, the scores if not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from genbench.analysis.comparison.compare import Comparison, compare
from genbench.reports.explanations import headline, report_headline, sentence, task_sentences
from genbench.reports.numbers import signed
from genbench.reports.record import ReportedComparison
from genbench.stats.comparison.paired import PairedDifference
from genbench.stats.strata import StratumDifference
from tests.ready_runs import write_lines
from tests.reports.made import report, reported, task


def scores(path: Path, right: int, n: int = 60) -> Path:
    lines = [
        {"task": "t", "problem_id": str(i), "sample_index": 0, "score": int(i < right)} for i in range(n)
    ]
    return write_lines(path, lines)


def compared(place: Path, base: int, tuned: int) -> ReportedComparison:
    record = compare(scores(place / "b.jsonl", base), scores(place / "t.jsonl", tuned))
    return ReportedComparison(base="base", tuned="tuned", record=record, refused=None)


def test_one_run_leads_with_its_scores() -> None:
    assert report_headline(report(reported("m"))) == "m scores sums 50.0 [30.0, 70.0]."


def test_many_tasks_are_counted_instead_of_listed() -> None:
    tasks = {f"t{i}": task() for i in range(9)} | {"t0": task(value=None)}
    text = report_headline(report(reported("m", tasks=tasks)))
    assert text.startswith("m scores t0 missing, t1 50.0") and text.endswith(" and 3 more.")


def test_numbers_that_must_not_be_used_come_first() -> None:
    text = report_headline(report(reported("m", failed=("sums: 3 of 20 samples are excluded",))))
    assert text == "These numbers must not be used: sums: 3 of 20 samples are excluded."


def test_a_loss_is_told_with_its_size_and_its_tasks(tmp_path: Path) -> None:
    text = report_headline(
        report(reported("base"), reported("tuned"), comparisons=(compared(tmp_path, 50, 20),))
    )
    assert text.startswith("tuned is worse than base on t: -50.0 [")
    assert text.endswith("]. Not released: t regressed.")


def test_a_gain_is_told(tmp_path: Path) -> None:
    text = report_headline(
        report(reported("base"), reported("tuned"), comparisons=(compared(tmp_path, 20, 50),))
    )
    assert text.startswith("tuned is better than base on t: +50.0 [")
    assert text.endswith("]. Released: t improved, and no loss beyond the margins is left open.")


def test_several_comparisons_lead_with_their_means_and_without_the_reasons(tmp_path: Path) -> None:
    runs = reported("base"), reported("tuned")
    better, worse = compared(tmp_path, 20, 50), compared(tmp_path, 50, 20)
    text = report_headline(report(*runs, comparisons=(better, worse)))
    assert re.fullmatch(
        r"tuned is better than base on t: \+50\.0 \[[^]]+\], released\. "
        r"tuned is worse than base on t: -50\.0 \[[^]]+\], not released\.",
        text,
    )


def test_without_a_clear_difference_the_open_condition_is_said(tmp_path: Path) -> None:
    text = report_headline(
        report(reported("base"), reported("tuned"), comparisons=(compared(tmp_path, 30, 31),))
    )
    assert text.startswith("No clear difference between base and tuned on t: +1.7 [")
    assert "Not released: a loss of 3 points is not excluded (lower bound " in text


def suite(place: Path, sides: Mapping[str, tuple[list[int], list[int]]], **options: Any) -> Comparison:
    """Return the comparison of tasks with given scores of 0 and 1 in base and in tuned."""
    paths = []
    for side, name in enumerate(("base", "tuned")):
        lines = [
            {"task": task, "problem_id": str(i), "sample_index": 0, "score": score}
            for task, scores in sides.items()
            for i, score in enumerate(scores[side])
        ]
        paths.append(write_lines(place / name, lines))
    return compare(*paths, **options)


def moved(n: int, up: int, down: int, right: int = 0) -> tuple[list[int], list[int]]:
    """Return scores of n problems of which `up` become right, `down` become wrong, `right` stay right."""
    rest = n - up - down - right
    return [0] * up + [1] * (down + right) + [0] * rest, [1] * up + [0] * down + [1] * right + [0] * rest


def test_a_fall_of_one_task_below_a_mean_that_rose_names_the_task(tmp_path: Path) -> None:
    sides = {"gpqa": moved(400, 2, 40, 200), "aime": moved(30, 6, 0, 10), "math": moved(100, 5, 3, 50)}
    text = headline(suite(tmp_path, sides))
    assert text.startswith("tuned against base on average over 3 tasks: +4.2 [-")
    assert text.endswith("]. Not released: gpqa -9.5 [-12.5, -6.5] regressed.")


@pytest.mark.slow
def test_a_verdict_of_the_weighted_pool_says_so(tmp_path: Path) -> None:
    sides = {name: moved(2000, 6, 17, 1800) for name in ("a", "b")} | {"few": moved(20, 5, 1, 4)}
    text = headline(suite(tmp_path, sides))
    assert text.startswith("tuned against base on average over 3 tasks: +6.3 [-")
    assert text.endswith("]. Not released: the tasks together regressed (weighted pool -0.5 [-0.9, -0.2]).")


def test_few_problems_of_a_better_model_are_named_with_what_is_open(
    tmp_path: Path,
) -> None:
    sides = {"choice": moved(20, 6, 1, 8), "math": moved(20, 13, 0, 3), "code": moved(20, 5, 1, 3)}
    text = headline(suite(tmp_path, sides | {"facts": moved(20, 9, 0, 5)}))
    assert text.startswith("tuned is better than base on average over 4 tasks: +38.8 [26.6, 50.9]. ")
    assert (
        "Not released: 20 problems cannot exclude a loss of 3 points in choice and code; it takes at" in text
    )


@pytest.mark.parametrize(
    ("up", "down", "words"),
    [
        (
            3,
            10,
            "t: -7.0 [-14.1, 0.1]. Not released: t regressed (one-sided p 0.046 of at most 0.05",
        ),
        (3, 11, "t: -8.0 [-15.3, -0.7]. Not released: t regressed."),
    ],
)
def test_a_drop_that_is_decided_one_sided_names_what_decided(
    tmp_path: Path, up: int, down: int, words: str
) -> None:
    assert words in headline(suite(tmp_path, {"t": moved(100, up, down, 50)}))


def test_tasks_that_do_not_gate_and_regressed_are_named_after_the_release(tmp_path: Path) -> None:
    sides = {"a": moved(200, 40, 0), "b": moved(200, 20, 0), "c": moved(200, 0, 180, 10)}
    text = headline(suite(tmp_path, sides, gating=["a", "b"]))
    assert text.startswith("tuned is worse than base on average over 3 tasks: -20.0 [")
    assert "Released: a +20.0 [14.4, 25.6], b +10.0 [5.8, 14.2] improved" in text
    assert text.endswith(". Not gating, regressed: c -90.0.")


def test_unchanged_tasks_that_do_not_gate_share_one_error(tmp_path: Path) -> None:
    # One of twenty has p 0.033, which is not a drop among twenty.
    sides = {f"t{n}": moved(200, 5, 5, 50) for n in range(20)} | {"t7": moved(200, 2, 9, 50)}
    record = suite(tmp_path, sides, gating=["t0"])
    assert 0.03 < (record.tasks["t7"].p_regression or 0) < 0.05
    assert record.tasks["t7"].verdict != "REGRESSED" and "Not gating" not in headline(record)


def test_slices_that_moved_in_opposite_directions_are_in_the_sentence_of_the_task(tmp_path: Path) -> None:
    record = suite(tmp_path, {"t": moved(200, 40, 29, 50)})
    assert "opposite slices" not in slices(record)
    rows = [("easy", 0.22, 0.001), ("middle", 0.17, 0.04), ("hard", -0.22, 0.02), ("other", -0.3, 0.2)]
    told = slices(sliced(record, rows))
    assert told.endswith("; opposite slices (level): easy +22.0, hard -22.0, middle +17.0")
    assert "slices" not in slices(sliced(record, rows[:2]))
    # The task itself rose.
    assert slices(sliced(record, rows[2:])).endswith("; opposite slices (level): hard -22.0")
    assert "slices" not in headline(sliced(record, rows))
    many = [(f"s{n}", 0.4 + n / 100, 0.01) for n in range(9)] + [("down", -0.1, 0.01)]
    assert "down -10.0" in slices(sliced(record, many))


def slices(record: Comparison) -> str:
    """Return the sentence about the only task."""
    return sentence(record.tasks["t"])


def sliced(record: Comparison, rows: list[tuple[str, float, float]]) -> Comparison:
    """Return a comparison whose task has rows by level: name, difference and q value."""
    task = record.tasks["t"]
    facts = {name: getattr(task, name) for name in PairedDifference.model_fields}
    levels = tuple(
        StratumDifference(**(facts | {"name": name, "difference": size, "q_value": q}))
        for name, size, q in rows
    )
    return record.model_copy(update={"tasks": {"t": task.model_copy(update={"strata": {"level": levels}})}})


@pytest.mark.slow
def test_the_sign_of_the_headline_is_that_of_the_mean_of_the_table(tmp_path: Path) -> None:
    rng, signs = np.random.default_rng(1), Counter[str]()
    for _ in range(300):
        sides = {}
        for number in range(rng.integers(1, 5)):
            n, level, by = rng.choice([10, 30, 120]), rng.random(), rng.normal(0, 0.15)
            drawn = rng.random((2, n)) < np.array([[level], [level + by]])
            sides[f"t{number}"] = (drawn[0].astype(int).tolist(), drawn[1].astype(int).tolist())
        record = suite(tmp_path, sides)
        mean = fmean(task.difference for task in record.tasks.values() if task.difference is not None)
        text = headline(record)
        shown = re.search(r": ([+-]?\d+\.\d) \[", text)
        assert shown is not None and shown[1] == signed(mean), text
        low, high = record.suite.plain_ci or (0.0, 0.0)
        assert ("is better" in text) == (low > 0) and ("is worse" in text) == (high < 0), text
        pooled = record.suite.pooled_difference
        signs["opposite pool" if pooled is not None and pooled * mean < 0 else "same"] += 1
    assert signs["opposite pool"] > 15


def test_runs_that_cannot_be_compared_say_so() -> None:
    refused = ReportedComparison(base="base", tuned="tuned", record=None, refused="other terms")
    text = report_headline(report(reported("base"), reported("tuned"), comparisons=(refused,)))
    assert text.startswith("base and tuned cannot be compared: they differ in what must be equal")
    assert "`genbench compare`" in text
    assert task_sentences(refused) == {}


def test_each_compared_task_has_a_sentence(tmp_path: Path) -> None:
    (sentence,) = task_sentences(compared(tmp_path, 50, 20)).values()
    assert sentence.startswith("t: ")


@pytest.mark.slow
def test_a_task_that_may_have_lost_more_than_its_margin_is_named_though_the_suite_did_not(
    tmp_path: Path,
) -> None:
    many = {f"t{i}": moved(2000, up=20, down=20, right=1000) for i in range(4)}
    record = suite(tmp_path, many | {"lost": moved(300, up=9, down=15, right=100)})
    assert (record.suite.verdict, record.tasks["lost"].verdict) == ("NON_INFERIOR", "INCONCLUSIVE")
    lower = record.tasks["lost"].lower
    assert lower is not None and lower < -0.03
    words = f"by itself lost may have lost up to {100 * -lower:.1f} points (margin 3.0)"
    assert words in headline(record)


def test_no_task_is_named_where_none_may_have_lost_its_margin(tmp_path: Path) -> None:
    """Nor one with too few problems to be NON_INFERIOR, whose bound is within its margin."""
    many = {f"t{i}": moved(2000, up=20, down=20, right=1000) for i in range(2)}
    record = suite(tmp_path, many | {"few": moved(60, up=1, down=1, right=30)}, margins={"few": 0.3})
    assert (record.suite.verdict, record.tasks["few"].verdict) == ("NON_INFERIOR", "INCONCLUSIVE")
    assert "by itself" not in headline(record)
