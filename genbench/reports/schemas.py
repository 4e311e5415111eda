"""JSON schemas of what users write and of what commands print, generated from the models.

`python -m genbench.reports.schemas` writes them into a checkout.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from genbench import registry
from genbench.json_record import JsonRecord
from genbench.registry import load_object
from genbench.reports import glossary, json_page
from genbench.suite.config import SuiteConfig

RECORDS: Mapping[str, type[JsonRecord]] = {
    name: load_object(target) for name, target in registry.RECORDS.items()
}
"""What each command prints with --json, and what a run folder contains. The name is the entry in `$defs`."""
RECORDS_FILE = Path("docs") / "json.schema.json"
SUITE_FILE = Path("suites") / "suite.schema.json"
POLICY_FILE = Path("policies") / "policy.schema.json"


class _Untitled(GenerateJsonSchema):
    """A schema generator that leaves out the titles that pydantic makes from the names of fields."""

    def field_title_should_be_set(self, schema: object) -> bool:
        return False


def record_schema() -> dict[str, Any]:
    """Return the schema of all records. Each command has an entry in `$defs` to validate against."""
    models = [(model, "validation") for model in RECORDS.values()]
    refs, whole = models_json_schema(models, schema_generator=_Untitled)  # type: ignore[arg-type]
    entries = {name: refs[model, "validation"] for name, model in RECORDS.items()}
    for name, definition in whole["$defs"].items():
        definition["$comment"] = "promised" if name in json_page.PROMISED else "may change"
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        "title": "JSON that genbench prints and stores",
        "description": "Scores, differences, bounds and detectable drops are fractions of 1. Records whose "
        "$comment is 'promised' keep their keys and meanings as long as `format` is the same. "
        f"Validate against one of $defs/{', '.join(RECORDS)}.",
        "$defs": entries | whole["$defs"],
    }


def suite_schema() -> dict[str, Any]:
    """Return the schema of a suite file."""
    return SuiteConfig.model_json_schema()


def schema_files() -> dict[Path, str]:
    """Return the text of each generated file by its path in a checkout."""
    records = record_schema()
    return {
        RECORDS_FILE: json.dumps(records, indent=1) + "\n",
        json_page.PAGE_FILE: json_page.json_page(records["$defs"]),
        SUITE_FILE: json.dumps(suite_schema(), indent=2) + "\n",
        POLICY_FILE: json.dumps(load_object(registry.POLICY).model_json_schema(), indent=2) + "\n",
        glossary.PAGE_FILE: glossary.glossary_page(),
    }


def write_schemas(checkout: Path) -> list[Path]:
    """Write the schema files into a checkout. Return their paths."""
    for path, text in schema_files().items():
        (checkout / path).write_text(text, encoding="utf-8")
    return [checkout / path for path in schema_files()]


if __name__ == "__main__":
    for written in write_schemas(Path()):
        print(f"wrote {written}")
