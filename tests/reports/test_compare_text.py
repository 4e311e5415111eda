"""The text of a comparison: the sentence that it leads with, its verdict words, and harmless characters."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.analysis.comparison.compare import compare
from genbench.analysis.comparison.compared_task import (
    CausesRecord,
    ComparedTask,
    TokensRecord,
    TokenUse,
    compared_task,
)
from genbench.analysis.sides.side import SideTask
from genbench.reports.explanations import sentence
from genbench.reports.numbers import p_text, signed
from genbench.reports.terminal.compare import compare_text
from genbench.stats.comparison.causes import CauseRecord
from genbench.stats.comparison.gate import gate
from genbench.stats.comparison.paired import paired
from genbench.types import Status
from tests.ready_runs import OPEN, RIGHT, SILENT, WRONG, MakeRun, write_lines


def part(status: Status, value: float) -> CauseRecord:
    return CauseRecord(status=status, part=value, ci=(0, 0), base_share=0, tuned_share=0)


def task(difference: float, *parts: CauseRecord, tokens: tuple[float, float] | None = None) -> ComparedTask:
    """A task whose difference has these parts, and tokens per correct answer in base and tuned."""
    base = compare_scores([[1.0, 0.0]] * 3, [[1.0, 0.0]] * 3)
    leading = max(parts, key=lambda p: p.part * difference).status if parts else None
    uses = [TokenUse(completion=1, per_sample=1, per_correct=count) for count in tokens or ()]
    return base.model_copy(
        update={
            "base": 0.61,
            "tuned": 0.61 + difference,
            "difference": difference,
            "ci": (difference - 0.042, difference + 0.042),
            "causes": CausesRecord(leading=leading, parts=parts) if parts else None,
            "tokens": TokensRecord(base=uses[0], tuned=uses[1], per_correct_ratio=tokens[1] / tokens[0])
            if tokens
            else None,
        }
    )


def compare_scores(base: list[list[float]], tuned: list[list[float]]) -> ComparedTask:
    """The record of a task with these scores."""
    left, right = (
        SideTask("t", tuple(map(str, range(len(scores)))), tuple(map(tuple, scores)), metrics=("avg@k",))
        for scores in (base, tuned)
    )
    found = paired(left.scores, right.scores, metric="avg@k")
    decision = gate({"t": found}).tasks["t"]
    return compared_task(left, right, found, decision, shared_seeds=False, mode="strict", noise=None)


def test_the_sentence_names_both_values_the_change_and_its_main_cause() -> None:
    found = sentence(task(0.232, part("format_error", 0.17), part("wrong", 0.062)))
    assert found == "61.0 -> 84.2 (+23.2, 95% CI [19.0, 27.4]); 17.0 points of it from fewer format errors"


def test_a_loss_is_from_more_of_something() -> None:
    found = sentence(task(-0.1, part("truncated", -0.08), part("wrong", -0.02)))
    assert found.endswith("8.0 points of it from more truncated samples")


def test_a_cause_larger_than_the_change_names_what_went_against_it() -> None:
    found = sentence(task(0.01, part("unclosed_trace", 0.05), part("wrong", -0.04)))
    assert found.endswith("+5.0 points from fewer unclosed traces, -4.0 from more wrong answers")


def test_a_point_at_twice_the_tokens_is_shown_as_that() -> None:
    found = sentence(task(0.01, part("wrong", 0.01), tokens=(812, 1624)))
    assert found.endswith("; tokens per correct answer 812 -> 1,624 (x2.00)")


def test_without_statuses_the_sentence_gives_no_cause() -> None:
    assert sentence(task(0.01)) == "61.0 -> 62.0 (+1.0, 95% CI [-3.2, 5.2])"


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0.0"), (-0.0002, "0.0"), (0.0123, "+1.2"), (-0.5, "-50.0")]
)
def test_what_rounds_to_zero_has_no_sign(value: float, text: str) -> None:
    assert signed(value) == text


def test_a_p_value_is_never_zero() -> None:
    assert (p_text(1e-9), p_text(0.14), p_text(None)) == ("<0.0001", "0.14", "-")


@pytest.mark.slow
def test_the_text_of_two_runs_has_all_parts(make_run: MakeRun) -> None:
    base = make_run("b", lambda i: [RIGHT, WRONG, SILENT, OPEN])
    tuned = make_run("t", lambda i: [RIGHT, RIGHT if i % 3 else WRONG, RIGHT, OPEN])
    text = compare_text(compare(base, tuned, gate=True))
    for wanted in (
        "sums: 25.0 -> 66.7 (+41.7, 95% CI [",
        "25.0 points of it from fewer samples without an answer",
        "IMPROVED",
        "suite: IMPROVED; each gating task by itself improved or lost less than its margin (95 %)",
        "weighted pool +41.7",
        "one or the other in up to 10 %",
        "the difference by cause (the parts add up to it)",
        "samples by status, base -> tuned:",
        "by level (exploratory; q: false discovery rate over its rows):",
        "run seed: 0 in both",
        "gate: passed",
    ):
        assert wanted in text


def test_no_change_is_said_as_what_it_could_not_exclude(make_run: MakeRun) -> None:
    base, tuned = (make_run(name, lambda i: [RIGHT, WRONG] * 2) for name in "bt")
    text = compare_text(compare(base, tuned))
    assert "inconclusive: a 3.0-point drop is not excluded; smallest detectable drop" in text
    assert "problems like these would find 3.0" in text
    assert "no regression" not in text


def test_names_from_files_cannot_move_the_cursor(tmp_path: Path) -> None:
    rows = [{"task": "t\x1b[2J", "problem_id": str(i), "sample_index": 0, "score": 1} for i in range(3)]
    path = write_lines(tmp_path / "s", rows)
    text = compare_text(compare(path, path))
    assert "\x1b" not in text
    assert "t\\x1b[2J" in text
