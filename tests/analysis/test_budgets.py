"""Token budgets of stored runs, and what has none."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import genbench
from genbench.cli.app import app
from genbench.errors import InputError, RunFolderError
from genbench.reports.terminal.show import budgets_text
from genbench.store.folder import RunFolder

from ..ready_runs import RIGHT, SUITE, WRONG, as_another_run, rows, score_responses, write_lines

Said = tuple[str, int, int]
"""Text, tokens, tokens of the trace."""
QUICK, SLOW, LATE = (RIGHT, 8, 0), (RIGHT, 16, 12), (f"<think>a</think>{RIGHT}", 16, 6)


def made(
    place: Path, said: Sequence[Said], more: Mapping[str, Any] | None = None, suite: str = SUITE
) -> Path:
    """A run of 20 problems whose four samples are these, turned by the number of the problem."""
    place.mkdir()
    (place / "suite.yaml").write_text(suite)
    write_lines(place / "rows.jsonl", rows(20))
    lines = [
        {
            "task": "sums",
            "problem_id": f"p{number:02}",
            "sample_index": index,
            "text": text,
            "completion_tokens": tokens,
            "trace_tokens": trace,
            **(more or {}),
        }
        for number in range(20)
        for index, (text, tokens, trace) in enumerate(said)
    ]
    write_lines(place / "responses.jsonl", lines)
    return score_responses(place)


def test_a_stored_run_says_what_it_would_have_scored_with_fewer_tokens(tmp_path: Path) -> None:
    run = made(tmp_path / "a", [QUICK, SLOW, LATE, (WRONG, 8, 0)])
    found = genbench.budgets(run, at=[8, 10, 16]).tasks["sums"]
    assert found.unknown is None
    assert [(point.budget, point.low, point.high) for point in found.points] == [
        (8, 0.25, 0.5),  # LATE has begun its answer
        (10, 0.25, 0.5),
        (16, 0.75, 0.75),
    ]
    assert [point.tokens for point in found.points] == [8.0, 9.0, 12.0]
    whole = genbench.latest_results(run).tasks["sums"].value
    assert found.points[-1].low == whole
    assert found.points[-1].ci == genbench.latest_results(run).tasks["sums"].ci
    usual = genbench.budgets(run).tasks["sums"].points
    assert [point.budget for point in usual] == [16]


@pytest.mark.slow
def test_two_runs_are_compared_and_shown(tmp_path: Path) -> None:
    base = made(tmp_path / "a", [QUICK, QUICK, (WRONG, 8, 0), (WRONG, 8, 0)])
    tuned = made(tmp_path / "b", [SLOW, SLOW, SLOW, SLOW])
    record = genbench.budgets(tuned, base, at=[8, 16])
    first, last = record.tasks["sums"].differences
    assert (first.difference, last.difference) == (-0.5, 0.5)
    assert first.ci == pytest.approx((-0.584, -0.247), abs=1e-3) and last.bounds == (0.5, 0.5)
    assert (first.tokens, last.tokens) == (0.0, 8.0) and (first.front, last.front) == ("none", "none")
    cheap = made(tmp_path / "c", [QUICK] * 4)
    assert genbench.budgets(cheap, tuned, at=[16]).tasks["sums"].differences[0].front == "none"
    assert genbench.budgets(cheap, base, at=[16]).tasks["sums"].differences[0].front == "none"
    both = genbench.budgets(
        cheap, made(tmp_path / "d", [SLOW, SLOW, (WRONG, 16, 0), (WRONG, 16, 0)]), at=[16]
    )
    assert both.tasks["sums"].differences[0].front == "tuned dominates"
    text = budgets_text(record)
    assert "at 8 tokens 50.0 [24.7, 58.4] below base, at 16 50.0 [24.7, 58.4] above base" in text
    done = CliRunner().invoke(
        app, ["budgets", str(tuned), "sums", "--at", "8,16", "--with", str(base), "--json"]
    )
    assert json.loads(done.stdout) == record.to_json()


def test_a_budget_is_known_up_to_the_smallest_limit_of_all_problems(tmp_path: Path) -> None:
    run = made(tmp_path / "a", [QUICK] * 4)
    path = run / "sums" / "problems.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[3]["max_tokens"] = 12  # its prompt left no more room
    write_lines(path, lines)
    assert [point.budget for point in genbench.budgets(run).tasks["sums"].points] == [12]
    with pytest.raises(InputError, match="had at most 12"):
        genbench.budgets(run, at=[16])


@pytest.mark.parametrize(
    ("at", "why"),
    [
        ([17], "a budget of 17 tokens, and its replies had at most 16"),
        ([0], "a budget of 0 tokens: wanted 1 or more"),
        (list(range(1, 10)), "9 budgets: wanted at most 8"),
    ],
)
def test_budgets_that_cannot_be_known_are_refused(tmp_path: Path, at: list[int], why: str) -> None:
    run = made(tmp_path / "a", [QUICK] * 4)
    with pytest.raises(InputError, match=why):
        genbench.budgets(run, at=at)


def test_tasks_without_counted_tokens_or_with_a_budget_have_no_curve(tmp_path: Path) -> None:
    bare = made(tmp_path / "a", [QUICK] * 4, {"trace_tokens": None})
    found = genbench.budgets(bare).tasks["sums"]
    assert found.points == () and found.unknown is not None
    assert "the tokens of 80 of 80 samples were not counted" in found.unknown
    assert "sums: no budgets: the tokens of 80 of 80" in budgets_text(genbench.budgets(bare))
    wrong = CliRunner().invoke(app, ["budgets", str(bare), "--at", "a"])
    assert wrong.exit_code == 2 and "wanted whole numbers" in wrong.output


LONG = SUITE.replace("max_tokens: 16", "max_tokens: 4096")


def with_offsets(run: Path, *offsets: int) -> Path:
    """Write where the texts of the last sample of each problem are cut."""
    path = run / "sums/completions.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    kept = [{**line, "offsets": list(offsets)} if line["sample_index"] == 3 else line for line in lines]
    write_lines(path, kept)
    return run


@pytest.mark.slow
def test_beginnings_of_answers_are_verified_where_they_were_cut(tmp_path: Path) -> None:
    said = f"<think>a</think>{RIGHT} or so, and much more"
    end = said.index(" or so")
    long = (said, 3000, 500)
    run = with_offsets(made(tmp_path / "a", [QUICK, QUICK, QUICK, long], suite=LONG), end, end + 3)
    late = with_offsets(made(tmp_path / "b", [QUICK, QUICK, QUICK, long], suite=LONG), end - 4, end + 3)
    open_ = genbench.budgets(run, at=[1024, 2048]).tasks["sums"].points
    assert [(point.low, point.high) for point in open_] == [(0.75, 1.0), (0.75, 1.0)]
    cut = genbench.cut_scores(run)
    assert cut["sums"][1024]["p00", 3] == 1.0 and set(cut["sums"]) == {1024, 2048}
    closed = genbench.budgets(run, late, at=[1024, 2048], cut=cut, base_cut=genbench.cut_scores(late))
    assert [(point.low, point.high) for point in closed.tasks["sums"].points] == [(1.0, 1.0)] * 2
    assert [item.difference for item in closed.tasks["sums"].differences] == [0.25, 0.0]
    done = CliRunner().invoke(app, ["budgets", str(run), "--at", "1024", "--verify", "--json"])
    assert json.loads(done.stdout)["tasks"]["sums"]["points"][0]["low"] == 1.0, done.output
    assert CliRunner().invoke(app, ["show", str(run), "--verify"]).exit_code != 0
    short = made(tmp_path / "c", [QUICK] * 4)
    assert "no answer was cut" in CliRunner().invoke(app, ["budgets", str(short), "--verify"]).output


def test_offsets_are_read_and_damaged_ones_are_named(tmp_path: Path) -> None:
    run = with_offsets(made(tmp_path / "a", [QUICK] * 4, suite=LONG), 3, 5)
    found = [item.offsets for item in RunFolder(run).completions("sums")]
    assert (3, 5) in found and () in found
    with_offsets(run, 5, 3)
    with pytest.raises(RunFolderError, match=r"'offsets' is \[5, 3\], wanted growing numbers"):
        list(RunFolder(run).completions("sums"))


@pytest.mark.slow
def test_compare_says_where_fewer_tokens_tell_another_story(tmp_path: Path) -> None:
    base = made(
        tmp_path / "a", [(RIGHT, 500, 0), (RIGHT, 500, 0), (WRONG, 500, 0), (WRONG, 500, 0)], suite=LONG
    )
    tuned = made(tmp_path / "b", [(RIGHT, 4000, 3000)] * 3 + [(WRONG, 4000, 3000)], suite=LONG)
    notes = genbench.compare(base, tuned).notes
    said = "sums: at 512 tokens tuned is 50.0 [24.7, 58.4] below base, at 4,096 25.0 above"
    assert any(note.startswith(said) and "genbench budgets" in note for note in notes)
    assert not any("tokens tuned is" in note for note in genbench.compare(base, base).notes)


def timed(run: Path, drawing: float) -> Path:
    """Give every reply a time that grows with its tokens, and the run a time of drawing."""
    path = run / "sums/completions.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    seconds = [0.001 * line["completion_tokens"] + 1e-7 * line["completion_tokens"] ** 2 for line in lines]
    write_lines(
        path,
        [{**line, "prompt_tokens": 10, "seconds": own} for line, own in zip(lines, seconds, strict=True)],
    )

    def drew(manifest: dict[str, Any]) -> None:
        manifest["attempts"][-1]["generation_s"] = drawing

    return as_another_run(run, drew)


@pytest.mark.slow
def test_gpu_seconds_of_a_right_answer_are_a_model_of_the_runs_own_times(tmp_path: Path) -> None:
    said = [(RIGHT, 500, 0), (RIGHT, 1000, 0), (RIGHT, 4000, 3000), (WRONG, 2000, 0)]
    run = timed(made(tmp_path / "a", said, suite=LONG), 80.0)
    found = genbench.budgets(run, at=[1000, 4096]).tasks["sums"]
    assert found.residual == pytest.approx(0.0, abs=1e-3)
    cost = [0.001 * t + 1e-7 * t**2 for t in (500, 1000, 4000, 2000)]
    assert found.points[1].gpu_seconds == pytest.approx(80.0 / 60, rel=1e-3)  # 20 problems, three right
    spent = 80.0 * sum([cost[0], 3 * cost[1]]) / sum(cost)
    assert found.points[0].gpu_seconds == pytest.approx(spent / 40, rel=1e-3)
    assert (
        genbench.budgets(made(tmp_path / "b", said, suite=LONG)).tasks["sums"].points[0].gpu_seconds is None
    )


@pytest.mark.slow
def test_a_curve_over_samples_ends_where_nobody_knows(tmp_path: Path) -> None:
    replies = [QUICK, (WRONG, 8, 0), (WRONG, 8, 0), QUICK]
    run = made(tmp_path / "a", replies)
    with (tmp_path / "a/responses.jsonl").open() as file:
        lines = [json.loads(line) for line in file]
    hard = [{**line, "text": WRONG} if line["problem_id"] < "p03" else line for line in lines]
    write_lines(tmp_path / "a/responses.jsonl", hard)
    solved, run = run, score_responses(tmp_path / "a", "hard")
    assert (
        genbench.estimate(solved, curve=True).tasks["sums"].curve_ends
        == "the drawn samples solve every problem"
    )
    task = genbench.estimate(run, curve=True).tasks["sums"]
    drawn = {point.k: point.passed.value for point in task.curve if point.drawn}
    assert drawn == pytest.approx({1: 0.425, 2: 0.85 * 5 / 6, 4: 0.85})
    assert [point.k for point in task.curve] == [1, 2, 4, 8, 16] and task.curve_ends is None
    assert task.curve[1].majority is not None and task.curve[-1].passed.ci is not None
    shown = CliRunner().invoke(app, ["metrics", str(run), "--curve"]).output
    assert (
        "2 samples: pass 70.8" in shown
        and "(extrapolated)" in shown
        and "30 to 89 % with others" in shown
        and "a better choice wins" in shown
    )
    hopeless = made(tmp_path / "b", [(WRONG, 8, 0)] * 4)
    said = CliRunner().invoke(app, ["metrics", str(hopeless), "--curve"]).output
    assert "not extrapolated: 100 % of the problems have no right sample" in said
    assert genbench.estimate(run).tasks["sums"].curve == ()
    assert "<svg" in genbench.plot(genbench.budgets(run)).svg
