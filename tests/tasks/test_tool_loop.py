"""Tasks of a team's own functions: rows, options, and runs whose samples share no state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import ConfigError, DataError, GenbenchError, ResponsesError
from genbench.pipeline import RunOptions, run
from genbench.tasks.loading import problems_of
from genbench.tasks.python.loops import tool_loop

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "tools"
LEAKY = """
SEEN = []


class Counter:
    shared = []

    def __init__(self, state):
        self.value = state

    def add(self, n: int):
        SEEN.append(n)
        self.value += n
        return {"value": self.value, "calls of all conversations": len(SEEN)}

    def hang(self):
        while True:
            pass
"""
SUITE = """\
models:
  m: {path: ./model}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - name: counter
    task: tool_loop
    options: {functions: "counter.py:Counter", rows: rows.jsonl, steps: 4}
    k: 4
"""
ROW: dict[str, Any] = {
    "id": "a",
    "question": ["Add 1 twice.", "Sing!"],
    "state": 0,
    "calls": [[{"name": "add", "arguments": {"n": 1}}, {"name": "add", "arguments": {"n": 1}}], []],
}
REPLIES = ["[add(n=1)]", "[add(n=1)]", "Done.", "I cannot sing."]


def task(tmp_path: Path, source: str = LEAKY, **options: Any) -> Any:
    (tmp_path / "counter.py").write_text(source)
    return tool_loop(f"{tmp_path}/counter.py:Counter", "rows.jsonl", **options)


@pytest.mark.slow
def test_a_conversation_is_asked_until_every_turn_is_over(tmp_path: Path) -> None:
    made = task(tmp_path, steps=4, system="Be brief.")
    (problem,) = made.problems([ROW])
    assert (problem.turns, problem.ends_early) == (8, True)
    roles = []
    for count in range(len(REPLIES)):
        ask = made.ask(problem, 0, REPLIES[:count])
        roles.append([message.role for message in ask.messages][-2:])
    assert roles == [["system", "user"], ["assistant", "tool"], ["assistant", "tool"], ["assistant", "user"]]
    assert made.ask(problem, 0, REPLIES) is None
    assert [document["name"] for document in ask.tools.documents] == ["add", "hang"]


def test_a_problem_with_one_text_may_have_a_plain_list_of_calls(tmp_path: Path) -> None:
    row = {**ROW, "question": "Add 1.", "calls": ROW["calls"][0]}
    (problem,) = task(tmp_path).problems([row])
    assert problem.row["reference"]["calls"] == [ROW["calls"][0]]


def test_a_row_of_another_shape_among_others_is_left_out_and_counted(tmp_path: Path) -> None:
    problems, unusable = problems_of(task(tmp_path), [ROW, {**ROW, "id": "b", "question": 3}])
    assert [problem.problem_id for problem in problems] == ["a"]
    assert len(unusable) == 1 and "row 2" in unusable[0]


@pytest.mark.parametrize("column", [{"question": 3}, {"calls": [[]]}, {"calls": [[{"name": 1}], []]}])
def test_rows_of_another_shape_are_refused(tmp_path: Path, column: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="row 1"):
        task(tmp_path).problems([{**ROW, **column}])


def test_wrong_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"PATH\.py:Class"):
        tool_loop("desk", "rows.jsonl")
    with pytest.raises(ConfigError, match="cannot be read"):
        tool_loop(f"{tmp_path}/nowhere.py:Desk", "rows.jsonl")
    for options in ({"form": "templat"}, {"steps": 0}, {"parser": "hermez"}):
        with pytest.raises(ConfigError):
            task(tmp_path, **options)


def suite(place: Path, lines: list[dict[str, Any]]) -> RunOptions:
    place.mkdir(exist_ok=True)
    (place / "suite.yaml").write_text(SUITE)
    (place / "counter.py").write_text(LEAKY)
    (place / "rows.jsonl").write_text(json.dumps(ROW) + "\n")
    (place / "responses.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return RunOptions(
        suite=str(place / "suite.yaml"),
        run_dir=place / "out",
        responses=place / "responses.jsonl",
        quiet=True,
    )


def lines() -> list[dict[str, Any]]:
    return [
        {"task": "counter", "problem_id": "a", "sample_index": index, "turn": turn, "text": text}
        for index in range(4)
        for turn, text in enumerate(REPLIES)
    ]


@pytest.mark.slow
def test_four_samples_share_no_state_and_a_killed_run_goes_on_in_the_middle_of_a_conversation(
    tmp_path: Path,
) -> None:
    options = suite(tmp_path / "whole", lines())
    folder = run(options).folders["m"] / "counter"
    completions = (folder / "completions.jsonl").read_text().splitlines(keepends=True)
    verdicts = [json.loads(line) for line in (folder / "verdicts.jsonl").read_text().splitlines()]
    assert [verdict["status"] for verdict in verdicts] == ["correct"] * 4
    # A leak of the file's list would show more than two calls in a later conversation.
    shown = "".join(completions)
    assert r"conversations\": 2" in shown and r"conversations\": 3" not in shown
    assert [json.loads(line).get("final", False) for line in completions].count(True) == 4

    other = suite(tmp_path / "killed", lines())
    folder = run(other).folders["m"]
    for name in ("results.json", "sums.json", "counter/verdicts.jsonl"):
        (folder / name).unlink(missing_ok=True)
    own = folder / "counter" / "completions.jsonl"
    own.write_text("".join(completions[:6]) + completions[6][:40])
    run(other)
    again = own.read_text().splitlines(keepends=True)
    assert sorted(map(identity, again)) == sorted(map(identity, completions))


@pytest.mark.slow
def test_functions_that_hang_cost_one_sample_and_not_the_run(tmp_path: Path) -> None:
    given = [line for line in lines() if line["sample_index"] != 2]
    given.append({"task": "counter", "problem_id": "a", "sample_index": 2, "turn": 0, "text": "[hang()]"})
    options = suite(tmp_path, given)
    text = (tmp_path / "suite.yaml").read_text()
    (tmp_path / "suite.yaml").write_text(f"{text}    verifier: {{wall_s: 0.5}}\n")
    folder = run(options).folders["m"] / "counter"
    verdicts = [json.loads(line) for line in (folder / "verdicts.jsonl").read_text().splitlines()]
    found = {verdict["sample_index"]: verdict["status"] for verdict in verdicts}
    assert found == {0: "correct", 1: "correct", 2: "timeout", 3: "correct"}


@pytest.mark.slow
def test_functions_are_not_run_without_a_sandbox_unless_the_user_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    options = suite(tmp_path, lines())
    text = (tmp_path / "suite.yaml").read_text()
    (tmp_path / "suite.yaml").write_text(f"{text}    verifier: {{tier: a}}\n")
    with pytest.raises(GenbenchError, match="unsafe_local_exec: true"):
        run(options)
    (tmp_path / "suite.yaml").write_text(f"{text}    verifier: {{unsafe_local_exec: true}}\n")
    folder = run(options).folders["m"]
    assert '"status":"correct"' in (folder / "counter" / "verdicts.jsonl").read_text().replace(": ", ":")


def identity(line: str) -> str:
    record = json.loads(line)
    return json.dumps([record[key] for key in ("sample_index", "turn", "text")] + [record.get("prompt")])


@pytest.mark.slow
def test_a_turn_that_is_missing_in_the_responses_is_named(tmp_path: Path) -> None:
    given = [line for line in lines() if line["turn"] != 2]
    with pytest.raises(ResponsesError, match="goes on after turn 1; add turn 2"):
        run(suite(tmp_path / "short", given))


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
    text = (done.folders["tuned"] / "desk" / "verdicts.jsonl").read_text()
    assert [json.loads(line)["score"] for line in text.splitlines()] == [1.0, 1.0]
