"""The `genbench` command and the panels of its help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
import typer.core
import typer.main

import genbench
from genbench.registry import COMMANDS

PANELS: Mapping[str, Sequence[str]] = {
    "Start here": ("init", "check", "run", "show", "compare", "report"),
    "Before a run": ("tasks", "doctor", "power", "prompts", "subset", "mirror", "images"),
    "Other measures": ("perplexity", "drift", "parity", "noise", "contamination"),
    "Judges and people": ("judge", "rank", "label", "arena", "review"),
    "Stored runs": ("status", "score", "audit", "merge", "metrics", "budgets", "quality"),
    "Training and nights": ("watch", "checkpoints", "schedule", "gate", "trend", "ledger", "prune"),
    "Teams and clusters": ("serve", "queue", "launch"),
    "Other tools": ("import", "export", "plugins", "sandbox"),
}
"""The commands of `genbench --help` in reading order, by purpose. A group is one entry."""


def examples(*commands: str) -> str:
    """Return the epilog of a command: its examples, one per line, never wrapped."""
    # \b on a line of its own tells click to keep the line breaks of a paragraph.
    return "\n".join(["\b", "Examples:", *(f"  {command}" for command in commands)])


class PanelGroup(typer.core.TyperGroup):
    """The group of all commands. Its help lists them by panel, in the order of PANELS.

    The commands of annexes (`registry.COMMANDS`) are imported when they are asked for.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._made = len(app.registered_commands), len(app.registered_groups)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, or None. All are there for the suggestions if there is none of that name."""
        if cmd_name not in self.commands:
            self._import([COMMANDS[cmd_name]] if cmd_name in COMMANDS else list(COMMANDS.values()))
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands, panel by panel."""
        self._import(list(COMMANDS.values()))
        return [name for names in PANELS.values() for name in names if name in self.commands]

    def _import(self, modules: Sequence[str]) -> None:
        """Import modules, and make what they have registered since commands of this group."""
        for module in modules:
            import_module(module)
        late = typer.Typer(rich_markup_mode=None)
        late.registered_commands = app.registered_commands[self._made[0] :]
        late.registered_groups = app.registered_groups[self._made[1] :]
        self._made = len(app.registered_commands), len(app.registered_groups)
        if late.registered_commands or late.registered_groups:
            self.commands.update(typer.main.get_group(late).commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one section per panel."""
        listed = self.list_commands(ctx)
        width = max(map(len, listed))
        for panel, names in PANELS.items():
            with formatter.section(panel):
                formatter.write_dl(
                    [
                        (name.ljust(width), self._short_help(name, formatter.width - width - 6))
                        for name in names
                        if name in listed
                    ]
                )

    def _short_help(self, name: str, width: int) -> str:
        return self.commands[name].get_short_help_str(width)


app = typer.Typer(
    name="genbench",
    cls=PanelGroup,
    no_args_is_help=True,
    rich_markup_mode=None,  # rich costs 0.1 s at every start
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "genbench run quickstart",
        "genbench compare runs/quickstart-1a2b3c4d/base runs/quickstart-1a2b3c4d/tuned",
        "genbench COMMAND --help",
    ),
)


def command_group(name: str, parent: typer.Typer = app) -> typer.Typer:
    """Return a new group of commands, below `genbench` or below another group."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    parent.add_typer(group, name=name)
    return group


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"genbench {genbench.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Measure whether a checkpoint is better than the last one, by how much, and why."""
