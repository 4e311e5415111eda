"""The top command: panels, examples, version, and what happens to a mistyped command."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import typer

import genbench as package
from genbench.cli import was_interrupted
from genbench.cli.app import GRADERS, PANELS, RUN, PanelGroup, app, examples

from .conftest import Outcome, command

Cli = Callable[..., Outcome]


def commands() -> Iterator[tuple[str, Any]]:
    """Yield every command with its full name, `judge check` included."""
    root: Any = typer.main.get_command(app)
    for name, found in root.commands.items():
        inner = getattr(found, "commands", None)
        if inner is None:
            yield name, found
        else:
            yield from ((f"{name} {below}", one) for below, one in inner.items())


COMMANDS = dict(commands())


def test_help_has_one_section_per_panel_in_reading_order(genbench: Cli) -> None:
    out = genbench("--help").out
    assert [line[:-1] for line in out.splitlines() if line[:-1] in PANELS] == list(PANELS)


def test_no_command_is_missing_from_the_help(genbench: Cli) -> None:
    out = genbench("--help").out
    for name in COMMANDS:
        assert re.search(rf"^  {name.split()[0]} ", out, re.MULTILINE), name


def test_no_short_help_is_cut(genbench: Cli) -> None:
    sections = genbench("--help").out.partition(f"\n{PANELS[0]}:\n")[2]
    assert sections and "..." not in sections


def test_every_command_names_its_panel() -> None:
    root: Any = typer.main.get_command(app)
    for name, found in root.commands.items():
        assert found.rich_help_panel in PANELS, name


def test_a_command_without_a_panel_is_listed_under_run() -> None:
    other = typer.Typer(cls=PanelGroup, rich_markup_mode=None)
    other.command("b", rich_help_panel=GRADERS)(lambda: None)
    other.command("a")(lambda: None)
    group: Any = typer.main.get_command(other)
    assert group.list_commands(None) == ["a", "b"]
    assert group.panel(None, "a") == RUN


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_each_command_shows_an_example_of_it(genbench: Cli, name: str) -> None:
    outcome = genbench(*name.split(), "--help")
    assert outcome.code == 0
    shown = outcome.out.partition("Examples:\n")[2].splitlines()
    assert shown
    for line in shown:
        assert line.startswith("    ") and f"genbench {name}" in line


@pytest.mark.parametrize("name", COMMANDS)
def test_every_example_uses_options_that_the_command_has(name: str) -> None:
    known = {option for item in COMMANDS[name].params for option in item.opts}
    for line in COMMANDS[name].epilog.splitlines()[2:]:
        words = shlex.split(re.split("[<>]", line)[0])
        used = {word for word in words if word.startswith("-")}
        assert used <= known, line


@pytest.mark.parametrize("name", COMMANDS)
def test_every_parameter_has_a_help_text_that_is_a_sentence(name: str) -> None:
    for item in COMMANDS[name].params:
        assert item.help and item.help[-1] in ".…", (name, item.name)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_describes_itself_in_sentences(name: str) -> None:
    text = COMMANDS[name].help
    assert text[0].isupper() and text.rstrip().endswith(".")
    assert "Args:" not in text


def test_examples_are_never_wrapped() -> None:
    assert examples("one", "two") == "\b\nExamples:\n  one\n  two"


def test_the_version_is_printed(genbench: Cli) -> None:
    assert genbench("--version").out == f"genbench {package.__version__}\n"


def test_no_arguments_print_the_help() -> None:
    done = subprocess.run(command(), capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Usage: " in done.stderr and "Decide:" in done.stderr


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
