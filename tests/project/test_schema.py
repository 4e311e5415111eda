"""The schema files of the repository are generated from the models, and shipped suites follow theirs."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest

from genbench.reports.schemas import RECORDS, record_schema, schema_files, write_schemas
from genbench.suite import shipped
from genbench.suite.suitefile import read_suite
from tests.table import each_row

ROOT = Path(__file__).resolve().parents[2]


@functools.cache
def records() -> dict[str, Any]:
    """The schema of all records, which takes a second to make."""
    return record_schema()


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


@pytest.mark.slow
@each_row("name", RECORDS)
def test_each_command_has_an_entry_to_validate_against(name: str) -> None:
    definitions = records()["$defs"]
    target = definitions[name]["$ref"].rpartition("/")[2]
    assert target == RECORDS[name].__name__
    assert definitions[target]["type"] == "object"


def objects(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The definitions that describe an object with known keys."""
    return {name: item for name, item in schema["$defs"].items() if "properties" in item}


def test_every_record_refuses_unknown_keys() -> None:
    """Except a judge's check, to which a form of another package may add keys, and a model's settings."""
    refusing = {name: item["additionalProperties"] is False for name, item in objects(records()).items()}
    assert [name for name, refuses in refusing.items() if not refuses] == ["JudgeCheck", "ModelRecord"]


def test_every_record_and_every_key_is_described() -> None:
    for name, item in objects(records()).items():
        assert item["description"], name
        for key, found in item["properties"].items():
            assert found.get("description"), f"{name}.{key}"


def test_keys_have_no_titles_that_repeat_their_names() -> None:
    for name, item in objects(records()).items():
        assert all("title" not in found for found in item["properties"].values()), name


def test_every_shipped_suite_is_valid() -> None:
    paths = sorted(shipped.folder("suites").glob("*.yaml"))
    assert {"quickstart", "reasoning"} <= {read_suite(path).name for path in paths}


def test_editors_accept_the_name_of_a_task_as_well_as_its_block() -> None:
    from importlib import import_module

    jsonschema = import_module("jsonschema")  # has no types
    from genbench.suite.config import SuiteConfig

    schema = SuiteConfig.model_json_schema()
    suite = {"models": {"m": {"path": "x"}}, "tasks": ["aime25", {"task": "gsm8k", "k": 1}]}
    jsonschema.validate(suite, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**suite, "tasks": [["aime25"]]}, schema)
