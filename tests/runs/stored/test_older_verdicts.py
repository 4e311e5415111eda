"""Runs whose verdicts an older version of a verifier made: refused with a command, which makes them anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genbench import pipeline
from genbench.analysis.comparison.compare import compare
from genbench.errors import NotComparableError
from genbench.store.folder import RunFolder
from tests.ready_runs import SUITE, MakeRun, as_another_run

GUESSED = "One and one\nare 2 of them."
OFF = SUITE.replace("    k: 4", "    verifier: {guess: off}\n    k: 4")


def older(run: Path) -> Path:
    """Make a run what an older version left: other digests, and details that say `found`."""
    path = RunFolder(run).file("sums", "verdicts")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        line |= {"verifier": "older", "detail": {"found": "boxed"}}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def changed(record: dict[str, Any]) -> None:
        record["tasks"]["sums"]["verifier"] |= {"version": "math 5", "digest": "older"}
        record["tasks"]["sums"].pop("read_by", None)

    return as_another_run(run, changed, changed)


def with_old_option(record: dict[str, Any]) -> None:
    (entry,) = record["suite"]["config"]["tasks"]
    entry["verifier"] = {"extract": "stated"}


def test_older_verdicts_are_compared_after_the_command_that_the_refusal_names(make_run: MakeRun) -> None:
    base = older(make_run("base", lambda i: ["\\boxed{2}"] * 4))
    tuned = make_run("tuned", lambda i: ["\\boxed{2}"] * 3 + [GUESSED])
    with pytest.raises(NotComparableError) as refused:
        compare(base, tuned)
    assert f"genbench score {base} --again" in str(refused.value)
    pipeline.score(base, again=True, quiet=True)
    found = compare(base, tuned).tasks["sums"].read_by
    assert found is not None and found.base == {"box": 48}


def test_extract_stated_of_a_stored_run_is_guess_off_of_a_new_one(make_run: MakeRun) -> None:
    new = make_run("new", lambda i: ["The answer is 2.", *[GUESSED] * 3], suite=OFF)
    old = as_another_run(make_run("old", lambda i: ["The answer is 2.", *[GUESSED] * 3]), with_old_option)
    assert RunFolder(old).require_manifest().suite.config["tasks"][0]["verifier"] == {"extract": "stated"}
    pipeline.score(old, quiet=True, trust=["files"])
    digests = [RunFolder(run).require_manifest().tasks["sums"].verifier.digest for run in (old, new)]
    assert digests[0] == digests[1]
    assert compare(old, new).tasks["sums"].difference == 0.0
