"""The commands on a machine that lacks a toolchain: a task that needs it is refused by name, never wrong."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROW = {
    "id": "p1",
    "question": "<?php\nfunction plus($a) {\n",
    "reference": {
        "language": "php",
        "prompt": "<?php\nfunction plus($a) {\n",
        "tests": 'if (plus(1) !== 2) { throw new Exception("Test failed!"); }',
    },
}
RESPONSE = {"task": "plus", "problem_id": "p1", "sample_index": 0, "text": "    return $a + 1;\n}\n"}
SUITE = """
models:
  tuned: {path: ./none}
decoding: {temperature: 0.0, max_tokens: 64}
tasks:
  - name: plus
    verifier: {use: program, languages: [php]}
    data: {path: rows.jsonl, fields: {id: id, question: question, reference: reference}}
    k: 1
"""


def without_php(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command of genbench, in a view of this machine in which /usr/bin/php cannot be run."""
    php = shutil.which("php", path="/usr/bin:/bin")
    hidden = ["--ro-bind", "/dev/null", str(Path(php).resolve())] if php else []
    command = ["bwrap", "--dev-bind", "/", "/", *hidden, "--", sys.executable, "-m", "genbench"]
    return subprocess.run([*command, *arguments], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_task_without_its_toolchain_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROW) + "\n", encoding="utf-8")
    (tmp_path / "responses.jsonl").write_text(json.dumps(RESPONSE) + "\n", encoding="utf-8")
    (tmp_path / "suite.yaml").write_text(SUITE, encoding="utf-8")
    wanted = "task 'plus': PHP programs cannot run here"
    checked = without_php(tmp_path, "check", "suite.yaml")
    assert (checked.returncode, wanted in checked.stdout) == (2, True), checked.stdout + checked.stderr
    ran = without_php(tmp_path, "run", "suite.yaml", "--responses", "responses.jsonl", "--run-dir", "r")
    assert (ran.returncode, wanted in ran.stderr) == (2, True), ran.stdout + ran.stderr
    assert "apt install php-cli" in ran.stderr
    assert not list(tmp_path.glob("r/**/verdicts.jsonl"))
