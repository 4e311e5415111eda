"""Options that several commands share have one meaning in all of them."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from genbench.cli import options
from tests.table import each_row

from .conftest import all_commands

SHARED = [name for name in dir(options) if name.endswith(("Option", "Argument"))]


def parameters() -> dict[str, list[tuple[str, Any]]]:
    """Every option by its first name, with the commands that have it."""
    found: dict[str, list[tuple[str, Any]]] = {}
    for name, command in all_commands().items():
        for item in command.params:
            found.setdefault(item.opts[0], []).append((name, item))
    return found


@each_row("name", SHARED)
def test_every_shared_parameter_has_a_help_text(name: str) -> None:
    info = get_args(getattr(options, name))[1]
    assert info.help.endswith(".")


@pytest.mark.parametrize("name", ["--data-dir", "--set", "--json", "--limit", "--with-test", "--allow"])
def test_an_option_of_one_name_is_the_same_in_every_command(name: str) -> None:
    users = [(command, item) for command, item in parameters()[name]]
    assert len(users) > 1
    assert len({(item.help, item.is_flag, item.multiple) for _, item in users}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["--model", "--task", "--set", "--allow", "--reuse", "--margin", "--gating"])
def test_an_option_that_lists_names_can_be_given_again(name: str) -> None:
    commands = [(command, item) for command, item in parameters()[name] if command != "import log"]
    assert commands
    assert all(item.multiple for _, item in commands)
