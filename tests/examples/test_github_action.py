"""The files for GitHub are valid under GitHub's own schemas."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from genbench.suite.yamlfile import read_yaml_file

ROOT = Path(__file__).resolve().parents[2]
FILES = [
    ("vendor.github-workflows", ROOT / "examples" / "nightly" / "github.yml"),
    ("vendor.github-actions", ROOT / "examples" / "github_action" / "action.yml"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("schema", "path"), FILES, ids=lambda item: str(item)[-20:])
def test_a_file_for_github_is_valid(schema: str, path: Path) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_step_of_the_action_is_shell_that_parses() -> None:
    action, _ = read_yaml_file(ROOT / "examples" / "github_action" / "action.yml")
    scripts = [step["run"] for step in action["runs"]["steps"] if "run" in step]
    assert scripts
    for script in scripts:
        done = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
