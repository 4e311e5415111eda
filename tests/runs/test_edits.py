"""An edited suite is a new run that takes over what did not change. Stored runs can be scored again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import RunFolderError
from genbench.pipeline import RunOptions, RunReport, run, score
from genbench.runs.execution.job_preparation import default_folder, edits_since, in_default_folder, make_jobs
from genbench.runs.execution.reuse import earlier_runs
from genbench.runs.inputs import open_suite
from genbench.runs.stored.rescore import copy_for_suite, moved_verdicts
from genbench.store.contract import text_diff
from genbench.store.folder import RunFolder
from tests.ready_runs import run_bare

SUITE = """\
models: {m: {path: any}}
engine: {kind: "tests.engines.rule_engine:RuleEngine", concurrency: 2}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - name: sums
    kind: math
    data: {path: rows.jsonl, fields: {id: id, question: question, reference: sum}}
    prompt: "{question}"
    k: 2
"""
MORE = """\
  - name: more
    kind: math
    data: {path: rows.jsonl, fields: {id: id, question: question, reference: sum}}
    prompt: "{question}"
    k: 1
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suite.yaml").write_text(SUITE)
    write_rows(tmp_path)
    return tmp_path


def write_rows(place: Path, **sums: str) -> None:
    rows = [{"id": f"q{i}", "question": f"{i}+1", "sum": sums.get(f"q{i}", str(i + 1))} for i in range(4)]
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def ran(**options: Any) -> RunReport:
    return run_bare(RunOptions("suite.yaml", quiet=True, **options))


def folder(report: RunReport) -> RunFolder:
    return RunFolder(report.folders["m"])


def edit(place: Path, old: str, new: str) -> None:
    assert old in (place / "suite.yaml").read_text()
    (place / "suite.yaml").write_text((place / "suite.yaml").read_text().replace(old, new, 1))


