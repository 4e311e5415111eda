"""`genbench judge` as a command; the judges themselves are tested in tests/judges."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from genbench.cli import prepare

from .conftest import Outcome

Cli = Callable[..., Outcome]


def test_judge_without_a_command_prints_its_commands(genbench: Cli) -> None:
    outcome = genbench("judge")
    assert "check" in outcome.out + outcome.err
    assert [command.name for command in prepare.judge_app.registered_commands] == ["check", "compare"]


def test_a_judge_without_a_model_says_where_to_name_one(genbench: Cli) -> None:
    outcome = genbench("judge", "check", "simpleqa")
    assert outcome.code == 2
    assert "model" in outcome.err and "Traceback" not in outcome.err


def test_an_unknown_judge_is_named_with_the_nearest(genbench: Cli) -> None:
    outcome = genbench("judge", "check", "simplqa")
    assert outcome.code == 2
    assert "simpleqa" in outcome.err


def test_a_suite_that_is_not_there_is_refused(genbench: Cli, tmp_path: Path) -> None:
    outcome = genbench("judge", "check", "simpleqa", "--suite", tmp_path / "no.yaml")
    assert outcome.code == 2
    assert "no.yaml" in outcome.err
