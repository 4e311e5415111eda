"""What happens to the tests that need golden data where there are none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def collect(gold: Path | str, ci: bool) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "CI"}
    environment |= {"GENBENCH_GOLD": str(gold)} | ({"CI": "true"} if ci else {})
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "-p",
        "no:xdist",
        "tests/models/test_traces.py",
    ]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_without_golden_data_they_are_deselected_by_one_line_that_says_how_many() -> None:
    done = collect("", ci=False)
    assert done.returncode == 0, done.stdout + done.stderr
    said = [line for line in done.stdout.splitlines() if "tests need the golden data" in line]
    assert len(said) == 1
    assert "GENBENCH_GOLD" in said[0]
    assert said[0].split()[1].isdigit()


@pytest.mark.slow
def test_in_ci_their_absence_is_a_failure() -> None:
    done = collect("", ci=True)
    assert done.returncode != 0
    assert "CI is set, so this is a failure" in done.stdout + done.stderr


@pytest.mark.slow
def test_a_folder_without_them_that_is_named_is_a_failure(tmp_path: Path) -> None:
    done = collect(tmp_path, ci=False)
    assert done.returncode != 0
    assert f"GENBENCH_GOLD={tmp_path} has no folder gold/" in done.stdout + done.stderr
