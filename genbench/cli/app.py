"""The `genbench` command and the panels of its help."""

from __future__ import annotations

from typing import Annotated, Any

import typer
import typer.core

import genbench

RUN = "Run"
LOOK = "Look"
DECIDE = "Decide"
SERVICE = "Service"
EXCHANGE = "Exchange"
GRADERS = "Graders"
SETUP = "Set up"
PANELS = (SETUP, RUN, LOOK, DECIDE, SERVICE, EXCHANGE, GRADERS)
"""Panels of `genbench --help`, in reading order."""


def examples(*commands: str) -> str:
    """Return the epilog of a command: its examples, one per line, never wrapped."""
    # \b on a line of its own tells click to keep the line breaks of a paragraph.
    return "\n".join(["\b", "Examples:", *(f"  {command}" for command in commands)])


class PanelGroup(typer.core.TyperGroup):
    """A group whose help lists its commands by panel, in the order of their registration."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands, panel by panel."""
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: PANELS.index(self.panel(ctx, name)))

    def panel(self, ctx: Any, name: str) -> str:
        """Return the panel of a command. A command that names none is listed under "Run"."""
        found = getattr(self.get_command(ctx, name), "rich_help_panel", None)
        return found if found in PANELS else RUN

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one section per panel."""
        names = [name for name in self.list_commands(ctx) if not self._command(ctx, name).hidden]
        width = max(map(len, names))
        for panel in PANELS:
            rows = [
                (name.ljust(width), self._command(ctx, name).get_short_help_str(formatter.width - width - 6))
                for name in names
                if self.panel(ctx, name) == panel
            ]
            if rows:
                with formatter.section(panel):
                    formatter.write_dl(rows)

    def _command(self, ctx: Any, name: str) -> Any:
        return self.get_command(ctx, name)


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
