"""Commands about judges: LLMs that grade what no rule can verify."""

from __future__ import annotations

from typing import Annotated

import typer

from genbench.cli.app import GRADERS, app, examples
from genbench.cli.options import JsonOption
from genbench.cli.output import print_record

judge_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(judge_app, name="judge", rich_help_panel=GRADERS)


@judge_app.callback()
def judge() -> None:
    """Check how far an LLM judge can be trusted."""


@judge_app.command(
    "check",
    epilog=examples(
        "genbench judge check simpleqa --suite nightly.yaml",
        "genbench judge check my_judge.yaml --suite nightly.yaml --pin",
    ),
)
def judge_check(
    judge: Annotated[str, typer.Argument(help="A judge file, or the name of a shipped judge.")],
    suite: Annotated[
        str | None, typer.Option(help="A suite whose 'judge:' names the model or the server.")
    ] = None,
    pin: Annotated[
        bool, typer.Option("--pin", help="Keep the replies, so that later runs can report drift.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure a judge on its calibration set.

    The measures are agreement with the labels, consistency under swapped order, resistance to injected
    instructions, and stability between two passes.
    """
    from genbench.reports.terminal.judge_check import judge_text
    from genbench.runs.judge_check import check_judge

    print_record(
        check_judge(judge, suite, pin=pin),
        judge_text,
        as_json,
    )
