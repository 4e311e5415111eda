"""Every mistake of a user ends with exit code 2 and a message that says what, where, and what to do."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from genbench.suite import shipped

from .conftest import Outcome

Cli = Callable[..., Outcome]
ROWS = [{"id": "a", "problem": "1+1?", "answer": "2"}, {"id": "b", "problem": "2+2?", "answer": "4"}]
SUITE = """\
models:
  m: {path: ./model}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - name: mine
    kind: math
    data: {path: rows.jsonl, fields: {id: id, question: problem, reference: answer}}
    prompt: "{question}"
    k: 2
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    shutil.copytree(shipped.folder("checkpoints") / "tiny-base", tmp_path / "model")
    return tmp_path


def refused(outcome: Outcome, *parts: str) -> None:
    assert outcome.code == 2, outcome
    assert "Traceback" not in outcome.err
    assert outcome.out == ""
    for part in parts:
        assert part in outcome.err


def lines(**change: object) -> str:
    """Return the responses to two problems, with the first line changed."""
    records = [
        {"task": "mine", "problem_id": name, "sample_index": index, "text": "2"}
        for name in "ab"
        for index in range(2)
    ]
    records[0] |= change
    return "".join(json.dumps(record) + "\n" for record in records)


SUITE_MISTAKES = {
    "unknown key": (
        ("models:", "modells: 1\nmodels:"),
        ("suite.yaml:1", "'modells'", "did you mean 'models'?"),
    ),
    "unknown nested key": (
        ("{temperature: 0.6", "{temprature: 0.6"),
        ("suite.yaml:3", "decoding.temprature", "did you mean 'temperature'?"),
    ),
    "wrong type": (
        ("temperature: 0.6", "temperature: hot"),
        ("suite.yaml:3", "decoding.temperature", "'hot'"),
    ),
    "out of bounds": (
        ("temperature: 0.6", "temperature: 3"),
        ("suite.yaml:3", "less than or equal to 2", "3"),
    ),
    "silently raised temperature": (
        ("temperature: 0.6", "temperature: 0.001"),
        ("suite.yaml:3", "at least 0.01"),
    ),
    "many draws of one text": (
        ("temperature: 0.6", "temperature: 0"),
        ("suite.yaml:5", "k = 2 at temperature 0", "set k: 1"),
    ),
    "duplicate YAML key": (("    k: 2", "    k: 2\n    k: 3"), ("suite.yaml:10", "not valid YAML", "k")),
    "broken YAML": (("models:", "models: ["), ("suite.yaml", "not valid YAML")),
    "no tasks": (("tasks:", "task_s:"), ("'tasks' is missing",)),
    "duplicate task": (
        ("    k: 2\n", "    k: 2\n  - {name: mine, task: aime25}\n"),
        ("suite.yaml:10", "two tasks are called 'mine'", "line 5", "another 'name'"),
    ),
    "unknown task": (
        ("    k: 2\n", "    k: 2\n  - aime255\n"),
        ("unknown task 'aime255'", "did you mean 'aime25'?"),
    ),
    "unknown kind": (("kind: math", "kind: maths"), ("'maths'", "did you mean 'math'?")),
    "own task without data": (("    data:", "    #"), ("suite.yaml:5", "'data'")),
    "missing data file": (("path: rows.jsonl", "path: row.jsonl"), ("row.jsonl: no such file",)),
    "missing column": (("question: problem", "question: problme"), ("problme", "did you mean 'problem'?")),
    "unknown placeholder": (('"{question}"', '"{qestion}"'), ("qestion",)),
    "missing model": (("./model", "./modle"), ("'./modle'", "no such folder")),
    "missing chat template": (
        ("{path: ./model}", "{path: ./model, chat_template: t.jinja}"),
        ("t.jinja", "no such file"),
    ),
    "unknown trace format": (
        ("decoding:", "reasoning: thnk\ndecoding:"),
        ("'thnk'", "did you mean 'think'?"),
    ),
    "unknown engine key": (
        ("decoding:", "engine: {max_num_sequences: 4}\ndecoding:"),
        ("suite.yaml:3", "'max_num_sequences'", "did you mean 'max_num_seqs'?"),
    ),
    "engine key that is pinned": (
        ("decoding:", "engine: {generation_config: auto}\ndecoding:"),
        ("suite.yaml:3", "engine.generation_config is set by genbench"),
    ),
    "context larger than the model's": (
        ("decoding:", "engine: {max_model_len: 999999}\ndecoding:"),
        ("engine.max_model_len is 999999", "context of"),
    ),
    "a model name that is not a folder name": (
        ("  m: {", "  a/b: {"),
        ("suite.yaml:2", "'a/b'", "becomes a folder"),
    ),
}


