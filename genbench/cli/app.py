"""The command that the verbs hang on."""

from __future__ import annotations

from typing import Any

import typer
import typer.core

_LISTED = (
    ("run", "score", "show", "report", "compare", "prompts", "check", "doctor", "init", "tasks"),
    ("status", "merge", "estimate", "power", "noise", "rank"),
    ("export", "import", "judge", "sandbox", "schema"),
)
"""--help lists the verbs as they are met: those of the first day, then the others."""


class _Verbs(typer.core.TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:
        """The verbs in reading order; one that is not named above comes last."""
        known = [name for line in _LISTED for name in line]
        return sorted(super().list_commands(ctx), key=lambda name: (*known, name).index(name))


app = typer.Typer(
    name="genbench",
    cls=_Verbs,
    help="Is this checkpoint better than the last one, by how much, why, and can that be trusted?",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
