"""Several verifiers of one task: each is a score of its own, made from the samples that are drawn once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import genbench
from genbench.analysis.results.record import Results
from genbench.errors import ConfigError
from genbench.nights.ledger.database import open_ledger
from genbench.nights.ledger.history import track_history
from genbench.nights.ledger.ingest import add
from genbench.pipeline import RunOptions
from genbench.runs.stored.status import status
from tests.ready_runs import RIGHT, WRONG, rows, run_bare, score_bare, write_lines
from tests.table import each_row

OWN = """\
from genbench.types import Case, Finding


class Short:
    version = "{version}"

    def time_limit_s(self, case: Case) -> float:
        return 5.0

    def verify(self, case: Case) -> Finding:
        words = len(case.answer.text.split())
        return Finding(float(words <= {most}), parts={{"one_line": 1.0, "few_words": float(words <= {most})}})

    def close(self) -> None: ...
"""
SUITE = """\
models:
  m: {path: ./model}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - name: sums
    kind: math
    data: {path: rows.jsonl, fields: {id: id, question: problem, reference: answer}}
    prompt: "{question}"
    k: 2
    verifiers:
      - {}
      - {use: "short_checks:Short"}
      - {name: schema, kind: json_schema, reference: null}
"""
TEXTS = (RIGHT, WRONG, '{"x": 2}', "it is two, or so")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A suite of a maths verifier, one of its own and a schema, with responses of four kinds."""
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "short_checks.py").write_text(OWN.format(version=1, most=2))
    write_lines(tmp_path / "rows.jsonl", rows(4))
    write_lines(tmp_path / "responses.jsonl", lines(TEXTS))
    return tmp_path


def lines(texts: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {"task": "sums", "problem_id": f"p{i:02}", "sample_index": j, "text": text}
        for i, text in enumerate(texts)
        for j in range(2)
    ]


def options(place: Path, out: str = "out", **given: Any) -> RunOptions:
    base = RunOptions(
        suite=str(place / "suite.yaml"),
        run_dir=place / out,
        responses=place / "responses.jsonl",
        quiet=True,
    )
    return replace(base, **given)


def run(place: Path, **given: Any) -> tuple[Path, Results]:
    report = run_bare(options(place, **given))
    return report.folders["m"], report.results["m"]


def test_each_verifier_is_a_score_of_the_samples_that_are_drawn_once(place: Path) -> None:
    folder, results = run(place)
    assert {name: task.value for name, task in results.tasks.items()} == {
        "sums": 0.25,
        "sums@Short": 0.75,
        "sums@schema": 0.25,
    }
    assert [path.parent.name for path in sorted(folder.glob("*/completions.jsonl"))] == ["sums"]
    assert results.tasks["sums@schema"].status_counts == {"correct": 2, "format_error": 6}
    assert results.totals.samples == 8
    assert set(results.tasks["sums@Short"].parts or ()) == {"one_line", "few_words"}
    (found,) = status(folder).runs
    assert (found.done, found.total, found.state) == (8, 8, "finished")


def test_an_edited_verifier_makes_only_its_own_verdicts_again(place: Path) -> None:
    folder, before = run(place)
    kept = (folder / "sums/verdicts.jsonl").stat().st_mtime_ns
    (place / "short_checks.py").write_text(OWN.format(version=2, most=1))
    after = score_bare(folder)
    assert before.tasks["sums@Short"].value == 0.75
    assert after.tasks["sums@Short"].value == 0.5
    assert (folder / "sums/verdicts.jsonl").stat().st_mtime_ns == kept
    assert after.tasks["sums"].seal == before.tasks["sums"].seal


def test_a_run_that_lost_one_verifiers_verdicts_makes_those(place: Path) -> None:
    folder, before = run(place)
    kept = (folder / "sums@schema/verdicts.jsonl").read_text().splitlines(keepends=True)
    (folder / "sums@schema/verdicts.jsonl").write_text("".join(kept[:3]))
    (folder / "results.json").unlink()
    _, after = run(place)
    assert after.tasks["sums@schema"].value == before.tasks["sums@schema"].value
    assert len((folder / "sums@schema/verdicts.jsonl").read_text().splitlines()) == 8
    assert len((folder / "sums/completions.jsonl").read_text().splitlines()) == 8


