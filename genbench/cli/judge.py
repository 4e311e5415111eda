"""Commands about judges."""

from __future__ import annotations

from typing import Annotated

import typer

from genbench.cli.app import app
from genbench.cli.options import JsonOption
from genbench.cli.output import print_record, verbs

judge_app = typer.Typer(help="Look at judges.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(judge_app, name="judge")


@judge_app.callback()
def judge() -> None:
    """Look at judges."""


@judge_app.command("check", epilog="Example: genbench judge check simpleqa --suite nightly.yaml --pin")
def judge_check(
    judge: Annotated[str, typer.Argument(help="a judge file, or the name of a shipped judge")],
    suite: Annotated[
        str | None, typer.Option(help="a suite whose 'judge:' gives the model or the server")
    ] = None,
    pin: Annotated[bool, typer.Option("--pin", help="keep its answers; later runs report drift")] = False,
    as_json: JsonOption = False,
) -> None:
    """Agreement with the calibration labels, order consistency, injection resistance, stability."""
    print_record(verbs("runs.judgecheck").check_judge(judge, suite, pin=pin), "judge_text", as_json)
