"""What a report says: the answer first, doubtful data flagged, hostile texts as text, tables for others."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import traceback
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from jsonschema.validators import Draft202012Validator  # type: ignore[import-untyped]

from genbench import pipeline
from genbench.analysis.records import ExcludedSamples
from genbench.errors import InputError
from genbench.reports import write as reporting
from genbench.reports.page import plots
from genbench.reports.page.data import TaskHealth
from genbench.reports.page.text_chunks import ChunkedTexts
from genbench.reports.result_tables import sample_link
from genbench.reports.table import markdown_text
from genbench.reports.write import default_page, report, report_text, write_page
from genbench.store.stored_run import Sample, Turn
from genbench.types import Answer, Completion, SampleId, Verdict
from tests.ready_runs import as_another_run

from .conftest import HOSTILE_ID, LONG_QUESTION

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def record(runs: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads(report_text([runs / "base", runs / "tuned"], "json"))
    return found


def test_the_page_leads_with_the_answer(runs: Path) -> None:
    page = (runs / "report.html").read_text()
    lead = page[page.index("<h1>") + 4 : page.index("</h1>")]
    assert "tuned is better than base on sums: +" in lead


def test_markdown_has_a_table_and_no_markup_of_models(runs: Path) -> None:
    text = report_text([runs / "base", runs / "tuned"], "md")
    assert text.startswith("### ")
    assert "| sums |" in text
    assert HOSTILE_ID not in text


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("<img src=x>", "&#60;img src=x&#62;"),
        ("a|b\nc", "a&#124;b c"),
        ("[x](http://e.vil)", "&#91;x&#93;(http&#58;//e.vil)"),
        ("\x1b[31m\u202e\x00", "&#92;x1b&#91;31m&#92;u202e&#92;x00"),
        ("ping @octocat", "ping @<!-- -->octocat"),
        ("avg@4 a_b", "avg@4 a&#95;b"),
    ],
)
def test_markdown_shows_text_as_text(hostile: str, shown: str) -> None:
    assert markdown_text(hostile) == shown


def test_the_json_follows_its_schema(record: dict[str, object]) -> None:
    schema = json.loads((DOCS / "json.schema.json").read_text())
    checker = Draft202012Validator({**schema, "$ref": "#/$defs/report"})
    assert [f"{error.json_path}: {error.message}" for error in checker.iter_errors(record)] == []
    assert list(checker.iter_errors({**record, "more": 1})) != []


def test_a_wrong_reference_is_flagged(record: dict[str, object]) -> None:
    for run in record["runs"]:  # type: ignore[attr-defined]
        found = {item["problem_id"]: item for item in run["health"]["sums"]["suspicious_references"]}
        assert found["p07"] == {"problem_id": "p07", "answer": "two", "agreeing": 4, "samples": 4}
        assert "p06" not in found


def test_a_reference_that_both_runs_doubt_alike_comes_first(runs: Path, record: dict[str, object]) -> None:
    found = [(row["problem_id"], row["answer"], row["runs"]) for row in record["doubtful"]]  # type: ignore[attr-defined]
    assert ("p07", "two", ["base", "tuned"]) in found
    page = (runs / "report.html").read_text()
    assert '<a href="#sums/p07/0">sums/p07</a>: base and tuned say <code>two</code>' in page


def test_what_was_excluded_is_counted_by_its_reason() -> None:
    health = TaskHealth(2)
    for index in range(2):
        sample = SampleId("t", "p", index)
        why = {"why": "Traceback\n  File x\nValueError: no such unit"}
        verdict = Verdict(sample, None, "verifier_error", None, why, {}, "v", "absent", False)
        completion = Completion(sample, 0, 1, "d", "x", "stop", 1, 1, 0, 9, 1, 0.1)
        turn = Turn(completion, Answer("x", "absent", "", False))
        health.add(Sample("t", "p", index, (turn,), verdict, "?", "2", {}))
    assert health.record().excluded == (
        ExcludedSamples(status="verifier_error", why="ValueError: no such unit", samples=2, first=("p", 0)),
    )


def test_problems_that_ask_the_same_are_found(record: dict[str, object]) -> None:
    assert record["runs"][0]["health"]["sums"]["duplicates"] == [["p08", "p09"]]  # type: ignore[index]
    health = TaskHealth(1)
    for problem_id, prompt in {"a": "Is it?", "b": "is  it?\n", "c": "no"}.items():
        health.add_prompt(problem_id, prompt)
    assert health.duplicates() == [("a", "b")]


def test_an_answer_that_repeats_the_prompt_is_counted(record: dict[str, object]) -> None:
    health = record["runs"][1]["health"]["sums"]  # type: ignore[index]
    assert len(LONG_QUESTION.split()) > 8
    assert health["prompt_copies_shown"] == [["p10", 1]]


def test_lost_answers_are_a_share_of_the_samples_that_ended(record: dict[str, object]) -> None:
    health = record["runs"][0]["health"]["sums"]  # type: ignore[index]
    assert health["extraction_failures"] == 1
    assert health["extraction_failure_rate"] == pytest.approx(1 / 47)


def test_the_table_holds_every_sample_joined(runs: Path) -> None:
    table = pq.read_table(runs / "tuned/samples.parquet").to_pylist()
    assert len(table) == 48
    row = next(row for row in table if (row["problem_id"], row["sample_index"]) == ("p06", 3))
    assert (row["score"], row["status"], row["extracted"], row["reference"]) == (0.0, "wrong", "three", "two")
    assert row["prompt"] == "6+2-6?" and row["trace"].startswith("because because")
    assert json.loads(row["strata"]) == {"level": "hard"}


def test_no_markup_of_a_model_reaches_the_page(runs: Path) -> None:
    page = (runs / "report.html").read_text()
    assert "owned'</script>" not in page and "<img" not in page
    assert HOSTILE_ID not in page
    assert page.count("</script>") == 4  # the index, the texts, the library of formulas, the browser


@pytest.mark.slow
def test_a_failing_report_does_not_lose_the_run(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(reporting, "write_page", fails)
    options = pipeline.RunOptions(
        suite=str(runs.parent / "suite.yaml"),
        run_dir=runs,
        responses=runs.parent / "responses.jsonl",
        quiet=True,
    )
    report = pipeline.run(options)
    assert report.results["tuned"].to_json()["tasks"]["sums"]["n"] == 12
    assert report.page is None
    assert "no space left" in report.notes[0] and "genbench report" in report.notes[0]


def test_runs_of_different_folders_need_a_place_for_the_page(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--output FILE"):
        default_page([tmp_path / "a/base", tmp_path / "b/base"])
    with pytest.raises(InputError, match="given twice"):
        write_page([tmp_path, tmp_path], tmp_path / "x.html")


def test_an_unknown_format_is_named(runs: Path) -> None:
    with pytest.raises(InputError, match="--format pdf: wanted html, md, json or csv"):
        report_text([runs / "base"], "pdf")


@pytest.mark.slow
def test_the_same_runs_give_the_same_page(runs: Path, tmp_path: Path) -> None:
    pages = [
        write_page([runs / "base"], tmp_path / name, parquet=False).page for name in ("a.html", "b.html")
    ]
    assert pages[0].read_bytes() == pages[1].read_bytes()


def test_few_texts_stay_in_the_page_and_many_go_beside_it(tmp_path: Path) -> None:
    few = ChunkedTexts(tmp_path / "few", inline_chars=100)
    assert few.add("a", "x") == 0
    assert few.publish() is None
    assert json.loads(few.inline()) == [{"a": "x"}]
    many = ChunkedTexts(tmp_path / "many", inline_chars=100)
    for number in range(20):
        many.add(str(number), "\u2028</script>" * 5)
    assert many.publish() == "many"
    assert json.loads(many.inline()) == []
    assert (tmp_path / "many/0.js").read_text(encoding="ascii").startswith("genbenchTexts(0,{")


def test_a_name_is_no_markup_in_a_plot() -> None:
    drawn = plots.status_bars("s", [("<script>$x_1$", {"correct": 1}), ("日本", {"wrong": 2})])
    assert "<script>" not in drawn and "&lt;script&gt;$x_1$" in drawn
    assert "var(--s-correct)" in drawn and "#0100" not in drawn


def test_links_are_stable_and_encoded() -> None:
    assert sample_link("aime25", "a/b <c>#1", 3) == "#aime25/a%2Fb%20%3Cc%3E%231/3"


def test_samples_of_one_length_stand_in_one_group() -> None:
    sizes = [10] * 30 + [20] * 5 + list(range(30, 70))
    groups = plots.length_groups(sizes)
    assert sorted(int(at) for group in groups for at in group) == list(range(75))
    assert [10 in {sizes[at] for at in group} for group in groups].count(True) == 1
    assert len(plots.length_groups([7, 7])) == 1


@pytest.mark.slow
def test_a_refused_comparison_is_let_through_by_name(tmp_path: Path, runs: Path) -> None:
    base, tuned = tmp_path / "base", tmp_path / "tuned"
    shutil.copytree(runs / "base", base)
    shutil.copytree(runs / "tuned", tuned)
    as_another_run(tuned, lambda manifest: manifest["tasks"]["sums"].update(data_digest="other"))
    refused = json.loads(report_text([base, tuned], "json"))["comparisons"][0]
    assert refused["record"] is None and "data" in refused["refused"]
    allowed = json.loads(report_text([base, tuned], "json", allow=["data"]))["comparisons"][0]
    assert allowed["refused"] is None and allowed["record"]["allowed"]
    page = report([str(base), str(tuned)], str(tmp_path / "page.html"), allow=["data"]).page
    assert page == tmp_path / "page.html" and page.is_file()
    with pytest.raises(InputError, match="datta"):
        report([base, tuned], tmp_path / "page.html", allow=["datta"])


@pytest.mark.slow
def test_runs_that_cannot_be_written_have_a_page_elsewhere(runs: Path) -> None:
    place = Path(tempfile.mkdtemp(prefix="genbench-readonly-"))
    try:
        shutil.copytree(runs / "base", place / "base")
        (place / "base/samples.parquet").unlink()
        for path in (place / "base", place):
            path.chmod(0o555 if path != place else 0o755)
        (place / "pages").mkdir()
        (place / "pages").chmod(0o777)
        reader = os.fork()
        if reader == 0:  # as a user who may only read
            os._exit(_report_as_nobody(place))
        assert os.waitpid(reader, 0)[1] == 0
        assert (place / "pages/page.html").is_file() and not (place / "base/samples.parquet").exists()
    finally:
        (place / "base").chmod(0o755)
        shutil.rmtree(place)


def _report_as_nobody(place: Path) -> int:
    try:
        if os.geteuid() == 0:
            os.setuid(65534)
        report(place / "base", place / "pages/page.html")
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def test_alarms_lead_the_page_and_many_notes_are_folded(tmp_path: Path, runs: Path) -> None:
    shutil.copytree(runs / "base", tmp_path / "base")

    def cut_off(results: dict[str, Any]) -> None:
        results["warnings"] = [f"a note {number} <b>" for number in range(3)]
        results["tasks"]["sums"]["truncated_share"] = 0.4

    as_another_run(tmp_path / "base", results=cut_off)
    page = report(tmp_path / "base", tmp_path / "page.html").page.read_text()
    alarm = page.index("base/sums: 40% of the samples were cut off by max_tokens or a content filter")
    notes = page.index("3 further notes on these runs")
    assert alarm < notes < page.index('<section id="scores">')
    assert "a note 2 &lt;b&gt;" in page and page.count('<p class="folded">base: a note') == 3
