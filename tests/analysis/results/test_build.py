"""results.json from verdicts and tokens on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.analysis.results.build import build_results
from genbench.analysis.results.record import Results
from genbench.store.folder import RunFolder
from genbench.store.stored_run import StoredTask
from genbench.suite.suitefile import read_suite
from genbench.tasks.loaded_task import VerifiedTask
from genbench.tasks.loading import load_task
from genbench.types import SampleId, Status, Verdict
from tests.known import known
from tests.manifests import manifest, task_record
from tests.ready_runs import rows, write_lines
from tests.store.stored import completion, problem_line

SUITE = """\
models: {m: {path: ./m}}
MORE
tasks:
  - name: t
    kind: exact
    data: {path: rows.jsonl, fields: {id: id, question: problem, reference: answer, strata: [level]}}
    prompt: "{question}"
    k: 1
"""


def results_of(place: Path, statuses: list[Status], more: str = "", lacking: int = 0) -> Results:
    """Return the results of a task with one sample of each status, and `lacking` samples without one."""
    (place / "suite.yaml").write_text(SUITE.replace("MORE", more))
    write_lines(place / "rows.jsonl", rows(len(statuses) + lacking))
    suite = read_suite(place / "suite.yaml")
    task = load_task(suite, suite.config.tasks[0], None, None)
    ids = [problem.problem_id for problem in task.problems]
    with RunFolder.writer(place / "m") as folder:
        folder.write_problems("t", [problem_line(name) for name in ids])
        for name in ids:
            folder.append_completion(completion(name, 0))
        for name, status in zip(ids, statuses, strict=False):
            score = {"correct": 1.0, "wrong": 0.0, "truncated": 0.0}.get(status)
            sample = SampleId("t", name, 0)
            folder.append_verdict(Verdict(sample, score, status, "2", {}, {}, "now", "absent", False))
            folder.append_verdict(Verdict(sample, 1.0, "correct", "2", {}, {}, "before", "absent", False))
    verified = VerifiedTask(task, "now", "v", {problem.problem_id: problem for problem in task.problems})
    described = manifest(tasks={"t": task_record(n=len(ids), k=1)})
    stored = {"t": StoredTask(RunFolder(place / "m"), "t", ids, 1, 16)}
    return build_results({"t": verified}, stored, described, suite.config).results


def test_only_verdicts_of_the_current_verifier_count(tmp_path: Path) -> None:
    task = results_of(tmp_path, ["correct", "wrong", "wrong", "truncated"]).tasks["t"]
    assert task.value == 0.25
    assert task.status_counts == {"correct": 1, "wrong": 2, "truncated": 1}


def test_tokens_and_strata_are_part_of_a_task(tmp_path: Path) -> None:
    task = results_of(tmp_path, ["correct", "wrong"]).tasks["t"]
    assert (task.tokens.completion, task.tokens.trace, task.tokens.per_correct) == (12, 4, 12.0)
    assert {name: row.value for name, row in task.strata["level"].items()} == {"hard": 1.0, "easy": 0.0}


def test_a_task_whose_samples_lack_verdicts_has_no_value(tmp_path: Path) -> None:
    task = results_of(tmp_path, ["correct", "wrong"], lacking=1).tasks["t"]
    assert task.value is None and task.lacking == 1
    assert task.missing == "1 of 3 samples have no verdict"


def test_too_many_excluded_samples_fail_the_run(tmp_path: Path) -> None:
    found = results_of(tmp_path, ["correct", "verifier_error"])
    (line,) = found.failed
    assert line.startswith("t: 1 of 2 samples are excluded, more than the 1.0%")
    task = found.tasks["t"]
    assert (task.excluded, task.bounds) == (1, (0.5, 1.0))


def test_a_suite_may_allow_more_excluded_samples(tmp_path: Path) -> None:
    assert results_of(tmp_path, ["correct", "verifier_error"], "max_excluded_share: 0.5").failed == ()


def test_a_price_gives_each_task_and_the_run_a_cost(tmp_path: Path) -> None:
    more = "price: {per_million_prompt_tokens: 1000, per_million_completion_tokens: 100000}"
    found = results_of(tmp_path, ["correct", "wrong"], more)
    assert found.tasks["t"].cost == pytest.approx((8 * 1000 + 12 * 100000) / 1e6)
    assert known(found.totals.cost) == pytest.approx(known(found.tasks["t"].cost))


def test_results_come_back_from_json_unchanged(tmp_path: Path) -> None:
    found = results_of(tmp_path, ["correct", "wrong"])
    assert Results.from_json(found.to_json(), "results.json").to_json() == found.to_json()
