"""Pairs against the answers of a stored run, and several runs ranked by them."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema.validators import Draft202012Validator  # type: ignore[import-untyped]

from genbench import pipeline
from genbench.analysis.rank import rank
from genbench.errors import ConfigError, NotComparableError
from genbench.reports.terminal.run import run_table
from genbench.reports.write import report_text
from tests import warm

from .conftest import COMMIT, Case, Server

Text = Callable[[int], str]


def draw(judged: Case, name: str, text: Text, *overrides: str, n: int = 12) -> pipeline.RunReport:
    """A run of model `name` in runs/, its answers given."""
    lines = [{"task": "free", "problem_id": f"q{i}", "sample_index": 0, "text": text(i)} for i in range(n)]
    (judged.path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    options = pipeline.RunOptions(
        suite=str(judged.path / "suite.yaml"),
        models=(f"{name}={name}",),
        run_dir=judged.path / "runs",
        responses=judged.path / f"{name}.jsonl",
        overrides=overrides,
        quiet=True,
    )
    return pipeline.run(options)


def better(words: dict[str, float]) -> Callable[[str], str]:
    """A judge that prefers the reply with the word of more worth, whichever comes first."""

    def grade(prompt: str) -> str:
        first, second = (
            max(worth for word, worth in words.items() if word in text)
            for text in re.findall(r"<<<(?:first|second)-\w+\n(.*?)\n(?:first|second)-\w+>>>", prompt, re.S)
        )
        return "TIE" if first == second else "A" if first > second else "B"

    return grade


def against(judged: Case, name: str) -> str:
    """The override that makes the run of `name` the opponent."""
    return f"tasks.free.verifier={{judge: pairwise, baseline: runs/{name}}}"


def numbered(word: str) -> Text:
    return lambda i: f"<think>plan {i}, keep this to yourself</think>\n\n{word} says {i}"


@pytest.fixture
def arena(judged: Case, server: Server) -> Case:
    """A suite of pairs with one run, `old`, held against the reference column."""
    judged.write(n=12, k=1, judge="pairwise", reference=lambda i: f"column says {i}")
    server.grade = better({"old": 1.0, "new": 2.0, "column": 0.0, "mid": 1.5, "": -1.0})
    draw(judged, "old", numbered("old"))
    return judged


@pytest.mark.slow
def test_the_opponent_is_the_stored_answer_without_its_trace(arena: Case, server: Server) -> None:
    server.requests.clear()
    report = draw(arena, "new", numbered("new"), against(arena, "old"))
    task = report.results["new"].to_json()["tasks"]["free"]
    assert task["value"] == 1.0 and task["judge"]["pairwise"]["wins"] == 12
    assert len(server.requests) == 24
    for request in server.requests:
        text = request["messages"][0]["content"]
        number = re.search(r"What is (\d+)\?", text)
        assert number is not None
        assert f"old says {number[1]}\n" in text and f"new says {number[1]}\n" in text
        assert "keep this to yourself" not in text and "column" not in text
    stored = json.loads((arena.path / "runs" / "old" / "manifest.json").read_text())
    assert task["judge"]["baseline"]["name"] == "old"
    assert task["judge"]["baseline"]["identity"] == stored["model_identity"]
    assert task["judge"]["pairwise"]["mean_chars"]["baseline"] == pytest.approx(np.mean([10] * 10 + [11] * 2))


@pytest.mark.slow
def test_every_report_tells_win_rate_lengths_and_order(arena: Case, server: Server) -> None:
    report = draw(arena, "new", numbered("new"), against(arena, "old"))
    texts = [
        run_table(report.results, report.folders),
        report_text([arena.path / "runs" / "new"], "md").replace("&#", " "),
        (arena.path / "runs" / "new" / "report.html").read_text(),
    ]
    for text in texts:
        assert "win rate 100.0" in text and "against run old: 12 wins, 0 ties, 0 losses" in text
        assert "10 characters against 10" in text and "0 of 12 verdicts flipped" in text
        assert "win rate at equal lengths missing" in text and "declared revision" in text


@pytest.mark.slow
def test_an_opponent_that_never_answered_loses_without_being_judged(arena: Case, server: Server) -> None:
    def silent(i: int) -> str:
        return "<think>on and on" if i < 5 else f"mid says {i}"

    draw(arena, "mute", silent)
    server.requests.clear()
    report = draw(arena, "new", lambda i: "" if i in (0, 11) else f"old says {i}", against(arena, "mute"))
    task = report.results["new"].to_json()["tasks"]["free"]
    pairs = task["judge"]["pairwise"]
    assert len(server.requests) == 2 * 6
    assert (pairs["wins"], pairs["losses"], pairs["unanswered"], pairs["compared"]) == (4, 8, 6, 6)
    assert pairs["win_rate"] == task["value"] == pytest.approx(4 / 12)


@pytest.mark.slow
def test_other_answers_of_the_baseline_make_the_verdicts_again(arena: Case, server: Server) -> None:
    draw(arena, "new", numbered("new"), against(arena, "old"))
    asked = len(server.requests)
    draw(arena, "new", numbered("new"), against(arena, "old"))
    assert len(server.requests) == asked
    path = arena.path / "runs" / "old" / "free" / "completions.jsonl"
    path.write_text(path.read_text().replace("old says 3", "old swears 3"))
    report = draw(arena, "new", numbered("new"), against(arena, "old"))
    assert len(server.requests) == asked + 2
    assert report.results["new"].to_json()["tasks"]["free"]["status_counts"] == {"correct": 12}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (["tasks.free.verifier={judge: pairwise, baseline: nowhere}"], "not a run folder"),
        (["tasks.free.verifier={judge: free_form, baseline: runs/old}"], "goes with a judge of form"),
        (["tasks.free.prompt='{question} Now!'"], r"its 'free' is another task .*give a run of this"),
        (["tasks.free.data.path=other.jsonl"], r"its 'free' is another task .*free\.data"),
    ],
)
def test_a_run_that_cannot_be_the_opponent_is_refused(
    arena: Case, server: Server, change: list[str], words: str
) -> None:
    rows = (arena.path / "rows.jsonl").read_text()
    (arena.path / "other.jsonl").write_text(rows.replace("column says 1", "column sang 1"))
    verifier = [] if "baseline" in change[0] else [against(arena, "old")]
    with pytest.raises(ConfigError, match=words):
        draw(arena, "new", numbered("new"), *verifier, *change)


def test_pairs_without_any_opponent_say_how_to_give_one(judged: Case, server: Server) -> None:
    judged.write(n=2, k=1, judge="pairwise", reference=lambda i: None)
    with pytest.raises(ConfigError, match=r"set verifier: \{baseline: RUN_DIR/<model>\}"):
        judged.run()


@pytest.mark.slow
def test_runs_are_ranked_by_their_pairs(arena: Case, server: Server) -> None:
    """Three of four wins against `old` are log 3 over it; `mid` wins two of six."""
    worth = {"new": (2.0, 2.0, 2.0, 0.5), "mid": (0.5, 0.5, 0.5, 2.0, 0.5, 2.0)}

    def grade(prompt: str) -> str:
        number = re.search(r"What is (\d+)\?", prompt)
        # The judge's canary asks no such question, and a server that fails is asked again for ten seconds.
        place = 0 if number is None else int(number[1])
        words = {"old": 1.0, "": -1.0} | {name: values[place % len(values)] for name, values in worth.items()}
        return better(words)(prompt)

    server.grade = grade
    for name in worth:
        draw(arena, name, numbered(name), against(arena, "old"))
    found = rank([arena.path / "runs" / name for name in worth]).tasks["free"]
    assert found.reference == "old" and found.pairs == 24 and found.missing is None
    models = {model.name: model for model in found.models}
    assert [model.name for model in found.models] == ["new", "old", "mid"]
    assert models["new"].strength == pytest.approx(np.log(3))
    assert models["mid"].strength == pytest.approx(-np.log(2))
    assert models["new"].beats_reference == pytest.approx(3 / 4)
    # One pair a problem: the sandwich is p(1 - p) n / (p(1 - p) n)^2 = 1 / (n p (1 - p)).
    assert models["new"].se == pytest.approx((12 * 3 / 16) ** -0.5)
    assert (models["old"].wins, models["old"].losses) == (3 + 8, 9 + 4)


def _command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return warm.run(arguments, cwd=folder, text=True)


@pytest.mark.slow
def test_the_rank_command_prints_a_table_and_says_what_has_no_strength(arena: Case, server: Server) -> None:
    draw(arena, "new", numbered("new"), against(arena, "old"))
    done = _command(arena.path, "rank", "runs/new", "runs/old")
    assert done.returncode == 0, done.stderr
    assert "free: 24 pairs over 12 problems, judge pairwise" in done.stdout
    assert "(new, reference of free: leave it out, or judge more problems)" in done.stdout
    record: dict[str, Any] = json.loads(_command(arena.path, "rank", "runs/new", "--json").stdout)
    assert record["tasks"]["free"]["models"][0]["wins"] == 12
    schema = json.loads((Path(__file__).parents[2] / "docs" / "json.schema.json").read_text())
    Draft202012Validator({**schema, "$ref": "#/$defs/rank"}).validate(record)
    bad = _command(arena.path, "rank", "runs/new", "--task", "fre")
    assert bad.returncode == 2 and "did you mean 'free'" in bad.stderr


@pytest.mark.slow
def test_runs_of_other_judges_are_neither_ranked_nor_compared(arena: Case, server: Server) -> None:
    draw(arena, "new", numbered("new"), f"judge.server.revision={COMMIT[::-1]}")
    runs = [arena.path / "runs" / name for name in ("old", "new")]
    with pytest.raises(NotComparableError, match=r"verifier\.free: \w{16} -> \w{16} .*\n.*--allow verifier"):
        rank(runs)
    assert rank(runs, allow=["verifier"]).allowed
    refused = _command(arena.path, "compare", "runs/old", "runs/new")
    assert refused.returncode == 3
    assert "verifier.free.judge.digest" in refused.stderr and "--allow verifier" in refused.stderr
    allowed = _command(arena.path, "compare", "runs/old", "runs/new", "--allow", "verifier", "--details")
    assert allowed.returncode == 0, allowed.stderr
    allowed_json = _command(arena.path, "compare", "runs/old", "runs/new", "--allow", "verifier", "--json")
    record = json.loads(allowed_json.stdout)
    schema = json.loads((Path(__file__).parents[2] / "docs" / "json.schema.json").read_text())
    Draft202012Validator({**schema, "$ref": "#/$defs/compare"}).validate(record)
    assert record["tasks"]["free"]["judge"]["tuned"]["pairwise"]["win_rate"] == 1.0
    assert "mean characters: 10 -> 10; flipped by order: 0.0% -> 0.0%" in allowed.stdout


@pytest.mark.slow
def test_a_judge_that_answers_its_canary_otherwise_is_not_compared_in_silence(
    arena: Case, server: Server
) -> None:
    server.grade = better({"old": 1.0, "new": 2.0, "column": 0.0, "42": 1.0, "": -1.0})
    draw(arena, "new", numbered("new"))
    refused = _command(arena.path, "compare", "runs/old", "runs/new")
    assert refused.returncode == 3
    assert "verifier.free.judge.canary.pairwise-1" in refused.stderr