@pytest.mark.slow
def test_an_edited_prompt_is_a_new_run_in_a_new_default_folder(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = ran()
    edit(place, '"{question}"', '"Add {question}"')
    second = run(RunOptions("suite.yaml"))
    assert first.folders["m"].parent != second.folders["m"].parent
    said = capsys.readouterr().err
    assert "before it was edited" in said and "- {question}" in said and "+ Add {question}" in said
    assert folder(second).require_manifest().taken_over == ()
    assert second.results["m"].tasks["sums"].samples == 8
    again = ran()
    assert again.folders == second.folders and again.results["m"].totals.drawn_now == 0


@pytest.mark.slow
def test_an_added_task_grows_in_the_same_folder(place: Path) -> None:
    first = ran()
    (place / "suite.yaml").write_text(SUITE + MORE)
    second = ran()
    assert second.folders == first.folders and second.results["m"].totals.drawn_now == 4


@pytest.mark.slow
def test_what_did_not_change_is_taken_over(place: Path) -> None:
    (place / "suite.yaml").write_text(SUITE + MORE)
    first = ran()
    edit(place, 'prompt: "{question}"\n    k: 2', 'prompt: "Add {question}"\n    k: 2')
    second = ran()
    (taken,) = folder(second).require_manifest().taken_over
    assert (taken.task, taken.samples, taken.run) == ("more", 4, str(first.folders["m"].resolve()))
    assert second.results["m"].totals.drawn_now == 8
    texts = [[item.text for item in folder(report).completions("more")] for report in (first, second)]
    assert sorted(texts[0]) == sorted(texts[1])


@pytest.mark.slow
def test_samples_are_taken_over_from_several_runs_and_each_once(place: Path) -> None:
    runs = []
    for verb, k in (("", 2), ("Add ", 1), ("Sum ", 3)):
        edited = SUITE.replace('"{question}"', f'"{verb}{{question}}"')
        (place / "suite.yaml").write_text(edited + MORE.replace("k: 1", f"k: {k}"))
        runs.append(ran())
    two, one, _ = (str(run.folders["m"].resolve()) for run in runs)
    taken = [[(item.run, item.samples) for item in folder(run).require_manifest().taken_over] for run in runs]
    assert taken == [[], [(two, 4)], [(one, 4), (two, 4)]]
    assert [run.results["m"].totals.drawn_now for run in runs] == [16, 8, 12]
    kept = [[(item.sample, item.text) for item in folder(run).completions("more")] for run in runs]
    assert [len(found) for found in kept] == [8, 4, 12]
    assert set(kept[1]) < set(kept[0]) < set(kept[2]) and len(set(kept[2])) == 12
    assert all(sample.sample_index == 0 for sample, _ in kept[1])
    attempts = [{item.attempt for item in folder(run).completions("more")} for run in runs]
    assert attempts == [{1}, {0}, {0, 1}]  # 0: drawn by no attempt of this folder


@pytest.mark.slow
def test_completions_that_were_edited_are_not_taken_over(place: Path) -> None:
    (place / "suite.yaml").write_text(SUITE + MORE)
    first = ran()
    path = first.folders["m"] / "more/completions.jsonl"
    path.write_text(path.read_text().replace('"finish_reason":"stop"', '"finish_reason":"length"', 1))
    edit(place, 'prompt: "{question}"\n    k: 2', 'prompt: "Add {question}"\n    k: 2')
    second = ran()
    assert folder(second).require_manifest().taken_over == ()
    assert second.results["m"].totals.drawn_now == 12


@pytest.mark.slow
def test_verdicts_that_were_edited_are_made_again_and_not_taken_over(place: Path) -> None:
    (place / "suite.yaml").write_text(SUITE + MORE)
    first = ran()
    path = first.folders["m"] / "more/verdicts.jsonl"
    path.write_text(path.read_text().replace('"detail":{', '"detail":{"mine":1,'))
    assert path.read_text().count('"mine"') == 4
    edit(place, 'prompt: "{question}"\n    k: 2', 'prompt: "Add {question}"\n    k: 2')
    second = ran()
    assert second.results["m"].totals.drawn_now == 8
    assert [item.detail.get("mine") for item in folder(second).verdicts("more")] == [None] * 4


@pytest.mark.slow
def test_a_corrected_reference_takes_over_every_sample_and_verifies_it_again(place: Path) -> None:
    write_rows(place, q2="99")
    first = ran()
    assert first.results["m"].tasks["sums"].status_counts == {"correct": 6, "wrong": 2}
    write_rows(place)
    second = ran()
    assert second.folders != first.folders
    assert second.results["m"].totals.drawn_now == 0
    assert second.results["m"].tasks["sums"].status_counts == {"correct": 8}
    assert folder(second).require_manifest().taken_over[0].samples == 8


@pytest.mark.slow
def test_other_decoding_takes_nothing_over(place: Path) -> None:
    ran()
    edit(place, "temperature: 0.6", "temperature: 0.7")
    assert folder(ran()).require_manifest().taken_over == ()


@pytest.mark.slow
def test_a_named_folder_is_refused_with_the_edit_in_words(place: Path) -> None:
    ran(run_dir=Path("out"))
    edit(place, '"{question}"', '"Add {question}"')
    with pytest.raises(RunFolderError) as caught:
        ran(run_dir=Path("out"))
    said = str(caught.value)
    assert "task sums: prompt:" in said and "- {question}" in said and "+ Add {question}" in said
    assert "custom-" not in said and "takes over what did not change" in said


def test_a_diff_of_long_texts_is_cut() -> None:
    lines = text_diff("\n".join(map(str, range(20))), "x" * 200)
    assert len(lines) == 9 and lines[-1].startswith("… ") and all(len(line) <= 121 for line in lines)


@pytest.mark.slow
def test_a_corrected_reference_is_scored_in_a_folder_of_its_own(place: Path) -> None:
    write_rows(place, q2="99")
    first = ran()
    before = (first.folders["m"] / "sums/asks.jsonl").read_bytes()
    (place / "rows.jsonl").rename(place / "old.jsonl")
    write_rows(place)
    (place / "edited.yaml").write_text(SUITE)
    scored = score(first.folders["m"], suite="edited.yaml", quiet=True)
    assert scored.notes[:2] == (
        "sums: 2 of 8 verdicts moved: 2 wrong -> correct",
        "  problem q2: 2 (2 wrong -> correct)",
    )
    assert scored.results["m"].tasks["sums"].status_counts == {"correct": 8}
    assert "-rescored-" in str(scored.folders["m"])
    assert (first.folders["m"] / "sums/asks.jsonl").read_bytes() == before
    asks = folder(scored).asks("sums")["q2"]
    assert [ask["reference"] for ask in asks] == ["3"]
    again = score(first.folders["m"], suite="edited.yaml", quiet=True)
    assert again.folders == scored.folders


@pytest.mark.slow
def test_other_verifier_options_are_a_new_score_of_the_same_samples(place: Path) -> None:
    first = ran()
    (place / "edited.yaml").write_text(SUITE.replace("kind: math", "kind: math\n    metrics: [pass@k]"))
    scored = score(first.folders["m"], suite="edited.yaml", into="here", quiet=True)
    assert scored.folders["m"] == Path("here/m") and "pass@2" in scored.results["m"].tasks["sums"].metrics
    assert scored.notes[0] == "sums: none of 8 verdicts moved"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"{question}"', '"Add {question}"', "the prompt is not the one that the run asked"),
        ("name: sums", "name: other", r"has none of the run's tasks \(sums\)"),
        ("path: rows.jsonl", "path: few.jsonl", "lacks 3 problems of the run, such as 'q1'"),
    ],
)
def test_an_edit_that_needs_other_samples_is_no_new_score(place: Path, old: str, new: str, said: str) -> None:
    first = ran()
    (place / "few.jsonl").write_text((place / "rows.jsonl").read_text().splitlines()[0] + "\n")
    (place / "edited.yaml").write_text(SUITE.replace(old, new))
    with pytest.raises(RunFolderError, match=said):
        score(first.folders["m"], suite="edited.yaml", quiet=True)


