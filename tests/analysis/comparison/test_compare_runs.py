"""Comparisons of run folders: refusals, differences that are let through, warnings, and causes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from genbench.analysis.comparison.compare import compare
from genbench.errors import InputError, NotComparableError
from genbench.nights.ledger.run_facts import key_record
from genbench.reports.terminal.compare import compare_text
from genbench.store.continuation import binding_differences
from genbench.store.folder import RunFolder
from tests.known import known
from tests.ready_runs import OPEN, RIGHT, SILENT, SUITE, WRONG, MakeRun, as_another_run, score_responses


def weak(i: int) -> list[str]:
    return [RIGHT, WRONG, SILENT, OPEN]


def strong(i: int) -> list[str]:
    return [RIGHT, RIGHT if i % 3 else WRONG, RIGHT, OPEN]


def edit_verdicts(run: Path, change: Callable[[int, dict[str, Any]], dict[str, Any] | None]) -> None:
    path = run / "sums" / "verdicts.jsonl"
    changed = [change(i, json.loads(line)) for i, line in enumerate(path.read_text().splitlines())]
    path.write_text("".join(json.dumps(line) + "\n" for line in changed if line is not None))


def refusal(base: Path, tuned: Path, **options: Any) -> str:
    with pytest.raises(NotComparableError) as caught:
        compare(base, tuned, **options)
    assert caught.value.exit_code == 3
    return str(caught.value)


@pytest.mark.slow
def test_the_difference_is_split_by_cause_without_a_rest(make_run: MakeRun) -> None:
    task = compare(make_run("b", weak), make_run("t", strong)).tasks["sums"]
    causes = known(task.causes)
    parts = {part.status: part.part for part in causes.parts}
    assert causes.leading == "no_answer"
    assert parts["no_answer"] == pytest.approx(0.25)
    assert parts["wrong"] == pytest.approx(0.25 - 1 / 12)
    assert sum(parts.values()) == pytest.approx(task.difference)


def test_transitions_count_sample_against_sample(make_run: MakeRun) -> None:
    task = compare(make_run("b", weak), make_run("t", strong)).tasks["sums"]
    counts = {(cell.base, cell.tuned): cell.count for cell in known(task.transitions)}
    assert counts == {
        ("correct", "correct"): 12,
        ("wrong", "correct"): 8,
        ("wrong", "wrong"): 4,
        ("no_answer", "correct"): 12,
        ("unclosed_trace", "unclosed_trace"): 12,
    }


@pytest.mark.slow
def test_tokens_per_correct_answer_stand_beside_the_score(make_run: MakeRun) -> None:
    base = make_run("b", weak, extra={"completion_tokens": 10})
    tuned = make_run("t", strong, extra={"completion_tokens": 40})
    tokens = known(compare(base, tuned).tasks["sums"].tokens)
    assert tokens.base.per_correct == 40
    assert tokens.tuned.per_correct == pytest.approx(40 * 48 / 32)
    assert tokens.per_correct_ratio == pytest.approx(1.5)
    assert compare(make_run("n", weak), tuned).tasks["sums"].tokens is None


def test_strata_come_with_q_values(make_run: MakeRun) -> None:
    table = compare(make_run("b", weak), make_run("t", strong)).tasks["sums"].strata["level"]
    assert [(row.name, row.n) for row in table] == [("easy", 6), ("hard", 6)]
    assert all(known(row.q_value) >= known(row.p_two_sided) for row in table)


def test_a_run_and_a_score_file_of_the_same_scores_do_not_differ(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run("b", weak)
    verdicts = (run / "sums" / "verdicts.jsonl").read_text()
    (tmp_path / "s.jsonl").write_text(verdicts)
    record = compare(run, tmp_path / "s.jsonl")
    assert record.tasks["sums"].difference == 0
    assert record.tasks["sums"].causes is None
    assert any("a score file does not record decoding" in note for note in record.notes)


@pytest.mark.slow
def test_other_prompts_are_refused_by_sample(make_run: MakeRun) -> None:
    other = SUITE.replace('"{question}"', '"Work out: {question}"')
    base, tuned = make_run("b", weak), make_run("t", strong, suite=other)
    text = refusal(base, tuned)
    assert "prompts.sums: 48 of 48 samples differ; the first, problem p00, sample 0" in text
    assert "task sums: prompt: - {question} + Work out: {question}" in text
    assert "--allow prompts" in text
    record = compare(base, tuned, allow=["prompts", "version.sums"])
    assert any(line.startswith("prompts.sums: 48 of 48") for line in record.allowed)


@pytest.mark.slow
def test_a_run_that_reads_data_as_text_compares_with_an_older_one_unless_a_prompt_differs(
    make_run: MakeRun,
) -> None:
    other = SUITE.replace('"{question}"', '"Work out: {question}"')
    base, tuned, asked = make_run("b", weak), make_run("t", strong), make_run("o", strong, suite=other)
    older = RunFolder(tuned).require_manifest()
    for run in (tuned, asked):
        as_another_run(run, lambda record: record["terms"].update(data_texts="as text"))
    newer = RunFolder(tuned).require_manifest()
    assert newer.terms != older.terms and binding_differences(older.binding, newer.binding) == []
    assert key_record(newer, "sums", "q") == key_record(older, "sums", "q")
    assert compare(base, tuned).allowed == ()
    assert 'terms.data_texts: "as before" -> "as text"' in refusal(base, asked)


@pytest.mark.slow
def test_other_references_and_data_are_refused(make_run: MakeRun) -> None:
    base, place = make_run("b", weak), make_run("t", weak).parent.parent
    text = (place / "rows.jsonl").read_text()
    (place / "rows.jsonl").write_text(text.replace('"answer": "2"', '"answer": "3"', 1))
    text = refusal(base, score_responses(place, "other"))
    assert "references.sums: 1 of 12 problems differ; the first, problem p00" in text
    assert "data.sums: " in text


def test_other_terms_are_refused_line_by_line(make_run: MakeRun) -> None:
    base, tuned = make_run("b", weak), make_run("t", strong)
    for run, dtype, heat in ((base, "bfloat16", 0.6), (tuned, "float16", 0.7)):
        terms = {"engine": {"name": "vllm"}, "dtype": dtype, "decoding": {"sums": {"temperature": heat}}}
        as_another_run(run, lambda manifest, terms=terms: manifest.update(terms=terms))  # type: ignore[misc]
    text = refusal(base, tuned)
    assert 'terms.dtype: "bfloat16" -> "float16"' in text
    assert "terms.decoding.sums.temperature: 0.6 -> 0.7" in text
    text = refusal(base, tuned, allow=["terms.dtype"])
    assert "terms.dtype" not in text
    record = compare(base, tuned, allow=["terms.dtype", "terms.decoding.sums"])
    assert len(record.allowed) == 2


def test_a_name_lets_no_longer_name_through(make_run: MakeRun) -> None:
    base = make_run("b", weak)
    tuned = as_another_run(
        make_run("t", strong), lambda manifest: manifest["terms"].update(dtype_of_cache="fp8")
    )
    assert "terms.dtype_of_cache" in refusal(base, tuned, allow=["terms.dtype"])


def test_another_verifier_is_refused(make_run: MakeRun) -> None:
    def newer(manifest: dict[str, Any]) -> None:
        manifest["tasks"]["sums"]["verifier"]["version"] = "newer"

    base, tuned = make_run("b", weak), as_another_run(make_run("t", strong), newer)
    text = refusal(base, tuned)
    assert "verifier.sums.version: " in text
    assert f'-> "newer"; make the older verdicts anew: genbench score {base} --again, or' in text


def test_verdicts_of_two_verifiers_are_not_mixed(make_run: MakeRun) -> None:
    run = make_run("b", weak)
    edit_verdicts(run, lambda i, line: {**line, "verifier": "other"} if i == 3 else line)
    with pytest.raises(InputError, match="genbench score"):
        compare(run, run)


def test_an_unfinished_run_is_refused_with_the_command_that_helps(make_run: MakeRun) -> None:
    run = make_run("b", weak)
    edit_verdicts(run, lambda i, line: None if i < 3 else line)
    with pytest.raises(InputError, match=r"3 of 48 samples have no verdict.*genbench score"):
        compare(run, run)


def test_a_run_that_failed_by_defects_of_ours_is_refused(make_run: MakeRun) -> None:
    base, tuned = make_run("b", weak), make_run("t", strong)
    edit_verdicts(
        tuned, lambda i, line: {**line, "status": "verifier_error", "score": None} if i < 2 else line
    )
    results = json.loads((tuned / "results.json").read_text())
    results["failed"] = ["sums: 2 of 48 samples are excluded", "gone: of a task that is not compared"]
    (tuned / "results.json").write_text(json.dumps(results))
    text = refusal(base, tuned)
    assert "excluded.sums: tuned: 2 of 48 samples are excluded" in text
    assert "gone" not in text
    record = compare(base, tuned, allow=["excluded", "seal"])
    assert record.tasks["sums"].excluded_tuned == 2


def test_another_judge_is_refused_by_name(make_run: MakeRun) -> None:
    base, tuned = make_run("b", weak), make_run("t", strong)
    for run, digest in ((base, "1"), (tuned, "2")):
        judge = {
            "name": "strict",
            "digest": digest,
            "form": "label",
            "prompt_digest": "p",
            "unpinned": False,
            "cascade": ["judge"],
            "statuses": {"A": "correct"},
            "baseline": None,
            "engine": {"port": digest},
            "canary": None,
        }
        as_another_run(run, lambda manifest, judge=judge: manifest["tasks"]["sums"].update(judge=judge))  # type: ignore[misc]
    text = refusal(base, tuned)
    assert 'verifier.sums.judge.digest: "1" -> "2"' in text
    assert "port" not in text


def test_other_circumstances_are_a_warning_or_under_the_strict_contract_a_refusal(make_run: MakeRun) -> None:
    def other(manifest: dict[str, Any]) -> None:
        manifest["attempts"][-1]["circumstances"]["packages"]["torch"] = "0.1"
        manifest["attempts"][-1]["circumstances"]["machine"]["host"] = "elsewhere"

    base, tuned = make_run("b", weak), as_another_run(make_run("t", strong), other)
    found = compare(base, tuned).circumstances
    assert [line.partition(": ")[0] for line in found] == ["circumstances.packages.torch"]
    assert "warning: other circumstances: circumstances.packages" in compare_text(compare(base, tuned))
    assert "circumstances.packages.torch: " in refusal(base, tuned, strict_contract=True)
    record = compare(base, tuned, strict_contract=True, allow=["circumstances.packages"])
    assert (record.allowed, record.circumstances) == (found, ())


@pytest.mark.slow
def test_run_seeds_are_noted(make_run: MakeRun) -> None:
    base, tuned = make_run("b", weak), make_run("t", strong, overrides=["decoding.seed=1"])
    unpaired = "run seed: 0 -> 1: samples are not paired by their seeds, only problems are"
    assert unpaired in compare(base, tuned).notes
    assert "run seed: 0 in both" in compare(base, base).notes


@pytest.mark.slow
def test_shared_seeds_are_told_by_the_seeds_of_the_samples(make_run: MakeRun) -> None:
    base = make_run("b", weak, extra={"seed": 7})
    same, other = make_run("t", strong, extra={"seed": 7}), make_run("o", strong, extra={"seed": 8})
    task = compare(base, same).tasks["sums"]
    assert task.shared_seeds
    assert task.rerun_ci_method == "normal on per-sample differences (shared seeds)"
    unknown = make_run("n", weak)
    for one, two in ((base, other), (unknown, same), (unknown, make_run("u", strong))):
        assert not compare(one, two).tasks["sums"].shared_seeds


def test_byte_identical_outputs_are_a_loud_warning(make_run: MakeRun) -> None:
    base = make_run("b", weak)
    tuned = as_another_run(make_run("t", weak), lambda manifest: manifest.update(model_identity="other"))
    assert any("all 48 outputs of sums are byte-identical" in line for line in compare(base, tuned).warnings)
    assert not any("byte-identical" in line for line in compare(base, make_run("u", strong)).warnings)


@pytest.mark.slow
def test_one_sampled_task_of_several_may_agree_by_chance(make_run: MakeRun) -> None:
    def two_tasks(name: str, texts: Callable[[int], list[str]]) -> Path:
        place = make_run(name, texts).parent.parent
        entry = SUITE[SUITE.index("  - name") :]
        (place / "suite.yaml").write_text(SUITE + entry.replace("name: sums", "name: more"))
        lines = (place / "responses.jsonl").read_text()
        same = [{**json.loads(line), "task": "more", "text": RIGHT} for line in lines.splitlines()]
        (place / "responses.jsonl").write_text(lines + "".join(json.dumps(line) + "\n" for line in same))
        return score_responses(place, "two")

    base = two_tasks("b", weak)
    assert not any("byte-identical" in line for line in compare(base, two_tasks("t", strong)).warnings)
    tuned = as_another_run(two_tasks("s", weak), lambda manifest: manifest.update(model_identity="other"))
    assert any("all 96 outputs of sums, more" in line for line in compare(base, tuned).warnings)


def test_greedy_outputs_and_an_adapter_without_effect_are_named(make_run: MakeRun) -> None:
    greedy = ["decoding.temperature=0", "tasks.sums.k=1"]
    base, tuned = (make_run(name, lambda i: [WRONG], overrides=greedy) for name in "bt")
    as_another_run(base, lambda manifest: manifest.update(model_identity="sha256:1"))
    as_another_run(tuned, lambda manifest: manifest.update(model_identity="sha256:1+sha256:2"))
    warnings = compare(base, tuned).warnings
    assert any(
        line.startswith("the adapter changes nothing: all 12 greedy outputs of sums") for line in warnings
    )


def test_one_model_beside_itself_is_said_to_be_one(make_run: MakeRun) -> None:
    run = make_run("b", weak)
    record = compare(run, run)
    assert "base and tuned are the same model: any difference is noise" in record.warnings
    assert record.tasks["sums"].p_two_sided == 1.0


@pytest.mark.slow
def test_gating_and_margin_are_those_of_the_suite(make_run: MakeRun) -> None:
    suite = SUITE + "    gating: true\n    margin: 6\n"
    base, tuned = (make_run(name, weak, suite=suite) for name in "bt")
    record = compare(base, tuned)
    task = record.tasks["sums"]
    assert (task.gating, task.margin) == (True, 0.06)
    assert not any(note.endswith("every task gates") for note in record.notes)
    assert compare(base, tuned, margins={"sums": 0.02}).tasks["sums"].margin == 0.02


def test_a_suite_without_gating_tasks_lets_every_task_gate_and_says_so(make_run: MakeRun) -> None:
    record = compare(make_run("b", strong), make_run("t", weak), gate=True)
    assert "no task here is declared gating: every task gates" in record.notes
    assert (record.tasks["sums"].verdict, record.exit_code) == ("REGRESSED", 1)


def test_a_smaller_limit_leaves_the_problems_of_the_last_command(make_run: MakeRun) -> None:
    path = make_run("b", weak)
    assert score_responses(path.parent.parent, limit=5) == path
    assert compare(path, path).tasks["sums"].n == 5
    as_another_run(path, lambda manifest: manifest["origin"].update(problems=None))
    assert compare(path, path).tasks["sums"].n == 5


def test_a_folder_of_runs_is_told_from_a_run(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run("b", weak)
    with pytest.raises(InputError, match="it contains the runs m"):
        compare(run.parent, run)
    with pytest.raises(InputError, match="no such file or folder"):
        compare(tmp_path / "no", run)
