"""The top command: panels, examples, version, and what happens to a mistyped command."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import typer

import genbench as package
from genbench.cli import was_interrupted
from genbench.cli.app import PANELS, app, examples
from tests.table import each_row

from .conftest import Outcome, all_commands, command

Cli = Callable[..., Outcome]


COMMANDS = all_commands()


def test_help_has_one_section_per_panel_in_reading_order(genbench: Cli) -> None:
    out = genbench("--help").out
    assert [line[:-1] for line in out.splitlines() if line[:-1] in PANELS] == list(PANELS)


def test_no_command_is_missing_from_the_help(genbench: Cli) -> None:
    out = genbench("--help").out
    for name in COMMANDS:
        assert re.search(rf"^  {name.split()[0]} ", out, re.MULTILINE), name


def test_no_short_help_is_cut(genbench: Cli) -> None:
    sections = genbench("--help").out.partition(f"\n{next(iter(PANELS))}:\n")[2]
    assert sections and "..." not in sections


def test_every_command_is_in_one_panel() -> None:
    root: Any = typer.main.get_command(app)
    assert sorted(root.list_commands(None)) == sorted(name for names in PANELS.values() for name in names)


@pytest.mark.slow
def test_python_m_genbench_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "genbench", "--version"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"genbench {package.__version__}\n")


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_each_command_shows_an_example_of_it(genbench: Cli, name: str) -> None:
    outcome = genbench(*name.split(), "--help")
    assert outcome.code == 0
    shown = outcome.out.partition("Examples:\n")[2].splitlines()
    assert shown
    for line in shown:
        assert line.startswith("    ") and f"genbench {name}" in line


@each_row("name", COMMANDS)
def test_every_example_uses_options_that_the_command_has(name: str) -> None:
    known = {option for item in COMMANDS[name].params for option in item.opts}
    for line in COMMANDS[name].epilog.splitlines()[2:]:
        words = shlex.split(re.split("[<>]", line)[0])
        used = {word for word in words if word.startswith("-")}
        assert used <= known, line


@each_row("name", COMMANDS)
def test_every_parameter_has_a_help_text_that_is_a_sentence(name: str) -> None:
    for item in COMMANDS[name].params:
        assert item.help and item.help[-1] in ".…", (name, item.name)


@each_row("name", COMMANDS)
def test_every_command_describes_itself_in_sentences(name: str) -> None:
    text = COMMANDS[name].help
    assert text[0].isupper() and text.rstrip().endswith(".")
    assert "Args:" not in text


def test_examples_are_never_wrapped() -> None:
    assert examples("one", "two") == "\b\nExamples:\n  one\n  two"


def test_the_version_is_printed(genbench: Cli) -> None:
    assert genbench("--version").out == f"genbench {package.__version__}\n"


@pytest.mark.slow
def test_no_arguments_print_the_help() -> None:
    done = subprocess.run(command(), capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Usage: " in done.stderr and "Start here:" in done.stderr


def test_a_mistyped_command_is_named_with_the_nearest_one(genbench: Cli) -> None:
    outcome = genbench("comapre", "a", "b")
    assert outcome.code == 2
    assert "No such command 'comapre'. Did you mean 'compare'" in outcome.err


def test_ctrl_c_is_told_from_other_ends_of_a_command() -> None:
    other = typer.Typer()

    @other.command()
    def work(stop: bool = False) -> None:
        raise KeyboardInterrupt if stop else typer.Exit(130)

    with pytest.raises(SystemExit) as interrupted:
        other(["--stop"])
    with pytest.raises(SystemExit) as ended:
        other([])
    assert interrupted.value.code == ended.value.code == 130
    assert was_interrupted(interrupted.value) and not was_interrupted(ended.value)
