"""Texts of sensitive tasks stay in the run folder: no page, table or export has them unless someone asks."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from genbench import pipeline, registry
from genbench.analysis.samples import WITHHELD
from genbench.interop.logs.export import export
from genbench.reports.write import report_text, write_page
from tests import warm
from tests.ready_runs import run_bare

PAGES = ("air_bench", "harmbench", "or_bench", "strongreject", "xstest")
SECRET, ANSWER, TRACE = (
    "How do I build the forbidden device?",
    "Take the red wire first.",
    "They want the wire.",
)
SUITE = """\
models: {m: {path: nowhere}}
decoding: {temperature: 0.0, max_tokens: 200}
tasks:
  - {task: xstest, k: 1}
  - {name: plain, kind: exact, k: 1, data: {path: rows.jsonl, fields: {id: id}}}
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of XSTest and of a task that is not sensitive."""
    rows = [
        {"id": str(i), "prompt": f"{SECRET} {i}", "type": "homonyms", "label": label}
        for i, label in enumerate(("safe", "unsafe"))
    ]
    place = tmp_path / "mirror" / "walledai" / "XSTest" / "default" / "test.jsonl"
    place.parent.mkdir(parents=True)
    place.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "rows.jsonl").write_text(
        '{"id": "a", "question": "Say the plain word.", "reference": "tea"}\n'
    )
    (tmp_path / "suite.yaml").write_text(SUITE)
    lines = [
        {"task": "xstest", "problem_id": str(i), "sample_index": 0, "text": f"<think>{TRACE}</think>{ANSWER}"}
        for i in range(2)
    ]
    lines.append({"task": "plain", "problem_id": "a", "sample_index": 0, "text": "tea"})
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    options = pipeline.RunOptions(
        suite=str(tmp_path / "suite.yaml"),
        run_dir=tmp_path / "runs",
        data_dir=tmp_path / "mirror",
        responses=tmp_path / "answers.jsonl",
        quiet=True,
    )
    return run_bare(options).folders["m"]


def leaks(path: Path) -> set[str]:
    """Return which of the texts are in any file below a path. Tables are unpacked."""
    found = set()
    for file in path.rglob("*") if path.is_dir() else [path]:
        if file.is_file():
            data = str(pq.read_table(file).to_pylist()) if file.suffix == ".parquet" else file.read_text()
            found |= {text for text in (SECRET, ANSWER, TRACE) if text in data}
    return found


def test_the_pages_of_safety_are_sensitive_and_rows_that_may_be_shown_nowhere() -> None:
    found = {name for name in registry.names("task") if registry.load("task", name)().info.sensitive}
    assert found == {*PAGES, "hle_verified"}


@pytest.mark.slow
def test_a_page_and_a_table_leave_out_prompts_and_answers(run: Path, tmp_path: Path) -> None:
    page = tmp_path / "out" / "page.html"
    page.parent.mkdir()
    write_page([run], page)
    assert leaks(page) == set() and leaks(run / "samples.parquet") == set()
    assert "Say the plain word." in page.read_text() and WITHHELD in page.read_text()
    rows = {row["problem_id"]: row for row in pq.read_table(run / "samples.parquet").to_pylist()}
    assert rows["0"]["score"] == 1.0 and rows["0"]["prompt"] == WITHHELD and rows["0"]["extracted"] is None
    assert rows["a"]["answer"] == "tea"
    assert not any(text in report_text([run], form) for form in ("md", "json") for text in (SECRET, ANSWER))
    write_page([run], page, with_sensitive=True)
    assert leaks(page) == {SECRET, ANSWER, TRACE} == leaks(run / "samples.parquet")


@pytest.mark.parametrize("form", ["hf", "lm-eval", "inspect", "every_eval_ever"])
def test_exports_leave_them_out_unless_asked(run: Path, tmp_path: Path, form: str) -> None:
    export(run, form, tmp_path / "without")
    assert leaks(tmp_path / "without") == set()
    export(run, form, tmp_path / "with", with_sensitive=True)
    assert SECRET in leaks(tmp_path / "with")


def test_the_run_folder_keeps_them(run: Path) -> None:
    assert ANSWER in (run / "xstest" / "completions.jsonl").read_text()
    assert json.loads((run / "manifest.json").read_text())["tasks"]["xstest"]["sensitive"] is True
    assert "sensitive" not in json.loads((run / "manifest.json").read_text())["tasks"]["plain"]


@pytest.mark.slow
def test_the_commands_take_the_option(run: Path, tmp_path: Path) -> None:
    words = ("export", str(run), "--to", "lm-eval", "-o", str(tmp_path / "asked"), "--with-sensitive")
    assert warm.run(words, text=True).returncode == 0
    assert SECRET in leaks(tmp_path / "asked")
    page = tmp_path / "asked.html"
    assert warm.run(("report", str(run), "-o", str(page), "--with-sensitive"), text=True).returncode == 0
    assert leaks(page) == {SECRET, ANSWER, TRACE}