@pytest.mark.parametrize("mistake", SUITE_MISTAKES)
def test_a_mistake_in_a_suite_is_named_with_its_place(genbench: Cli, place: Path, mistake: str) -> None:
    (old, new), parts = SUITE_MISTAKES[mistake]
    assert old in SUITE
    (place / "suite.yaml").write_text(SUITE.replace(old, new, 1))
    refused(genbench("run", "suite.yaml", "--run-dir", "out"), *parts)
    assert not (place / "out").exists()


COMMAND_MISTAKES = {
    "no such suite": (("run", "quickstrat"), ("quickstrat", "did you mean 'quickstart'?")),
    "no suite": (("run",), ("give a suite, or both --model PATH and --task NAME",)),
    "no task": (("run", "--model", "model"), ("--task NAME",)),
    "k of a suite": (("run", "suite.yaml", "--k", "2"), ("--set tasks.NAME.k",)),
    "unknown task without a suite": (
        ("run", "--model", "model", "--task", "gsm9k"),
        ("--task: task 'gsm9k'", "did you mean 'gsm8k'?"),
    ),
    "into without a suite": (("score", "model", "--into", "x"), ("--into", "goes with --suite")),
    "override without value": (("run", "suite.yaml", "--set", "decoding.seed"), ("KEY=VALUE",)),
    "override of an unknown key": (
        ("run", "suite.yaml", "--set", "decoding.sed=1"),
        ("--set decoding.sed=1", "did you mean 'seed'?"),
    ),
    "override below a value": (
        ("run", "suite.yaml", "--set", "tasks.mine.k.x=1"),
        ("--set tasks.mine.k.x=1",),
    ),
    "unknown model": (("run", "suite.yaml", "--model", "n"), ("no model 'n'",)),
    "unknown task": (("run", "suite.yaml", "--task", "min"), ("no task 'min'", "did you mean 'mine'?")),
    "limit of nothing": (("run", "suite.yaml", "--limit", "0"), ("--limit 0", "at least 1")),
    "subset of nothing": (("run", "suite.yaml", "--subset", "x"), ("--subset x", "'responses'")),
    "subset without responses": (("run", "suite.yaml", "--subset", "responses"), ("--responses FILE",)),
    "missing responses": (("run", "suite.yaml", "--responses", "r.jsonl"), ("r.jsonl: cannot be read",)),
    "score of no run": (("score", "model"), ("not a run folder", "genbench run")),
    "show of no run": (("show", "model"), ("not a run folder",)),
    "init over a file": (("init", "suite.yaml"), ("exists already",)),
    "init in no folder": (("init", "no/suite.yaml"), ("no such folder",)),
    "no such mirror": (("run", "suite.yaml", "--set", "tasks=[aime25]", "--data-dir", "mirror"), ("mirror",)),
    "unknown option": (("run", "suite.yaml", "--limt", "3"), ("--limt",)),
}


@pytest.mark.parametrize("mistake", COMMAND_MISTAKES)
def test_a_mistake_on_the_command_line_is_named(genbench: Cli, place: Path, mistake: str) -> None:
    arguments, parts = COMMAND_MISTAKES[mistake]
    refused(genbench(*arguments), *parts)
    assert not (place / "runs").exists()


RESPONSE_MISTAKES = {
    "broken line": ("{\n" + lines(), ("r.jsonl:1", "not valid JSON")),
    "no object": ("[1]\n" + lines(), ("r.jsonl:1", "wanted an object, found list")),
    "unknown task": (lines(task="mien"), ("r.jsonl:1", "unknown task 'mien'", "did you mean 'mine'?")),
    "unknown problem": (lines(problem_id="c"), ("r.jsonl:1", "no problem 'c'", "valid: a, b")),
    "index beyond k": (lines(sample_index=2), ("r.jsonl:1", "sample_index 2", "k = 2")),
    "second line": (lines(sample_index=1), ("r.jsonl:2", "a second line for task mine, problem a, sample 1")),
    "no text": (lines(text=None), ("r.jsonl:1", "'text'")),
    "unknown finish reason": (lines(finish_reason="done"), ("r.jsonl:1", "'done'", "stop or length")),
    "lacking sample": (lines().split("\n", 1)[1], ("1 of 2 problems lack some of their 2 samples: a",)),
    "turn beyond the last": (lines(turn=1), ("r.jsonl:1", "turn 1", "1 turn")),
}


