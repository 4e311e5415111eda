"""import task as a command, and a run of what it imported."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from genbench.interop import commands as exchange

from .conftest import Outcome

Cli = Callable[..., Outcome]
DEFINITION = """\
task: sums
dataset_path: org/sums
test_split: test
doc_to_text: "{{question}}"
doc_to_target: answer
metric_list: [{metric: exact_match}]
filter_list:
  - {name: first, filter: [{function: regex, regex_pattern: "([0-9]+)"}]}
  - {name: last, filter: [{function: regex, regex_pattern: "([0-9]+)", group_select: -1}]}
metadata: {version: 1.0}
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "sums.yaml").write_text(DEFINITION, encoding="utf-8")
    rows = tmp_path / "mirror/org/sums/default/test.jsonl"
    rows.parent.mkdir(parents=True)
    lines = [json.dumps({"question": f"{n} + 0?", "answer": str(n)}) for n in range(12)]
    rows.write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def responses(path: Path, text: str) -> None:
    lines = [
        {
            "task": "sums",
            "problem_id": str(n),
            "sample_index": 0,
            "text": text.format(n),
            "finish_reason": "stop",
        }
        for n in range(12)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.mark.slow
def test_an_imported_task_runs_continues_compares_and_exports(genbench: Cli, place: Path) -> None:
    done = genbench("import", "task", "sums.yaml", "--data-dir", "mirror", "-o", "in", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["imported"][0]["rows"] == 12
    for name, text in (("a", "{0} or 99"), ("b", "99 or {0}")):
        responses(place / f"{name}.jsonl", text)
        run = ("run", "in/sums.yaml", "--responses", f"{name}.jsonl", "--run-dir", name)
        found = genbench(*run, "--json")
        assert found.code == 0, found.err
        task = json.loads(found.out)["models"]["model"]["tasks"]["sums"]
        assert task["value"] == (1.0 if name == "a" else 0.0)
        assert task["parts"]["first"]["value"] + task["parts"]["last"]["value"] == 1.0
    assert genbench(*run).code == 0
    assert "sums" in genbench("compare", "a/model", "b/model").out
    assert genbench("export", "a/model", "--to", "lm-eval", "-o", "out").code == 0


def test_changed_rows_are_found_by_check(genbench: Cli, place: Path) -> None:
    assert genbench("import", "task", "sums.yaml", "--data-dir", "mirror", "-o", "in").code == 0
    rows = place / "in/sums.rows.jsonl"
    rows.write_text(rows.read_text(encoding="utf-8").replace("3 + 0", "3 + 1"), encoding="utf-8")
    found = genbench("check", "in/sums.yaml")
    assert found.code != 0
    assert "import the task again" in found.out + found.err


def test_a_report_lists_levels_by_family(genbench: Cli, place: Path) -> None:
    found = genbench("import", "levels", ".")
    assert found.code == 0
    assert "1 tasks and 0 groups" in found.out
    assert "declarative" in found.out


@pytest.mark.parametrize("arguments", [(), ("nothing-here",)])
def test_wrong_use_says_what_to_do(genbench: Cli, place: Path, arguments: tuple[str, ...]) -> None:
    found = genbench("import", "task", *arguments)
    assert found.code == 2
    assert "Traceback" not in found.err


def test_the_module_has_the_command() -> None:
    assert callable(exchange.import_task)
