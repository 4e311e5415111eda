"""Protocols and rows that cannot be asked, from the suite to the manifest and to a comparison."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from genbench.analysis.comparison.compare import compare
from genbench.errors import ConfigError, NotComparableError
from genbench.pipeline import RunOptions, run
from genbench.runs.execution.preflight import check_suite
from genbench.store.folder import RunFolder
from genbench.suite.suitefile import read_suite
from genbench.tasks.factory import make_task

PAGE = """\
summary: "Letters: which letter"
hub: {repo: example/letters, columns: [q, o, a]}
kind: choice
fields: {question: q, options: o, reference: a}
protocols:
  loud: {source: a test, prompt: "LOUD {question} {options}"}
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    rows = [{"q": f"{n}?", "o": ["x", "y"] if n else ["x"], "a": 0} for n in range(4)]
    folder = tmp_path / "mirror" / "example" / "letters" / "default"
    folder.mkdir(parents=True)
    (folder / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "letters.yaml").write_text(PAGE)
    lines = [{"task": "letters", "problem_id": str(n), "sample_index": 0, "text": "A"} for n in range(1, 4)]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def options(place: Path, name: str, more: str = "") -> RunOptions:
    suite = place / f"{name}.yaml"
    suite.write_text(f"models: {{m: {{path: ./m}}}}\ntasks:\n  - {{task: ./letters.yaml, k: 1{more}}}\n")
    return RunOptions(
        suite, run_dir=place / name, responses=place / "r.jsonl", data_dir=place / "mirror", quiet=True
    )


def test_check_names_the_rows_that_cannot_be_asked(place: Path) -> None:
    found = [str(item) for item in check_suite(options(place, "own")) if item.what == "task letters"]
    assert "3 problems x k 1 = 3 samples" in found[0]
    assert "1 of 4 rows cannot be asked and are left out" in found[1] and "row 1: wanted 2 to 26" in found[1]


@pytest.mark.slow
def test_the_manifest_has_the_protocol_and_the_rows_left_out(place: Path) -> None:
    run(options(place, "own"))
    run(options(place, "loud", ", protocol: loud"))
    own, loud = (
        RunFolder(place / name / "m").require_manifest().tasks["letters"] for name in ("own", "loud")
    )
    assert "protocol" not in own.to_json() and own.version == "1"
    assert (loud.protocol, loud.version) == ("loud", "1+loud")
    assert own.data["unasked"] == 1 and own.data["unasked_rows"][0].startswith("row 1: wanted 2 to 26")


@pytest.mark.slow
def test_runs_of_two_protocols_are_not_compared(place: Path) -> None:
    run(options(place, "own"))
    run(options(place, "loud", ", protocol: loud"))
    with pytest.raises(NotComparableError, match=r'protocol\.letters: "genbench" -> "loud"'):
        compare(place / "own" / "m", place / "loud" / "m")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            ", protocol: lod",
            r"own\.yaml:3: task 'letters': task letters: no protocol 'lod'; did you mean 'loud'",
        ),
        (", options: {orde: as_given}", "no option 'orde'"),
    ],
)
def test_a_protocol_or_option_that_the_page_lacks_is_named(place: Path, more: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        run(options(place, "own", more))


def test_a_task_in_python_has_only_genbench_s_words(tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text("models: {m: {path: ./m}}\ntasks:\n  - {task: humaneval, protocol: lm-eval}\n")
    suite = read_suite(path)
    with pytest.raises(ConfigError, match="it has only the protocol genbench, found protocol 'lm-eval'"):
        make_task(suite, suite.config.tasks[0])
