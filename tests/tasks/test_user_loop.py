"""Tasks with a simulated user: rows, options, and the example on its ready responses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import ConfigError, DataError
from genbench.pipeline import RunOptions, run
from genbench.tasks.python.loops import user_loop

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "user"
ROWS = [json.loads(line) for line in (EXAMPLE / "rows.jsonl").read_text().splitlines()]


def task(**options: Any) -> Any:
    given = {"policy": str(EXAMPLE / "policy.md"), **options}
    return user_loop(f"{EXAMPLE}/shop.py:Shop", str(EXAMPLE / "rows.jsonl"), **given)


def test_the_user_and_the_model_are_asked_in_turn() -> None:
    made = task()
    (problem, _) = made.problems(ROWS)
    first = made.ask(problem, 0, ())
    assert (first.speaker, first.max_tokens) == ("user", 512)
    assert "Your name is Bela." in first.messages[0].content
    second = made.ask(problem, 0, ("Cancel my order.",))
    assert second.speaker == "model"
    assert "Bela" not in str(second.messages)
    assert second.messages[0].content.startswith("You work for a shop.")
    assert made.ask(problem, 0, ("###STOP###",)) is None


def test_the_user_is_part_of_the_version() -> None:
    server = {"base_url": "http://127.0.0.1:1/v1", "model": "u", "revision": "main"}
    versions = {task().info.version, task(user={"server": server}).info.version}
    versions.add(task(user={"server": {**server, "model": "v"}}).info.version)
    assert len(versions) == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"user": {}}, "give either 'model' or 'server'"),
        ({"user": {"model": {"path": "./m"}}}, "pin the user's model"),
        ({"user": {"modle": 1}}, "user.modle"),
        ({"policy": "nowhere.md"}, "policy: nowhere.md cannot be read"),
        ({"steps": 0}, "steps is 0"),
        ({"form": "templat"}, "did you mean 'template'"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        task(**options)


@pytest.mark.parametrize(
    "column", [{"instruction": 1}, {"actions": [{"name": 1}]}, {"outputs": "x"}, {"outputs": [1]}]
)
def test_rows_of_another_shape_are_refused(column: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="row 1"):
        task().problems([{**ROWS[0], **column}])


@pytest.mark.slow
def test_the_example_runs_on_its_ready_responses(tmp_path: Path) -> None:
    done = run(
        RunOptions(
            suite=str(EXAMPLE / "suite.yaml"),
            run_dir=tmp_path,
            responses=EXAMPLE / "responses.jsonl",
            overrides=("tasks.0.k=1",),
            quiet=True,
        )
    )
    text = (done.folders["tuned"] / "shop" / "verdicts.jsonl").read_text()
    assert [json.loads(line)["score"] for line in text.splitlines()] == [1.0, 1.0]
