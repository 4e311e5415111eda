"""What is said of a suite with images that lacks something: what, where, and what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from genbench.pipeline import RunOptions
from genbench.runs.execution.preflight import check_suite

DIGEST = f"sha256:{'1' * 64}"
Rows = Callable[[ModuleType], list[dict[str, Any]]]


@pytest.mark.parametrize(
    ("rows", "options", "said"),
    [
        (
            lambda swe: [{"instruction": "x", "image": "a:1"}],
            {},
            r"row 1 of .*rows\.jsonl: no column 'id'; a problem has 'id' and 'instruction', or is",
        ),
        (
            lambda swe: [{"id": "x", "image": "a:1"}],
            {},
            r"row 1 of .*rows\.jsonl: no column 'instruction'; a problem has",
        ),
        (
            lambda swe: [swe.row()],
            {"images": None},
            r"rows\.jsonl:1: no column 'id'.*swebench 5 \(which needs options\.images and options\.grader",
        ),
        (
            lambda swe: [{"id": "x", "instruction": "x"}],
            {},
            "row 1, x: it names no image: give it a column 'image', or its task.toml",
        ),
        (
            lambda swe: [{"id": "x", "instruction": "x", "image": "a:1"}],
            {},
            r"x: image a:1 is not in .*images\.lock: a tag may change unseen.*genbench mirror SUITE",
        ),
        (
            lambda swe: [{"id": "x", "instruction": "x", "image": "b:1"}],
            {},
            f"image {DIGEST} is not in the store .*; get it: genbench mirror SUITE --to DIR, and",
        ),
        (
            lambda swe: [{"id": "x", "instruction": "x", "image": "b:1"}],
            {"images": "rows.jsonl"},
            r"options\.images: .*rows\.jsonl is not a lock of images: it does not have the right keys",
        ),
        (
            lambda swe: [{"id": "x", "instruction": "x"}],
            {"images": None, "kit": "kit"},
            r"options\.kit needs options\.images",
        ),
        (
            lambda swe: [{"id": "x", "instruction": "x"}],
            {"kit": "kit"},
            r"options\.kit: there is no folder .*kit",
        ),
    ],
)
def test_check_names_what_is_lacking_and_what_to_do(  # noqa: PLR0917
    swe: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rows: Rows,
    options: dict[str, Any],
    said: str,
) -> None:
    monkeypatch.setenv("GENBENCH_IMAGES", str(tmp_path / "store"))
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(swe)))
    (tmp_path / "images.lock").write_text(json.dumps({"images": {"b:1": DIGEST}}))
    given = {"source": "rows.jsonl", "command": ["true"], "images": "images.lock", **options}
    given = {key: value for key, value in given.items() if value is not None}
    suite: dict[str, Any] = {"name": "s", "models": {"m": {"path": "m"}}}
    suite |= {"decoding": {"temperature": 0, "max_tokens": 8}}
    suite |= {"tasks": [{"name": "fix", "task": "agent", "options": given}]}
    (tmp_path / "suite.yaml").write_text(json.dumps(suite))
    errors = [
        item.detail
        for item in check_suite(RunOptions(suite=str(tmp_path / "suite.yaml")))
        if item.state == "error"
    ]
    assert re.search(said, errors[0]), errors