@pytest.mark.parametrize("mistake", RESPONSE_MISTAKES)
def test_a_mistake_in_ready_responses_is_named_by_its_line(genbench: Cli, place: Path, mistake: str) -> None:
    text, parts = RESPONSE_MISTAKES[mistake]
    (place / "r.jsonl").write_text(text)
    refused(genbench("run", "suite.yaml", "--responses", "r.jsonl", "--run-dir", "out"), *parts)
    assert not (place / "out").exists()


def test_a_damaged_data_line_is_named(genbench: Cli, place: Path) -> None:
    (place / "rows.jsonl").write_text('{"id": "a"\n')
    refused(genbench("run", "suite.yaml"), "rows.jsonl:1", "not valid JSON")


def test_a_folder_without_a_model_is_named(genbench: Cli, place: Path) -> None:
    (place / "model" / "config.json").unlink()
    refused(genbench("run", "suite.yaml"), "suite.yaml:2: ", "model: has no config.json")


def test_a_model_without_a_chat_template_names_the_two_choices(genbench: Cli, place: Path) -> None:
    (place / "model" / "chat_template.jinja").unlink()
    refused(genbench("run", "suite.yaml"), "chat template", "plain", "few_shot")


def test_an_unknown_reasoning_format_is_named_by_its_line(genbench: Cli, place: Path) -> None:
    (place / "suite.yaml").write_text("reasoning: exaon\n" + SUITE)
    refused(genbench("run", "suite.yaml"), "suite.yaml:1: unknown reasoning format", "did you mean 'exaone'")


@pytest.mark.slow
def test_a_prompt_that_does_not_fit_stops_before_any_engine(genbench: Cli, place: Path) -> None:
    rows = [*ROWS, {"id": "long", "problem": "7 + " * 20000, "answer": "1"}]
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    refused(genbench("run", "suite.yaml", "--run-dir", "out"), "task mine, problem long", "max_model_len")
    assert not list(place.glob("out/*/engine.log"))


def test_two_models_need_to_be_told_apart_in_responses(genbench: Cli, place: Path) -> None:
    two = SUITE.replace("  m: {path: ./model}\n", "  m: {path: ./model}\n  n: {path: ./other}\n")
    (place / "suite.yaml").write_text(two)
    (place / "r.jsonl").write_text(lines())
    refused(
        genbench("run", "suite.yaml", "--responses", "r.jsonl"), "r.jsonl:1", "models m, n", "--model NAME"
    )


@pytest.mark.slow
def test_a_folder_of_other_terms_is_not_continued(genbench: Cli, place: Path) -> None:
    (place / "r.jsonl").write_text(lines())
    assert genbench("run", "suite.yaml", "--responses", "r.jsonl", "--run-dir", "out").code == 0
    before = (place / "out/m/manifest.json").read_bytes()
    (place / "r.jsonl").write_text(lines(text="3"))
    outcome = genbench("run", "suite.yaml", "--responses", "r.jsonl", "--run-dir", "out")
    refused(outcome, "out/m: contains another run", "model_identity: ", "another --run-dir")
    assert (place / "out/m/manifest.json").read_bytes() == before


@pytest.mark.slow
def test_a_damaged_run_is_named_by_file_and_line(genbench: Cli, place: Path) -> None:
    (place / "r.jsonl").write_text(lines())
    genbench("run", "suite.yaml", "--responses", "r.jsonl", "--run-dir", "out")
    path = place / "out/m/mine/completions.jsonl"
    text = path.read_text().splitlines()
    path.write_text("\n".join([text[0], text[1][:20], *text[2:]]) + "\n")
    refused(genbench("score", "out/m"), "completions.jsonl:2: not valid JSON", "restore or delete the line")


@pytest.mark.slow
def test_help_of_every_command_shows_an_example(genbench: Cli) -> None:
    commands = ["run", "score", "show", "check", "doctor", "init", "tasks"]
    for command in commands:
        outcome = genbench(command, "--help")
        assert outcome.code == 0
        assert "Example" in outcome.out
