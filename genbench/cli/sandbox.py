"""The command that runs programs of others in the sandbox."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, cast

import typer

from genbench.cli.app import app, examples

if TYPE_CHECKING:
    from genbench.sandbox.programs import Mode
    from genbench.sandbox.selftest import TierWish


@app.command(
    epilog=examples("genbench sandbox --mode lcb-compat < programs.jsonl > verdicts.jsonl"),
)
def sandbox(
    mode: Annotated[
        str, typer.Option(help="real: as a process of its own. lcb-compat: as LiveCodeBench's evaluator.")
    ] = "real",
    tier: Annotated[
        str | None, typer.Option(help="a (bubblewrap) or b (landlock). Default: the best one available.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Sandboxes at a time. Default: the number of cores.")
    ] = None,
    unsafe_local_exec: Annotated[
        bool,
        typer.Option("--unsafe-local-exec", help="Run without isolation. Only on a disposable machine."),
    ] = False,
) -> None:
    """Run programs from stdin against their tests.

    Reads one JSON object {kind, fn_name, tests, limits, program} per line and writes one verdict per line.
    """
    from genbench.sandbox.service import grade_stream

    for name, value, valid in (("--mode", mode, ("real", "lcb-compat")), ("--tier", tier, ("a", "b", None))):
        if value not in valid:
            raise typer.BadParameter(
                f"{value!r} is none of {', '.join(filter(None, valid))}", param_hint=name
            )
    grade_stream(
        sys.stdin.buffer,
        sys.stdout.buffer,
        mode=cast("Mode", mode),
        tier=cast("TierWish", tier),
        workers=workers,
        unsafe_local_exec=unsafe_local_exec,
    )
