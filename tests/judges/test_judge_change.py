"""What another judge makes of the same texts: `genbench score --suite`, then `genbench judge compare`."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from genbench import pipeline
from genbench.analysis.comparison.compare import compare
from genbench.analysis.comparison.judge_change import judge_changes
from genbench.errors import InputError, NotComparableError
from genbench.reports.terminal.compare import judge_changes_text
from tests import warm

from .conftest import Case, Server


def rescored(judged: Case) -> Path:
    """Score the run again under a judge with another prompt. Return the new folder."""
    prompt = "other: {question} {reference} {answer} {labels}\n"
    (judged.path / "other.txt").write_text(prompt)
    digest = hashlib.sha256(prompt.encode()).hexdigest()
    (judged.path / "other.yaml").write_text(
        f"name: other\nprompt: other.txt\nprompt_digest: sha256:{digest}\nform: label\n"
        "labels: {EQUAL: 1, DIFFERENT: 0}\n"
    )
    suite = (judged.path / "suite.yaml").read_text().replace("judge: free_form", "judge: other.yaml")
    (judged.path / "other_suite.yaml").write_text(suite)
    folder = judged.path / "other"
    pipeline.score(
        judged.path / "runs" / "m", quiet=True, suite=judged.path / "other_suite.yaml", into=folder
    )
    return folder / "m"


def _grade(prompt: str) -> str:
    """The first judge likes numbers below 6, the other one even numbers and those above 6."""
    found = re.search(r"What is (\d+)\?", prompt)
    number = int(found[1]) if found else 0
    likes = number % 2 == 0 or number > 6 if prompt.startswith("other: ") else number < 6
    return "EQUAL" if likes else "DIFFERENT"


@pytest.fixture
def two(judged: Case, server: Server) -> tuple[Path, Path]:
    """A run of 10 problems with two samples each, and the same texts under another judge."""
    server.grade = _grade
    judged.write()
    judged.run()
    return judged.path / "runs" / "m", rescored(judged)


def test_both_scores_and_the_agreement_are_given_task_by_task(two: tuple[Path, Path]) -> None:
    record = judge_changes(*two)
    task = record.tasks["free"]
    assert (task.first.name, task.second.name, task.n, task.samples) == ("free_form", "other", 10, 20)
    assert task.score_first == pytest.approx(0.6) and task.score_second == pytest.approx(0.7)
    assert task.difference == pytest.approx(0.1) and task.ci is not None and task.ci[0] < 0 < task.ci[1]
    assert (task.higher, task.lower) == (8, 6) and task.agreement == pytest.approx(0.3)
    chance = 0.6 * 0.7 + 0.4 * 0.3
    assert task.kappa == pytest.approx((0.3 - chance) / (1 - chance))
    text = judge_changes_text(record)
    assert "says nothing about models" in text and "8 texts higher, 6 lower" in text
    assert record.same == ()


def test_compare_refuses_two_judges_and_names_the_option(two: tuple[Path, Path]) -> None:
    with pytest.raises(NotComparableError, match=r"(?s)judge.digest.*\n.*genbench judge compare"):
        compare(*two)


def test_other_texts_are_no_change_of_judges(two: tuple[Path, Path]) -> None:
    path = two[1] / "free" / "completions.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[0]["text"] += " Indeed."
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(NotComparableError, match="task free: the runs have other texts"):
        judge_changes(*two)
    with pytest.raises(InputError, match="no task 'fre'"):
        judge_changes(*two, tasks=["fre"])


@pytest.mark.slow
def test_the_same_judge_twice_is_called_its_own_noise(two: tuple[Path, Path]) -> None:
    record = judge_changes(two[0], two[0])
    assert record.same == ("free",) and record.tasks["free"].kappa == 1.0
    assert "its own noise" in judge_changes_text(record)


@pytest.mark.slow
def test_the_command_prints_it(two: tuple[Path, Path]) -> None:
    done = warm.run(("judge", "compare", str(two[0]), str(two[1])), text=True)
    assert done.returncode == 0, done.stderr
    assert "free: 20 texts of 10 problems" in done.stdout
