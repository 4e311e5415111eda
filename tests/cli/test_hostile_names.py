"""Names and keys of strangers in messages: what would steer a terminal is printed as an escape."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from genbench.store.folder import RunFolder
from tests.manifests import manifest

HOSTILE = "\x1b[2J\u202e\x00x"
Call = Callable[..., Any]


def is_clean(text: str) -> bool:
    return not any(char in text for char in "\x1b\u202e\x00")


@pytest.mark.parametrize("key", ["run_seed", "model_identity", "warnings"])
def test_wrong_value_in_a_manifest_is_quoted_without_control_characters(
    genbench: Call, tmp_path: Path, key: str
) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.write_manifest(manifest())
    record = json.loads(folder.manifest_path.read_text())
    record[key] = {HOSTILE: HOSTILE}
    folder.manifest_path.write_text(json.dumps(record))
    outcome = genbench("show", folder.path)
    assert outcome.code == 2 and is_clean(outcome.err) and "Traceback" not in outcome.err


def test_unknown_key_of_a_suite_is_quoted_without_control_characters(genbench: Call, tmp_path: Path) -> None:
    suite = tmp_path / "s.yaml"
    suite.write_text('models: {m: {path: none}}\n"\\e[2J\\0": 1\ntasks: [aime24]\n')
    outcome = genbench("check", suite)
    assert outcome.code == 2 and is_clean(outcome.err + outcome.out)


def test_path_that_is_not_there_is_quoted_without_control_characters(genbench: Call, tmp_path: Path) -> None:
    outcome = genbench("show", tmp_path / "no\x1b[2J\u202efolder")
    assert outcome.code == 2 and is_clean(outcome.err)
    assert "\\x1b[2J\\u202e" in outcome.err


def test_unknown_kind_of_trust_is_refused(genbench: Call, tmp_path: Path) -> None:
    outcome = genbench("score", tmp_path, "--trust-run", "everything")
    assert outcome.code == 2 and "wanted one of code, network, environment, files" in outcome.err
