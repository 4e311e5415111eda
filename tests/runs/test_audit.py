"""What an audit refuses, and what it compares if equal tokens cannot be expected."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import genbench
from genbench.errors import InputError, NotComparableError, RunFolderError
from genbench.pipeline import RunOptions
from genbench.reports.terminal.audit import audit_text
from genbench.runs.audit import Audit
from tests.ready_runs import RIGHT, MakeRun, run_bare, score_bare

SUITE = """\
models:
  m: {path: any}
engine: {kind: "tests.engines.rule_engine:RuleEngine", concurrency: 2}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - name: sums
    kind: math
    data: {path: rows.jsonl, fields: {id: id, question: question, reference: sum}}
    prompt: "{question}"
    k: 2
"""


def drawn(place: Path, suite: str = SUITE) -> Path:
    """A run of five sums by an engine of another package, which is always right."""
    (place / "suite.yaml").write_text(suite)
    rows = [{"id": f"q{i}", "question": f"{i}+{i}=?", "sum": str(2 * i)} for i in range(5)]
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return run_bare(RunOptions(place / "suite.yaml", run_dir=place / "runs", quiet=True)).folders["m"]


def test_without_a_promise_of_equal_tokens_scores_decide(tmp_path: Path) -> None:
    run = drawn(tmp_path)
    found = genbench.audit(run, quiet=True)
    assert (found.expects, found.drawn, found.wanted, found.of, found.equal) == ("scores", 10, 20, 10, 10)
    assert found.scores is not None and (found.scores.stored, found.scores.drawn) == (1.0, 1.0)
    assert found.logprobs is None and found.exit_code == 0
    text = audit_text(found)
    assert "m: the stored replies agree with those drawn now" in text and "promises no equal tokens" in text

    lines = (run / "sums" / "completions.jsonl").read_text().replace("boxed{", "boxed{1")
    (run / "sums" / "completions.jsonl").write_text(lines)
    score_bare(run)
    worse = genbench.audit(run, 6, seed=1, quiet=True)
    assert worse.scores is not None and (worse.scores.stored, worse.scores.agrees) == (0.0, False)
    assert worse.exit_code == 1 and "do not agree" in audit_text(worse)
    assert Audit.from_json(worse.to_json(), "the audit") == worse


def test_the_same_seed_chooses_the_same_samples(tmp_path: Path) -> None:
    run = drawn(tmp_path)
    lines = (run / "sums" / "completions.jsonl").read_text().replace("boxed{", "boxed{1")
    (run / "sums" / "completions.jsonl").write_text(lines)
    first, again, other = (genbench.audit(run, 4, seed=seed, quiet=True).parted for seed in (1, 1, 2))
    assert first == again != other and len(first) == 4


def test_other_weights_and_other_terms_are_refused(tmp_path: Path) -> None:
    run = drawn(tmp_path)
    with pytest.raises(
        NotComparableError, match=r"was drawn from .*name the checkpoint of the run with --checkpoint"
    ):
        genbench.audit(run, checkpoint="other", quiet=True)
    (tmp_path / "suite.yaml").unlink()  # the manifest has the suite as it was run
    record = json.loads((run / "manifest.json").read_text())
    record["suite"]["config"]["engine"]["off_by"] = 1
    (run / "manifest.json").write_text(json.dumps(record))
    with pytest.raises(RunFolderError, match="you have not allowed what this run folder asks for"):
        genbench.audit(run, quiet=True)


def test_what_no_engine_drew_is_refused(make_run: MakeRun) -> None:
    run = make_run("ready", lambda i: [RIGHT] * 4)
    with pytest.raises(
        InputError, match="its replies were read from a file, so there is nothing to draw again"
    ):
        genbench.audit(run, quiet=True)


def test_a_task_that_the_run_lacks_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no task 'sum'; it has sums"):
        genbench.audit(drawn(tmp_path), tasks=["sum"], quiet=True)
