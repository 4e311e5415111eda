"""Where a task's rows come from: the suite's file first, then the task itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from genbench.data.local import RecentFile
from genbench.errors import ConfigError, DataError
from genbench.suite.suitefile import read_suite
from genbench.tasks.factory import make_task
from genbench.tasks.loading import task_rows

OWN_ROWS = """\
from genbench.protocols import TaskInfo

class Counting:
    info = TaskInfo("counting", "1", "numbers", None, 1, "exact")
    def rows(self):
        return [{"id": "one"}, {"id": "two"}]
    def problems(self, rows):
        return []
    def ask(self, problem, sample_index, replies):
        return None
"""


def rows_of(folder: Path, task: str) -> list[dict[str, object]]:
    (folder / "suite.yaml").write_text("models: {m: {path: ./m}}\ntasks:\n  - " + task + "\n")
    suite = read_suite(folder / "suite.yaml")
    entry = suite.config.tasks[0]
    rows, provenance = task_rows(suite, entry, make_task(suite, entry), None, RecentFile())
    assert provenance
    return [dict(row) for row in rows]


def test_a_file_is_read_from_the_suites_folder(tmp_path: Path) -> None:
    lines = [{"question": "1+1?", "reference": "2"}, {"question": "2+2?", "reference": "4"}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert rows_of(tmp_path, "{name: own, kind: exact, data: {path: rows.jsonl}, k: 1}") == lines


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.jsonl"):
        rows_of(tmp_path, "{name: own, kind: exact, data: {path: nowhere.jsonl}, k: 1}")


def test_a_plug_in_gives_its_own_rows(tmp_path: Path) -> None:
    (tmp_path / "task_with_rows.py").write_text(OWN_ROWS)
    assert rows_of(tmp_path, "{task: 'task_with_rows:Counting'}") == [{"id": "one"}, {"id": "two"}]


def test_a_plug_in_without_rows_needs_a_dataset(tmp_path: Path) -> None:
    (tmp_path / "task_without_rows.py").write_text(OWN_ROWS.replace("def rows", "def other"))
    with pytest.raises(ConfigError, match=r"suite\.yaml:3: .* add info\.dataset or rows\(\)"):
        rows_of(tmp_path, "{task: 'task_without_rows:Counting'}")
