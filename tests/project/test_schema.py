"""The schema files of the repository are generated from the models, and shipped suites follow theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.reports.schemas import schema_files, write_schemas
from genbench.suite import shipped
from genbench.suite.suitefile import read_suite

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("path", schema_files(), ids=str)
def test_a_committed_schema_is_what_make_schema_writes(path: Path) -> None:
    assert (ROOT / path).read_text(encoding="utf-8") == schema_files()[path], "run: make schema"


def test_the_shipped_schema_of_suites_is_the_committed_one() -> None:
    path = shipped.folder("suites") / "suite.schema.json"
    assert path.read_text(encoding="utf-8") == (ROOT / "suites" / path.name).read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_schemas_are_written_into_a_checkout(tmp_path: Path) -> None:
    for name in ("docs", "suites", "policies"):
        (tmp_path / name).mkdir()
    written = write_schemas(tmp_path)
    assert {
        path.relative_to(tmp_path): path.read_text(encoding="utf-8") for path in written
    } == schema_files()


def test_every_shipped_suite_is_valid() -> None:
    paths = sorted(shipped.folder("suites").glob("*.yaml"))
    assert {"quickstart", "reasoning"} <= {read_suite(path).name for path in paths}


@pytest.mark.slow
def test_editors_accept_the_name_of_a_task_as_well_as_its_block() -> None:
    from importlib import import_module

    jsonschema = import_module("jsonschema")  # has no types
    from genbench.suite.config import SuiteConfig

    schema = SuiteConfig.model_json_schema()
    suite = {"models": {"m": {"path": "x"}}, "tasks": ["aime25", {"task": "gsm8k", "k": 1}]}
    jsonschema.validate(suite, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**suite, "tasks": [["aime25"]]}, schema)