@pytest.mark.slow
def test_lost_completions_make_the_metric_missing(place: Path) -> None:
    path = ran().folders["m"]
    lines = (path / "sums/completions.jsonl").read_text().splitlines(keepends=True)
    (path / "sums/completions.jsonl").write_text("".join(lines[:-3]))
    scored = score(str(path), quiet=True)
    found = scored.results["m"].tasks["sums"]
    assert found.value is None and found.lacking == 3
    assert scored.failures == [
        "m: sums: 3 of 8 samples have no completion or no verdict, so its metrics are missing; the command "
        "of the run draws them"
    ]


@pytest.mark.slow
def test_the_newest_earlier_run_is_asked_first(place: Path) -> None:
    first = ran().folders["m"]
    edit(place, '"{question}"', '"Add {question}"')
    second = ran().folders["m"]
    names = [path.resolve() for path in earlier_runs(place / "runs/suite-new/m", "suite")]
    assert names == [second.resolve(), first.resolve()]
    assert earlier_runs(first, "suite") == [Path("runs") / second.parent.name / "m"]


@pytest.mark.slow
def test_a_folder_that_fits_has_no_edits(place: Path) -> None:
    path = ran().folders["m"]
    suite, chosen = open_suite(RunOptions("suite.yaml"))
    (job,) = make_jobs(suite, chosen, RunOptions("suite.yaml"))
    assert job.path == path == default_folder(suite, [job.model]) / "m"
    assert edits_since(RunFolder(path), job) == [] and in_default_folder([job])[0].notes == ()


@pytest.mark.slow
def test_a_copy_for_a_suite_has_no_verdicts_yet(place: Path) -> None:
    path = ran().folders["m"]
    copied = copy_for_suite(path, "suite.yaml", None, Path("copies"))
    assert copied == Path("copies/m") and list(RunFolder(copied).verdicts("sums")) == []
    assert len(list(RunFolder(copied).completions("sums"))) == 8
    assert moved_verdicts(path, path) == ["sums: none of 8 verdicts moved"]


@pytest.mark.slow
def test_a_copy_is_never_made_inside_a_run_folder(place: Path) -> None:
    path = ran().folders["m"]
    with pytest.raises(RunFolderError, match=r"is a run folder; name the folder in which the copy is made"):
        copy_for_suite(path, "suite.yaml", None, path)
    assert not (path / "m").exists()


@pytest.mark.slow
def test_a_copy_never_takes_the_place_of_another_run(place: Path) -> None:
    path = ran().folders["m"]
    with pytest.raises(RunFolderError, match="is there already, and another run"):
        copy_for_suite(path, "suite.yaml", None, path.parent)


@pytest.mark.slow
def test_a_copy_with_other_references_needs_another_folder(place: Path) -> None:
    path = ran().folders["m"]
    assert copy_for_suite(path, "suite.yaml", None, Path("copies")) == Path("copies/m")
    assert copy_for_suite(path, "suite.yaml", None, Path("copies")) == Path("copies/m")
    write_rows(place, q2="7")
    with pytest.raises(RunFolderError, match="give another --into"):
        copy_for_suite(path, "suite.yaml", None, Path("copies"))
