"""Kinds of instruction in a comparison, paired prompt by prompt."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from genbench.analysis.comparison.compare import compare
from genbench.analysis.instruction_accuracy import headline_mode
from genbench.analysis.sides.side import Side
from genbench.reports.terminal.compare import compare_text
from tests.known import known
from tests.project.test_json_schema import problems_of
from tests.ready_runs import as_another_run, score_responses, write_lines

SUITE = """\
models:
  m: {path: ./model}
tasks:
  - name: form
    kind: ifeval
    verifier: {headline: HEADLINE}
    data: {path: rows.jsonl, fields: {id: id, question: q, instructions: ids, kwargs: kwargs}}
    prompt: "{question}"
    k: 2
"""
COMMA, QUOTED = "punctuation:no_comma", "startend:quotation"
Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Return a maker of runs on six prompts. All ask for no comma, three for quotation marks too."""

    def made(name: str, answer: Callable[[int], str], headline: str = "strict") -> Path:
        place = tmp_path / name
        place.mkdir()
        (place / "suite.yaml").write_text(SUITE.replace("HEADLINE", headline))
        rows: list[dict[str, Any]] = []
        for i in range(6):
            ids = [COMMA, QUOTED][: 2 if i < 3 else 1]
            rows.append({"id": f"p{i}", "q": f"Say {i}.", "ids": ids, "kwargs": [{} for _ in ids]})
        write_lines(place / "rows.jsonl", rows)
        lines = [
            {"task": "form", "problem_id": f"p{i}", "sample_index": j, "text": answer(i)}
            for i in range(6)
            for j in range(2)
        ]
        write_lines(place / "responses.jsonl", lines)
        return score_responses(place)

    return made


@pytest.mark.slow
def test_each_kind_is_paired_over_the_prompts_that_ask_for_it(make: Make) -> None:
    base = make("b", lambda i: "one, two" if i % 2 else "plain words")
    tuned = make("t", lambda i: '"plain words"')
    record = compare(base, tuned)
    table = known(record.tasks["form"].instructions)
    assert table.mode == "strict"
    found = {row.name: (row.n, row.base, row.tuned) for row in table.kinds}
    assert found == {COMMA: (6, 0.5, 1.0), QUOTED: (3, 0.0, 1.0)}
    assert all(known(row.q_value) >= known(row.p_two_sided) for row in table.kinds)
    assert problems_of(record, "compare") == []
    text = compare_text(record)
    assert "by kind of instruction, followed in strict form" in text
    assert any(line.split()[:4] == [COMMA, "6", "50.0", "100.0"] for line in text.splitlines())


@pytest.mark.slow
def test_the_table_shows_the_form_that_makes_the_score(make: Make) -> None:
    """A wrapping pair of asterisks breaks the rule in strict form and is removed in loose form."""
    quoted = lambda i: '*"plain words"*'  # noqa: E731
    loose = [make(name, quoted, headline="loose") for name in "bt"]
    task = compare(*loose).tasks["form"]
    table = known(task.instructions)
    assert task.base == 1.0
    assert table.mode == "loose"
    assert {row.name: row.base for row in table.kinds} == {COMMA: 1.0, QUOTED: 1.0}
    assert "followed in loose form" in compare_text(compare(*loose))
    strict = compare(*(make(name, quoted) for name in ("sb", "st"))).tasks["form"]
    assert known(strict.instructions).mode == "strict"
    assert {row.name: row.base for row in known(strict.instructions).kinds} == {COMMA: 1.0, QUOTED: 0.0}


def ifbench(run: Path, headline: str | None = None) -> Path:
    """Return the run as if IFBench had made its verdicts, with the option `headline` in the suite."""

    def other(manifest: dict[str, Any]) -> None:
        manifest["tasks"]["form"]["verifier"]["name"] = "ifbench"
        manifest["suite"]["config"]["tasks"][0]["verifier"] = {"headline": headline} if headline else {}

    as_another_run(run, other)
    return run


@pytest.mark.slow
def test_ifbench_scores_by_the_loose_form_unless_the_suite_says_otherwise(make: Make) -> None:
    run = ifbench(make("b", lambda i: "plain words"))
    assert known(compare(run, run).tasks["form"].instructions).mode == "loose"
    ifbench(run, headline="strict")
    assert known(compare(run, run).tasks["form"].instructions).mode == "strict"


def test_a_score_file_has_no_form_of_its_own() -> None:
    assert headline_mode(Side(Path("s.jsonl"), "s", "id", {}), "form") == "strict"


def test_tasks_without_instructions_have_no_such_table(tmp_path: Path) -> None:
    rows = [{"task": "u", "problem_id": str(i), "sample_index": 0, "score": i % 2} for i in range(5)]
    path = write_lines(tmp_path / "s", rows)
    assert compare(path, path).tasks["u"].instructions is None
