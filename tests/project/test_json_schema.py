"""Every record that a command prints follows docs/json.schema.json, and reads back as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema.validators import Draft202012Validator  # type: ignore[import-untyped]

from genbench.analysis.comparison.compare import compare
from genbench.analysis.estimate import estimate
from genbench.analysis.noise import noise
from genbench.json_record import JsonRecord
from genbench.runs.power import power
from genbench.runs.stored.status import status
from tests.ready_runs import OPEN, RIGHT, SILENT, WRONG, MakeRun, write_lines

DOCS = Path(__file__).resolve().parents[2] / "docs"


def problems_of(record: JsonRecord | dict[str, Any], name: str) -> list[str]:
    schema = json.loads((DOCS / "json.schema.json").read_text())
    plain = record.to_json() if isinstance(record, JsonRecord) else record
    whole = json.loads(json.dumps(plain, allow_nan=False))
    checker = Draft202012Validator({**schema, "$ref": f"#/$defs/{name}"})
    return [f"{error.json_path}: {error.message}" for error in checker.iter_errors(whole)]


@pytest.fixture
def runs(make_run: MakeRun) -> tuple[Path, Path]:
    base = make_run("b", lambda i: [RIGHT, WRONG, SILENT, OPEN], extra={"completion_tokens": 9})
    tuned = make_run(
        "t", lambda i: [RIGHT] * 4, extra={"completion_tokens": 9}, overrides=["decoding.seed=1"]
    )
    return base, tuned


@pytest.mark.slow
def test_the_json_of_two_runs_follows_the_schema(runs: tuple[Path, Path]) -> None:
    assert problems_of(noise(*runs, allow=["model"]), "noise") == []
    record = compare(*runs)
    assert record.tasks["sums"].noise is not None
    assert problems_of(record, "compare") == []
    assert problems_of(estimate(runs[0]), "estimate") == []
    place = runs[0].parent.parent
    assert problems_of(power(str(place / "suite.yaml"), detect=0.03, base=runs[0]), "power") == []


def test_every_record_reads_back_from_its_json_as_it_was(runs: tuple[Path, Path]) -> None:
    suite = str(runs[0].parent.parent / "suite.yaml")
    records = [
        noise(*runs, allow=["model"]),
        compare(*runs, gate=True),
        estimate(runs[0]),
        power(suite, detect=0.03, base=runs[0]),
        status(runs[0].parent),
    ]
    for record in records:
        text = json.dumps(record.to_json(), allow_nan=False)
        assert type(record).from_json(json.loads(text), "stdout") == record


@pytest.mark.parametrize("name", ["results", "manifest"])
def test_the_files_of_a_run_follow_the_schema(runs: tuple[Path, Path], name: str) -> None:
    for run in runs:
        assert problems_of(json.loads((run / f"{name}.json").read_text()), name) == []


def test_the_status_of_a_run_follows_the_schema(runs: tuple[Path, Path]) -> None:
    assert problems_of(status(runs[0]), "status") == []


def test_the_json_of_score_files_follows_the_schema(tmp_path: Path) -> None:
    rows = [{"task": "t", "problem_id": "a", "sample_index": 0, "score": None}]
    rows += [{"task": "u", "problem_id": str(i), "sample_index": 0, "score": i % 2} for i in range(5)]
    path, other = (write_lines(tmp_path / name, rows) for name in "st")
    record = compare(path, other, gate=True)
    assert record.tasks["u"].mcnemar is not None
    assert problems_of(record, "compare") == []
    assert problems_of(estimate(path), "estimate") == []


def test_an_unknown_or_missing_key_would_be_seen(runs: tuple[Path, Path]) -> None:
    record = estimate(runs[0]).to_json()
    record["tasks"]["sums"]["extra"] = 1
    del record["run_id"]
    assert len(problems_of(record, "estimate")) == 2


def test_the_names_of_differences_are_documented() -> None:
    from genbench.analysis.comparison.comparability import KINDS

    text = (DOCS / "json.md").read_text()
    for kind in KINDS:
        assert f"`{kind}" in text, kind
