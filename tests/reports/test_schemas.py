"""Schemas that are generated from the models: entries, references and descriptions."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema.validators import Draft202012Validator  # type: ignore[import-untyped]

from genbench.reports.record import Report
from genbench.reports.schemas import RECORDS, RECORDS_FILE, record_schema, schema_files, suite_schema
from genbench.suite.config import SuiteConfig
from tests.table import each_row

EMPTY = {
    "format": 1,
    "title": "s",
    "tasks": [],
    "published": [],
    "runs": [],
    "doubtful": [],
    "comparisons": [],
    "lead": "nothing",
}


@functools.cache
def records() -> dict[str, Any]:
    """The schema of all records, which takes a second to make."""
    return record_schema()


def errors(record: object, name: str) -> list[str]:
    checker = Draft202012Validator({**records(), "$ref": f"#/$defs/{name}"})
    return [error.message for error in checker.iter_errors(record)]


@pytest.mark.slow
def test_the_schemas_are_valid_schemas() -> None:
    for schema in (records(), suite_schema()):
        Draft202012Validator.check_schema(schema)


def test_every_reference_has_its_definition() -> None:
    schema = records()
    text = json.dumps(schema)
    targets = {part.split('"')[0] for part in text.split('"$ref": "#/$defs/')[1:]}
    assert targets <= set(schema["$defs"])


def test_a_record_of_a_model_follows_the_schema() -> None:
    report = Report.from_json(EMPTY, "report.json")
    assert errors(report.to_json(), "report") == []


@each_row("key", EMPTY)
def test_a_missing_key_is_an_error(key: str) -> None:
    assert errors({name: value for name, value in EMPTY.items() if name != key}, "report") != []


def test_an_unknown_key_is_an_error() -> None:
    assert errors({**EMPTY, "more": 1}, "report") != []


def test_a_key_that_may_be_absent_is_not_required() -> None:
    required = records()["$defs"]["JudgeCheck"]["required"]
    assert "accuracy" not in required and "pinned_in" not in required
    assert "stability" in required


@pytest.mark.slow
def test_the_files_are_written_with_a_final_newline() -> None:
    files = schema_files()
    assert set(files) == {
        RECORDS_FILE,
        Path("suites") / "suite.schema.json",
        Path("policies") / "policy.schema.json",
        Path("docs") / "glossary.md",
        Path("docs") / "json.md",
    }
    assert all(text == f"{text.rstrip()}\n" for text in files.values())


def test_the_description_names_every_command() -> None:
    described = records()["description"]
    for name in RECORDS:
        assert name in described


def test_the_schema_of_suites_is_that_of_the_configuration() -> None:
    assert suite_schema() == SuiteConfig.model_json_schema()


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
