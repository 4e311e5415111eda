"""Stored answers verified again: what is found, what is left out, and that nothing strange is opened."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import genbench
from genbench.analysis.comparison.compare import compare
from genbench.analysis.comparison.spot_check import RecheckedTask
from genbench.analysis.sides.loading import open_side
from genbench.errors import InputError, NotComparableError
from genbench.runs.stored.spot_check import JUDGED, PROGRAMS, AnswerCheck
from genbench.store.folder import RunFolder
from genbench.store.json_files import replace_json
from genbench.store.signature import seal
from tests.ready_runs import RIGHT, WRONG, MakeRun, score_responses, write_lines

Line = dict[str, Any]
WRONG_NOW_RIGHT = {"status": "correct", "score": 1.0, "extracted": "2"}


@pytest.fixture
def pair(make_run: MakeRun) -> tuple[Path, Path]:
    return make_run("b", lambda i: [RIGHT, WRONG] * 2), make_run("t", lambda i: [RIGHT, WRONG] * 2)


def edit(run: Path, change: Callable[[Line], Line]) -> None:
    """Change each stored verdict, and drop the results with their seal of the lines."""
    path = run / "sums" / "verdicts.jsonl"
    lines = [change(json.loads(line)) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (run / "results.json").unlink()


def edit_manifest(run: Path, change: Callable[[Line], None]) -> None:
    path = run / "manifest.json"
    record = json.loads(path.read_text())
    change(record)
    replace_json(path, record)


def checked(pair: tuple[Path, Path], check: AnswerCheck) -> list[RecheckedTask]:
    base, tuned = (open_side(path, keep=check.samples) for path in pair)
    return check(base, tuned)


def test_untouched_answers_get_their_stored_verdicts(pair: tuple[Path, Path]) -> None:
    base, tuned = checked(pair, AnswerCheck(samples=10))
    assert (base.side, tuned.side) == ("base", "tuned")
    assert (base.verified, base.chosen, base.differing, base.skipped) == (10, 10, 0, None)
    assert (tuned.verified, tuned.differing) == (10, 0)


def test_edited_verdicts_are_refused_although_nothing_seals_them(pair: tuple[Path, Path]) -> None:
    edit(pair[1], lambda line: line if line["score"] else {**line, **WRONG_NOW_RIGHT})
    with pytest.raises(NotComparableError) as caught:
        compare(*pair, recheck=AnswerCheck(samples=48))
    said = str(caught.value)
    assert "verdicts.sums: tuned: 24 of 48 stored verdicts are not those" in said
    assert ": correct (1) -> wrong (0)" in said


def test_statuses_that_depend_on_the_machine_are_not_compared(pair: tuple[Path, Path]) -> None:
    edit(pair[0], lambda line: line if line["score"] else {**line, "status": "timeout"})
    base, _ = checked(pair, AnswerCheck(samples=48))
    assert (base.verified, base.unsettled, base.differing) == (48, 24, 0)


@pytest.mark.slow
def test_strangers_folder_is_left_out_unless_it_is_trusted(pair: tuple[Path, Path]) -> None:
    (pair[1] / "seal.json").unlink()
    base, tuned = checked(pair, AnswerCheck(samples=4))
    assert base.skipped is None
    assert tuned.skipped is not None
    assert "asks for files: read " in tuned.skipped
    assert tuned.skipped.endswith("to allow it, add --trust-run files")
    _, tuned = checked(pair, AnswerCheck(samples=4, trusted={"files"}))
    assert (tuned.skipped, tuned.verified) == (None, 4)


def test_strangers_plug_in_is_not_loaded(pair: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "planted.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")

    def plant(record: Line) -> None:
        record["suite"]["path"] = str(tmp_path / "suite.yaml")
        (entry,) = record["suite"]["config"]["tasks"]
        entry["verifier"] = {"use": "planted:Verifier"}

    edit_manifest(pair[1], plant)
    _, tuned = checked(pair, AnswerCheck(samples=4, trusted={"files"}))
    assert "asks for code: task 'sums': load the verifier planted:Verifier" in str(tuned.skipped)
    assert not (tmp_path / "ran").exists()


def test_data_of_the_hub_are_not_fetched_even_for_ones_own_run(pair: tuple[Path, Path]) -> None:
    def from_hub(record: Line) -> None:
        (entry,) = record["suite"]["config"]["tasks"]
        entry["data"] = {"hub": {"repo": "org/name"}, "fields": entry["data"]["fields"]}

    edit_manifest(pair[0], from_hub)
    seal(RunFolder(pair[0]))
    base, _ = checked(pair, AnswerCheck(samples=4))
    assert base.skipped == "its data would come from the network; give --data-dir or --trust-run network"


def test_judged_task_is_left_out(pair: tuple[Path, Path]) -> None:
    base, tuned = (open_side(path, keep=4) for path in pair)
    assert base.manifest is not None
    record = base.manifest.tasks["sums"]
    judged = record.model_copy(update={"judge": object()})
    manifest = base.manifest.model_copy(update={"tasks": {"sums": judged}})
    found, _ = AnswerCheck(samples=4, limit_s=0.0)(replace(base, manifest=manifest), tuned)
    assert found.skipped == JUDGED


def test_another_version_of_the_verifier_is_said(pair: tuple[Path, Path]) -> None:
    def older(record: Line) -> None:
        record["tasks"]["sums"]["verifier"] |= {"version": "older", "digest": "0" * 16}

    for path in pair:
        edit_manifest(path, older)
        edit(path, lambda line: {**line, "verifier": "0" * 16})
    base, _ = checked(pair, AnswerCheck(samples=4))
    assert base.skipped is not None
    assert "and was 'older'; run: genbench score" in base.skipped


def test_data_that_changed_are_said(pair: tuple[Path, Path], tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"id": "p00", "problem": "?", "answer": "3", "level": "easy"}\n')

    def moved(record: Line) -> None:
        (entry,) = record["suite"]["config"]["tasks"]
        entry["data"]["path"] = str(rows)

    edit_manifest(pair[1], moved)
    seal(RunFolder(pair[1]))
    _, tuned = checked(pair, AnswerCheck(samples=4))
    assert "problem p00: the reference in" in str(tuned.skipped)


def test_no_task_is_opened_after_the_time_is_over(pair: tuple[Path, Path]) -> None:
    for item in checked(pair, AnswerCheck(samples=4, limit_s=0.0)):
        assert (item.verified, item.skipped) == (0, "0 s were over")


def test_side_without_completions_is_left_out(pair: tuple[Path, Path]) -> None:
    (pair[0] / "sums" / "completions.jsonl").unlink()
    base, _ = checked(pair, AnswerCheck(samples=4, limit_s=0.0))
    assert base.skipped == "it has no completions on disk"


def test_score_files_have_nothing_to_verify(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('{"task": "t", "problem_id": "1", "sample_index": 0, "score": 1}\n')
    assert checked((path, path), AnswerCheck()) == []


def test_check_of_no_answer_is_refused() -> None:
    with pytest.raises(InputError, match="wanted 1 or more"):
        genbench.AnswerCheck(0)


CODE_SUITE = """\
models:
  m: {path: ./model}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - name: sums
    kind: code
    data: {path: rows.jsonl, fields: {id: id, question: problem, reference: {fn_name: fn, tests: tests}}}
    prompt: "{question}"
    k: 1
"""


@pytest.mark.slow
def test_programs_of_a_strangers_folder_run_only_if_code_is_trusted(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(CODE_SUITE)
    row = {"id": "p0", "problem": "?", "fn": "f", "tests": [{"input": "1", "output": "1"}]}
    write_lines(tmp_path / "rows.jsonl", [row])
    text = "```python\ndef f(x):\n    return x\n```"
    line = {"task": "sums", "problem_id": "p0", "sample_index": 0, "text": text}
    write_lines(tmp_path / "responses.jsonl", [line])
    run = score_responses(tmp_path)
    own, _ = checked((run, run), AnswerCheck(samples=1))
    assert (own.verified, own.differing, own.skipped) == (1, 0, None)
    (run / "seal.json").unlink()
    strange, _ = checked((run, run), AnswerCheck(samples=1, trusted={"files"}))
    assert strange.skipped == PROGRAMS
    trusted, _ = checked((run, run), AnswerCheck(samples=1, trusted={"files", "code"}))
    assert (trusted.verified, trusted.skipped) == (1, None)
