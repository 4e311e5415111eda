"""every_eval_ever and .eval_results of a run."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import InputError
from genbench.interop.logs.export import export
from genbench.interop.logs.export_every_eval import SCHEMA
from genbench.interop.logs.export_hub import hub_results
from genbench.interop.logs.import_log import import_scores
from genbench.pipeline import RunOptions
from tests.interop.logs.talks import write_talk
from tests.ready_runs import run_bare


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("talk")
    write_talk(place)
    options = RunOptions(place / "suite.yaml", responses=place / "r.jsonl", run_dir=place / "out", quiet=True)
    return run_bare(options).folders["m"]


@pytest.mark.slow
def test_the_record_has_the_interval_and_names_its_samples(folder: Path, tmp_path: Path) -> None:
    record_path, samples = export(folder, "every_eval_ever", tmp_path)
    record: dict[str, Any] = json.loads(record_path.read_bytes())
    assert record["schema_version"] == SCHEMA
    (result,) = record["evaluation_results"]
    bounds = result["score_details"]["uncertainty"]["confidence_interval"]
    assert bounds["lower"] <= result["score_details"]["score"] <= bounds["upper"]
    detailed = record["detailed_evaluation_results"]
    assert detailed["checksum"] == hashlib.sha256(samples.read_bytes()).hexdigest()
    assert all(isinstance(value, str) for value in result["score_details"]["details"].values())


def test_its_samples_can_be_imported_again(folder: Path, tmp_path: Path) -> None:
    _, samples = export(folder, "every_eval_ever", tmp_path)
    count = import_scores(samples, tmp_path / "s.jsonl")
    assert count == len(samples.read_text(encoding="utf-8").splitlines())


def test_a_run_without_rows_of_the_hub_has_no_eval_results(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="rows of a dataset of the hub"):
        export(folder, "eval_results", tmp_path)
    assert callable(hub_results)
