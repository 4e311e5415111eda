"""The table of efforts: paired gains, tokens, the least effort that is enough, and compare by effort."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from genbench.analysis.comparison.compare import compare
from genbench.errors import NotComparableError
from genbench.pipeline import RunOptions
from genbench.reports.efforts import efforts_text
from genbench.reports.record import Report
from genbench.reports.write import report, report_text
from tests.ready_runs import RIGHT, as_another_run, rows, run_bare, write_lines

SUITE = """\
models:
  m: {path: ./model, effort: {low: {reasoning_effort: low, max_tokens: 16}, high: {reasoning_effort: high}}}
decoding: {temperature: 0.6, max_tokens: 64}
tasks:
  - name: sums
    kind: math
    data: {path: rows.jsonl, fields: {id: id, question: problem, reference: answer, strata: [level]}}
    prompt: "{question}"
    k: 2
  - name: more
    kind: math
    effort: [high]
    data: {path: rows.jsonl, fields: {id: id, question: problem, reference: answer, strata: [level]}}
    prompt: "{question}"
    k: 2
"""
Draw = Callable[..., Mapping[str, Path]]


@pytest.fixture
def draw(tmp_path: Path) -> Draw:
    """Run a suite of two efforts with the scores of each problem, 0 or 1, and the tokens of each reply."""

    def made(
        scores: Mapping[str, list[int]], tokens: Mapping[str, Callable[[int], int]], suite: str = SUITE
    ) -> Mapping[str, Path]:
        (tmp_path / "suite.yaml").write_text(suite)
        n = len(next(iter(scores.values())))
        write_lines(tmp_path / "rows.jsonl", rows(n))
        lines = [
            {
                "model": f"m-{effort}",
                "task": task,
                "problem_id": f"p{i:02}",
                "sample_index": j,
                "text": RIGHT if score else "<think>hm" if i % 2 else "\\boxed{3}",
                "completion_tokens": tokens[effort](i),
                "trace_tokens": 0,
                "finish_reason": "stop",
            }
            for effort, own in scores.items()
            for task in (("sums", "more") if effort == "high" else ("sums",))
            for i, score in enumerate(own)
            for j in range(2)
        ]
        write_lines(tmp_path / "responses.jsonl", lines)
        options = RunOptions(
            tmp_path / "suite.yaml",
            run_dir=tmp_path / "out",
            responses=tmp_path / "responses.jsonl",
            quiet=True,
        )
        return run_bare(options).folders

    return made


def table(folders: Mapping[str, Path]) -> Report:
    return Report.from_json(json.loads(report_text(list(folders.values()), "json")), "the report")


def rows_of(found: Report) -> dict[tuple[str | None, str], Any]:
    assert found.efforts is not None
    return {(row.effort, row.task): row for row in found.efforts.rows}


def test_the_gain_of_the_next_effort_is_paired_by_problem(draw: Draw) -> None:
    folders = draw(
        {"low": [1, 0, 0, 1], "high": [1, 1, 0, 1]}, {"low": lambda i: 10 + i, "high": lambda i: 40}
    )
    found = table(folders)
    of = rows_of(found)
    low, high = of["low", "sums"], of["high", "sums"]
    assert (low.model, low.run, low.value, high.value) == ("m", "m-low", 0.5, 0.75)
    assert low.next is not None and low.next.effort == "high" and low.next.gain == 0.25
    assert low.next.tokens == 28.5 and high.next is None
    assert (low.tokens, low.tokens_per_right, high.tokens_p95) == (11.5, 23.0, 40.0)
    assert (low.open_traces, high.open_traces, low.cut_off) == (0.25, 0.0, 0.0)
    assert of["high", "more"].next is None  # it is drawn at one effort only
    assert found.comparisons[0].refused is None and found.comparisons[0].record is not None
    assert list(found.comparisons[0].record.tasks) == ["sums"]


@pytest.mark.parametrize(
    ("scores", "effort", "state", "said"),
    [
        (
            ([1] * 120, [1] * 120),
            "low",
            "shown",
            "low is the least effort that is not worse than any greater",
        ),
        (([0] * 60 + [1] * 60, [1] * 120), None, "all worse", "each less effort is worse than a greater one"),
        (([1, 0] * 6, [0, 1] * 6), None, "open", "whether low would be enough is open"),
    ],
)
def test_the_least_effort_is_one_that_the_gate_finds_not_worse(
    draw: Draw, scores: tuple[list[int], list[int]], effort: str | None, state: str, said: str
) -> None:
    by_effort = dict(zip(("low", "high"), scores, strict=True))
    found = table(draw(by_effort, {"low": lambda i: 9, "high": lambda i: 50 + i}))
    assert found.efforts is not None
    (least,) = found.efforts.least
    assert (least.effort, least.state) == (effort, state)
    assert said in efforts_text(found.efforts)


def test_an_effort_that_only_the_next_one_does_not_beat_is_not_enough(draw: Draw) -> None:
    half = [0, 1] * 60
    three = SUITE.replace("high: {", "middle: {enable_thinking: true}, high: {")
    scores = {"low": half, "middle": half, "high": [1] * 120}
    found = table(draw(scores, dict.fromkeys(scores, lambda i: 9 + i), three))
    assert found.efforts is not None
    (least,) = found.efforts.least
    assert (least.effort, least.state, least.open) == (None, "all worse", ())
    assert rows_of(found)["low", "sums"].next.verdict == "NON_INFERIOR"


def test_efforts_whose_replies_are_as_long_are_told(draw: Draw) -> None:
    def noisy(i: int) -> int:
        return 21 if i % 2 else 19

    scores = {"low": [1, 0] * 6, "high": [1, 0] * 6}
    alike = table(draw(scores, {"low": noisy, "high": lambda i: 40 - noisy(i)})).efforts
    assert alike is not None and "obey the switch?" in "\n".join(alike.notes)


def test_the_table_is_on_the_page_in_markdown_and_in_csv(draw: Draw) -> None:
    folders = draw({"low": [1, 0, 0, 1], "high": [1, 1, 0, 1]}, {"low": lambda i: 10, "high": lambda i: 40})
    paths = list(folders.values())
    page = report(paths).page.read_text()
    assert '<h3 id="efforts">By effort</h3>' in page and "+25.0 [" in page
    assert "| sums | m | low | none | 50.0 |" in report_text(paths, "md")
    found = list(csv.DictReader(report_text(paths, "csv").splitlines()))
    assert [(row["effort"], row["task"], row["value"], row["next_gain"]) for row in found] == [
        ("low", "sums", "0.5", "0.25"),
        ("high", "sums", "0.75", ""),
        ("high", "more", "0.75", ""),
    ]


def test_compare_refuses_two_efforts_by_name(draw: Draw) -> None:
    folders = draw({"low": [1, 0, 0, 1], "high": [1, 1, 0, 1]}, {"low": lambda i: 10, "high": lambda i: 40})
    with pytest.raises(NotComparableError, match=r'terms\.effort: "low" -> "high"'):
        compare(folders["m-low"], folders["m-high"])


def test_a_run_without_an_effort_compares_unless_its_prompts_differ(draw: Draw, tmp_path: Path) -> None:
    folders = draw({"low": [1, 0, 0, 1], "high": [1, 1, 0, 1]}, {"low": lambda i: 10, "high": lambda i: 40})
    before = tmp_path / "before"
    folders["m-high"].rename(before)

    def without_effort(manifest: dict[str, Any]) -> None:
        del manifest["terms"]["effort"]

    as_another_run(before, without_effort)
    with pytest.raises(NotComparableError) as refused:
        compare(folders["m-low"], before, tasks=["sums"])
    assert "terms.effort" not in str(refused.value) and "max_tokens" in str(refused.value)
