"""Tasks of a team's own generator: a run on ready responses, and prompts that are made again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import ConfigError
from genbench.pipeline import RunOptions, run
from genbench.reports.browse import sample_rows
from genbench.runs.stored.trust import requests_of
from genbench.store.folder import RunFolder
from genbench.tasks.python.own_generator import generated

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "generator"
SUITE = """\
models: {m: {path: ./model}}
tasks:
  - name: ledger
    task: generated
    options: {generator: "ledger.py:payments", length: 1024, rows: 2}
    k: 1
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the example on responses of which one is right."""
    place = tmp_path_factory.mktemp("generated")
    (place / "ledger.py").write_text((EXAMPLE / "ledger.py").read_text())
    (place / "suite.yaml").write_text(SUITE)
    task = generated(f"{place}/ledger.py:payments", length=1024, rows=2).with_texts({})
    right = task.problems([])[0].row["reference"]["texts"][0]
    lines = [
        {"task": "ledger", "problem_id": f"1024/payments/{index}", "sample_index": 0, "text": text}
        for index, text in enumerate((right, "none"))
    ]
    (place / "responses.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    run(
        RunOptions(
            suite=str(place / "suite.yaml"),
            run_dir=place / "out",
            responses=place / "responses.jsonl",
            quiet=True,
        )
    )
    return place


@pytest.mark.slow
def test_the_run_folder_has_a_recipe_and_no_prompt(suite: Path) -> None:
    folder = suite / "out" / "m" / "ledger"
    asked = [json.loads(line) for line in (folder / "asks.jsonl").read_text().splitlines()]
    assert [ask["prompt"] for ask in asked] == [None, None]
    assert asked[0]["recipe"]["generator"] == "ledger.py:payments"
    assert "ledger of payments" not in "".join(file.read_text() for file in folder.iterdir())
    scores = [json.loads(line)["score"] for line in (folder / "verdicts.jsonl").read_text().splitlines()]
    assert sorted(scores) == [0.0, 1.0]
    data = json.loads((suite / "out" / "m" / "manifest.json").read_text())["tasks"]["ledger"]["data"]
    assert data["generator"].startswith("ledger.py:payments ")


def shown(suite: Path) -> str:
    (found,) = sample_rows(suite / "out" / "m", "ledger", "1024/payments/0")
    return str(found.prompt)


@pytest.mark.slow
def test_a_prompt_is_made_again_unless_the_file_was_changed_or_removed(suite: Path) -> None:
    assert "This is a ledger of payments." in shown(suite)
    file = suite / "ledger.py"
    text = file.read_text()
    file.write_text(text.replace("ledger of", "list of"))
    assert "was changed since" in shown(suite)
    file.unlink()
    assert "put the file back" in shown(suite)
    file.write_text(text)


def test_the_generator_of_a_folder_from_elsewhere_is_not_run(suite: Path) -> None:
    seal = suite / "out" / "m" / "seal.json"
    kept = seal.read_text()
    seal.unlink()
    assert "from elsewhere is not run" in shown(suite)
    seal.write_text(kept)


@pytest.mark.slow
def test_without_a_length_a_prompt_has_all_of_its_row(suite: Path) -> None:
    task = generated(f"{suite}/ledger.py:payments", rows=1).with_texts({})
    (problem,) = task.problems([])
    assert (problem.problem_id, problem.strata) == ("payments/0", {"task": "payments"})
    ask = task.ask(problem, 0, ())
    assert ask is not None
    assert ask.messages[0].content.count(" paid ") == 40


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"length": []}, "wanted at least one value"),
        ({"length": "4k"}, "wanted a whole number"),
        ({"rows": 0}, "rows is 0"),
        ({"seed": 1.5}, "seed is 1.5"),
        ({"max_tokens": True}, "max_tokens is True"),
        ({"sandbox": {"wall": 1}}, "unknown option 'wall'"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        generated(f"{EXAMPLE}/ledger.py:payments", **options)


def test_a_stored_run_needs_the_generators_file_and_no_network(suite: Path) -> None:
    stored = RunFolder(suite / "out" / "m")
    asked = requests_of(stored, stored.require_manifest(), None)
    assert [item.kind for item in asked] == ["files"]