def test_a_verifier_that_is_added_scores_stored_samples(place: Path) -> None:
    folder, _ = run(place)
    edited = SUITE.replace('      - {use: "short_checks:Short"}\n', "      - {name: has, use: contains}\n")
    (place / "edited.yaml").write_text(edited)
    report = genbench.score(folder, suite=place / "edited.yaml", into=place / "other", quiet=True)
    assert list(report.results["m"].tasks) == ["sums", "sums@has", "sums@schema"]
    assert report.results["m"].tasks["sums@has"].value == 0.5
    assert any(
        "sums@has: 8 verdicts of a verifier that the run did not have" in note for note in report.notes
    )
    assert score_bare(report.folders["m"]).tasks["sums@has"].value == 0.5


def test_samples_of_one_verifier_are_taken_over_when_a_second_is_added(place: Path) -> None:
    alone = SUITE[: SUITE.index("    verifiers:")]
    (place / "suite.yaml").write_text(alone)
    folder, _ = run(place)
    (place / "suite.yaml").write_text(SUITE)
    again, results = run(place)
    assert again == folder
    assert results.tasks["sums@schema"].value == 0.25
    assert len((folder / "sums/completions.jsonl").read_text().splitlines()) == 8


def test_only_the_headline_decides_unless_the_suite_says_so(place: Path) -> None:
    base, _ = run(place, out="base")
    write_lines(place / "responses.jsonl", lines((WRONG, WRONG, WRONG, WRONG)))
    tuned, _ = run(place, out="tuned")
    record = genbench.compare(base, tuned, recheck=None)
    assert record.suite.tasks == ("sums",)
    assert record.suite.plain_difference == record.tasks["sums"].difference
    assert record.tasks["sums@schema"].difference == -0.25
    causes = record.tasks["sums@schema"].causes
    assert causes is not None
    assert "format_error" in {part.status for part in causes.parts}


def test_scores_of_one_draw_are_series_of_a_track(place: Path) -> None:
    folder, _ = run(place, night="2026-11-22")
    with open_ledger(place / "ledger.sqlite3") as ledger:
        assert [item.outcome for item in add(ledger, [folder])] == ["added"]
        history = track_history(ledger, "suite")
    assert {name: own.gating for name, own in history.series.items()} == {
        "sums": True,
        "sums@Short": False,
        "sums@schema": False,
    }


def test_lines_of_the_chosen_task_are_taken(place: Path) -> None:
    more = SUITE + SUITE[SUITE.index("  - name: sums") :].replace("name: sums", "name: more")
    (place / "suite.yaml").write_text(more)
    others = [{**line, "task": "more"} for line in lines(TEXTS)]
    write_lines(place / "responses.jsonl", [*lines(TEXTS), *others])
    _, results = run(place, tasks=["sums"])
    assert list(results.tasks) == ["sums", "sums@Short", "sums@schema"]
    _, results = run(place, out="part", tasks=["more@schema"])
    assert list(results.tasks) == ["more", "more@Short", "more@schema"]


MISTAKES = (
    ("verifiers: [{}, {use: exact}]\n    verifier: {use: exact}", "give either 'verifier' or 'verifiers'"),
    ("verifiers: [{}, {}]", "verifiers.1: give it a 'name', 'use', 'kind' or 'judge'"),
    ("verifiers: [{}, {use: exact}, {use: exact}]", "two are called 'exact'"),
    ("verifiers: [{}, {use: exact, cascade: [exact, judge]}]", "give either 'use' or 'cascade'"),
    ("verifiers: [{}, {use: exactly}]", "task 'sums@exactly': unknown verifier 'exactly'"),
    ("verifiers: [{}, {use: exact, ignore: 1}]", "task 'sums@exact'"),
)


@each_row("text, said", MISTAKES)
def test_a_wrong_list_of_verifiers_is_refused(place: Path, text: str, said: str) -> None:
    (place / "suite.yaml").write_text(SUITE[: SUITE.index("    verifiers:")] + f"    {text}\n")
    with pytest.raises(ConfigError) as error:
        run(place)
    assert said in str(error.value)
    assert "suite.yaml:" in str(error.value)
    assert not (place / "out" / "m" / "manifest.json").is_file()


def test_a_suite_with_one_verifier_is_stored_as_before(place: Path) -> None:
    (place / "suite.yaml").write_text(SUITE[: SUITE.index("    verifiers:")])
    folder, _ = run(place)
    stored = json.loads((folder / "manifest.json").read_text())["suite"]["config"]
    assert "verifiers" not in stored["tasks"][0]
